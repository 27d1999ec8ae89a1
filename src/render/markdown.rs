//! Markdown for a pull request comment or job summary, in which text from the reviewed files is never interpreted as Markdown.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::find::conversion::text::as_yaml;
use crate::input::shorten;
use crate::judge::finding::{Class, Finding, Severity, Status};
use crate::judge::overview::{Group, Overview, Section, plural};
use crate::judge::report::Report;

use super::escape::{code_parts, visible};
use super::how_to_pass::acceptance;
use super::proof::Proof;
use super::report_view::View;
use super::server_lines;
use super::short::sentence;

/// The first line, by which a later run finds its comment. Text from files can't contain it.
pub const MARKER: &str = "<!-- crdwise -->";

/// GitHub allows 65,536 characters; this leaves room for what a workflow adds.
const LONGEST: usize = 60_000;
/// Space reserved for the text after the findings.
const FOOT: usize = 8_000;
/// How many lines of a proof's object are shown.
const PROOF_LINES: usize = 24;
/// Limits each text, so that one finding can't use up all the space.
const LONGEST_TEXT: usize = 300;

/// How many items a comment lists; the review page has the rest.
const ITEMS: usize = 15;
/// How many CRDs the table lists.
const ROWS: usize = 40;

pub fn render(view: &View<'_>) -> String {
    let mut out = format!("{MARKER}\n");
    head(&mut out, view);
    let overview = view.report.overview(view.all);
    let mut shown = 0;
    for (index, group) in overview.groups.iter().take(ITEMS).enumerate() {
        if index == 0 || overview.groups.get(index - 1).is_some_and(|before| title(before) != title(group)) {
            let _ = writeln!(out, "\n### {}\n", title(group));
        }
        let item = item(group, view);
        if out.len() + item.len() + FOOT > LONGEST {
            break;
        }
        out.push_str(&item);
        shown += 1;
    }
    let left = overview.groups.len() - shown;
    if left > 0 {
        let breaking = overview.groups.iter().skip(shown).filter(|group| group.is_breaking()).count();
        let which = if breaking > 0 { format!(", {breaking} of them breaking") } else { String::new() };
        let _ = writeln!(out, "\n*{}{which}: see the review page for all of them.*", plural(left, "more item"));
    }
    if !overview.shared.is_empty() {
        out.push_str("\n**Because of these changes:**\n\n");
        for group in &overview.shared {
            let _ = writeln!(out, "- {} ({})", inline(&cut(&sentence(group))), rule(group, view));
        }
    }
    table(&mut out, &overview);
    accept(&mut out, view);
    foot(&mut out, view);
    out
}

fn title(group: &Group<'_>) -> &'static str {
    match group.section {
        Section::Break => "What breaks",
        Section::Problem | Section::Guideline => "What to fix",
        Section::Compatible => "Compatible changes",
        Section::Note | Section::Quiet => "Notes",
    }
}

/// Writes the number of changes in each CRD.
fn table(out: &mut String, overview: &Overview<'_>) {
    let mut crds: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for group in overview.all().filter(|group| group.section != Section::Quiet) {
        let column = match group.class() {
            Some(Class::SemanticBreaking) => 0,
            Some(Class::Additive) => 1,
            _ => 2,
        };
        for crd in group.crds().into_iter().filter(|crd| !crd.is_empty()) {
            if let Some(count) = crds.entry(crd).or_default().get_mut(column) {
                *count += 1;
            }
        }
    }
    if crds.len() < 2 {
        return;
    }
    let mut rows: Vec<(&str, [usize; 3])> = crds.into_iter().collect();
    rows.sort_by_key(|(name, counts)| (Reverse(*counts), *name));
    out.push_str("\n| CRD | breaking | compatible | other |\n|---|--:|--:|--:|\n");
    for (name, [breaking, compatible, other]) in rows.iter().take(ROWS) {
        let _ = writeln!(out, "| {} | {breaking} | {compatible} | {other} |", code(&cut(name)));
    }
    if rows.len() > ROWS {
        let _ = writeln!(out, "| {} more | | | |", rows.len() - ROWS);
    }
}

fn head(out: &mut String, view: &View<'_>) {
    let Report { verdict, bump, .. } = view.report;
    match verdict {
        Some(_) if !view.complete => out.push_str("## API review: incomplete, no verdict\n\n"),
        Some(Class::SemanticBreaking) => out.push_str("## API review: breaking\n\n"),
        Some(Class::Additive) => out.push_str("## API review: compatible\n\n"),
        Some(Class::None) => out.push_str("## API review: no API change\n\n"),
        None => out.push_str("## CRD lint\n\n"),
    }
    let servers = server_lines::summary(view.report);
    let _ = writeln!(out, "**{}** · policy {} · Kubernetes {servers}", view.report.summary.text(), code(&cut(&view.report.policy)));
    if let Some(bump) = bump {
        let _ = writeln!(out, "\nNext version: {}", inline(&bump.to_string()));
    }
    if !view.complete {
        out.push_str("\n**Not every input could be read**; the log of the run has the reasons.\n");
    }
}

fn rule(group: &Group<'_>, view: &View<'_>) -> String {
    let rule = inline(&group.lead.rule);
    view.book.address(&group.lead.rule).map_or(rule.clone(), |address| format!("<a href=\"{address}\">{rule}</a>"))
}

fn item(group: &Group<'_>, view: &View<'_>) -> String {
    let finding = group.lead;
    let reach = group.reach().map(|reach| format!(" {}", inline(&reach))).unwrap_or_default();
    let mut out = format!("- **{}{reach}** ({})", inline(&cut(&group.headline())), rule(group, view));
    if let Some(effect) = group.effect() {
        let _ = write!(out, ": {}", inline(&cut(effect)));
    }
    if finding.status != Status::New {
        let reason = finding.waiver.as_deref().map(|reason| format!(": {}", inline(&cut(reason)))).unwrap_or_default();
        let _ = write!(out, " · *{}*{reason}", finding.status);
    }
    let _ = write!(out, "<br>\n  {}", place(finding, view));
    if group.severity() > Severity::Info && !finding.help.is_empty() {
        let _ = write!(out, "<br>\n  Fix: {}", inline(&cut(&finding.help)));
    }
    out.push('\n');
    if let (Some(witness), Some(proof)) = (&finding.witness, Proof::of(finding)) {
        let _ = write!(out, "  <details><summary>Proof: {}</summary>\n\n", inline(&cut(&proof.text())));
        // Not a fenced block: no line can end `<pre>`, and no text can contain the marker.
        let yaml = as_yaml(&witness.object);
        out.push_str("  <pre lang=\"yaml\">\n");
        for line in yaml.lines().take(PROOF_LINES) {
            let _ = writeln!(out, "  {}", cut(&visible(line)).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
        }
        let left = yaml.lines().count().saturating_sub(PROOF_LINES);
        if left > 0 {
            let _ = writeln!(out, "  # … {}", plural(left, "more line"));
        }
        out.push_str("  </pre>\n\n  </details>\n");
    }
    for consequence in &group.consequences {
        let _ = writeln!(out, "  - {} ({})", inline(&cut(&sentence(consequence))), rule(consequence, view));
    }
    out
}

fn place(finding: &Finding, view: &View<'_>) -> String {
    let mut parts = Vec::new();
    if !finding.crd.is_empty() {
        parts.push(code(&cut(&finding.crd)));
    }
    if let Some(version) = &finding.version {
        parts.push(code(&cut(version)));
    }
    if let Some(anchor) = view.anchors.of(finding).filter(|anchor| anchor.exact) {
        parts.push(code(&format!("{}:{}", cut(anchor.path), anchor.line)));
    } else if let Some(before) = &finding.before {
        parts.push(format!("before: {}", code(&format!("{}:{}", cut(&before.file), before.line))));
    }
    parts.join(" · ")
}

/// Writes how to make a failing run pass. The first line of a block directly follows the tag, so that copied text starts at the margin.
fn accept(out: &mut String, view: &View<'_>) {
    let Some(acceptance) = acceptance(view.report, view.gate).filter(|_| view.complete) else { return };
    out.push_str("\n<details><summary><b>How to pass</b></summary>\n\n");
    let block = |out: &mut String, language: &str, lines: &mut dyn Iterator<Item = &str>| {
        let lines: Vec<String> = lines.map(|line| cut(line).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")).collect();
        let _ = writeln!(out, "<pre lang=\"{language}\">{}</pre>", lines.join("\n"));
    };
    let mut lead = "To pass:";
    for remedy in &acceptance.remedies {
        let _ = write!(out, "**{lead}** {}\n\n", inline(&remedy.text));
        if !remedy.commands.is_empty() {
            block(out, "sh", &mut remedy.commands.iter().map(String::as_str));
            out.push('\n');
        }
        lead = "Or";
    }
    block(out, "yaml", &mut acceptance.waivers.lines());
    if let Some(more) = &acceptance.more {
        let _ = writeln!(out, "\n**More:** {}", inline(more));
    }
    out.push_str("\n</details>\n");
}

fn foot(out: &mut String, view: &View<'_>) {
    let mut lines = Vec::new();
    if let Some(hidden) = view.report.summary.hidden_text().filter(|_| !view.all) {
        lines.push(format!("Not shown: {hidden}."));
    }
    let new = &view.report.new;
    let compared = match &view.report.old {
        Some(old) => format!("{} compared with {}", code(&cut(&new.source)), code(&cut(&old.source))),
        None => format!("{} checked", code(&cut(&new.source))),
    };
    lines.push(format!("{compared}: {}, {}.", plural(new.crds, "CRD"), plural(new.versions, "version")));
    if view.report.findings.iter().any(|finding| finding.status == Status::New) {
        lines.push("A rule's page, also shown by <code>crdwise explain RULE</code>, says why it matters and how to fix it.".to_owned());
    }
    let _ = writeln!(out, "\n<sub>{} {}</sub>", lines.join(" "), view.report.tool);
}

/// Shortens a long value.
fn cut(text: &str) -> Cow<'_, str> {
    shorten(text, LONGEST_TEXT)
}

/// Writes a message with text between backticks as code, all of it escaped.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::new();
    for (part, is_code) in code_parts(&visible(text)) {
        if is_code {
            out.push_str(&code(part));
        } else {
            prose(&mut out, part);
        }
    }
    out
}

/// Writes code without backticks: platforms don't look for mentions or references in it, and entities prevent Markdown.
fn code(text: &str) -> String {
    let mut out = String::from("<code>");
    for c in visible(text).chars() {
        entity(&mut out, c);
    }
    out.push_str("</code>");
    out
}

/// Writes prose. Platforms look for `@name`, `#1`, `:smile:`, commits and URLs in rendered Markdown, so a zero-width character
/// follows each character that could start one.
fn prose(out: &mut String, text: &str) {
    let mut hexadecimal = 0;
    let mut word = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        if c == ':' && next == ' ' {
            out.push(c);
        } else {
            entity(out, c);
        }
        if c.is_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        hexadecimal = if c.is_ascii_hexdigit() { hexadecimal + 1 } else { 0 };
        let begins = next.is_alphanumeric() || matches!(next, '_' | '-' | '/' | '"' | ':');
        let sign = matches!(c, '@' | '#' | '!' | ':' | '~' | '$' | '&' | '%') && begins;
        let reference = (c == '-' && word == "gh") || (c == '.' && word == "www") || (hexadecimal == 6 && next.is_ascii_hexdigit());
        if sign || reference {
            out.push_str("&#8203;");
            hexadecimal = 0;
        }
        if !c.is_alphanumeric() {
            word.clear();
        }
    }
}

/// Writes ASCII punctuation that is special in Markdown or HTML as a numeric entity.
fn entity(out: &mut String, c: char) {
    match c {
        ' ' | '.' | ',' | '-' | '/' | '(' | ')' | '\'' | ';' | '?' => out.push(c),
        c if c.is_ascii_punctuation() => {
            let _ = write!(out, "&#{};", u32::from(c));
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    const OWN: [&str; 13] = ["details", "/details", "summary", "/summary", "b", "/b", "code", "/code", "sub", "/sub", "br", "/pre", "/a"];

    /// Returns the text of a comment outside code, as a platform sees it after rendering Markdown; fails on a tag that isn't ours.
    fn text_nodes(comment: &str) -> String {
        let mut rest = comment.strip_prefix(MARKER).unwrap();
        let mut out = String::new();
        while let Some((text, tail)) = rest.split_once('<') {
            out.push_str(text);
            let (tag, after) = tail.split_once('>').unwrap();
            let link = concat!("a href=\"", env!("CARGO_PKG_HOMEPAGE"), "/rules/");
            assert!(OWN.contains(&tag) || tag == "pre lang=\"yaml\"" || tag.starts_with(link), "<{tag}>");
            let end = if tag == "code" { "</code>" } else { "</pre>" };
            rest = if tag == "code" || tag.starts_with("pre") { after.split_once(end).unwrap().1 } else { after };
        }
        out.push_str(rest);
        let mut decoded = String::new();
        let mut rest = &*out;
        while let Some((text, tail)) = rest.split_once("&#") {
            decoded.push_str(text);
            let (number, after) = tail.split_once(';').unwrap();
            decoded.extend(number.parse().ok().and_then(char::from_u32));
            rest = after;
        }
        decoded + rest
    }

    #[test]
    fn hostile_text_is_inert() {
        let text = sample::rendered_hostile(render);
        assert_eq!(text.matches("<!--").count(), 1, "one marker");
        let whole = text_nodes(&format!("{MARKER}{}", inline(sample::HOSTILE)));
        assert!(
            whole.contains("@\u{200b}team") && whole.contains("GH-\u{200b}12") && whole.contains("javascript:\u{200b}alert"),
            "{whole}"
        );
        for seen in [text_nodes(&text), whole] {
            let pairs: Vec<(char, char)> = seen.chars().zip(seen.chars().skip(1)).collect();
            let signs = ['@', '#', ':'];
            assert!(!pairs.iter().any(|(a, b)| signs.contains(a) && (b.is_alphanumeric() || *b == '/')), "{seen}");
            assert!(!seen.contains("www.x") && !seen.contains("0123456"), "{seen}");
        }
        for line in text.lines() {
            let own = ["- **", "  ", "## ", "### ", "**", "*", "<", "Next version: "];
            assert!(line.is_empty() || own.iter().any(|begin| line.starts_with(begin)), "{line}");
            let outside = line.split("<code>").map(|part| part.rsplit("</code>").next().unwrap_or_default()).collect::<String>();
            let is_object = line.starts_with("  ") && !line.contains("<br>") && !line.contains("Fix: ") && !line.contains("<summary>");
            assert!(is_object || !outside.contains(['|', '[', ']', '`', '_', '\\']), "{outside}");
        }
    }

    #[test]
    fn messages_stay_readable() {
        assert_eq!(inline("`spec.size` was removed: writers"), "<code>spec.size</code> was removed: writers");
        assert_eq!(inline("an odd ` tick"), "an odd &#96; tick");
        assert_eq!(inline("see facade and decade"), "see facade and decade");
    }

    #[test]
    fn a_long_comment_still_has_its_footer() {
        let many = (0..2_000).map(|n| Finding {
            path: format!("spec.f{n}"),
            group: format!("{n:016x}"),
            message: "@".repeat(5_000),
            ..sample::finding()
        });
        let text = sample::rendered(many.collect(), render);
        assert!(text.len() < LONGEST, "{}", text.len());
        assert!(
            text.contains("1985 more items, 1985 of them breaking: see the review page for all of them"),
            "{}",
            &text[text.len() - 400..]
        );
        assert!(text.ends_with("</sub>\n"));
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}
