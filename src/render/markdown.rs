//! A comment on a pull request, or a job summary: Markdown in which nothing of the reviewed files is Markdown.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::find::conversion::text::as_yaml;
use crate::input::shorten;
use crate::judge::finding::{Finding, Severity, Status};
use crate::judge::report::Report;

use super::accept::acceptance;
use super::escape::visible;
use super::group::{Group, gather, plural};
use super::servers;
use super::view::View;

/// By this line a later run finds its comment again. It is the first line; text of files can't hold it.
pub const MARKER: &str = "<!-- crdwise -->";

/// GitHub takes 65,536 characters; what a workflow adds around it must fit, too.
const LONGEST: usize = 60_000;
/// Room for what comes behind the findings.
const FOOT: usize = 8_000;
/// The object of a proof is shown up to so many lines.
const PROOF_LINES: usize = 24;
/// One finding can't take the room of all.
const LONGEST_TEXT: usize = 300;

pub fn render(view: &View<'_>) -> String {
    let mut out = format!("{MARKER}\n");
    head(&mut out, view);
    let groups = gather(view.worst_first().into_iter());
    let mut left_out = 0;
    for (severity, title) in [(Severity::Error, "Errors"), (Severity::Warning, "Warnings"), (Severity::Info, "Notes")] {
        let level: Vec<&Group<'_>> = groups.iter().filter(|group| group.first.severity == severity).collect();
        if level.is_empty() {
            continue;
        }
        let folded = severity == Severity::Info;
        // The same finding in several places is shown once; the counts above include each place.
        let places: usize = level.iter().map(|group| group.others.len() + 1).sum();
        let count = if places > level.len() { format!("{} in {places} places", level.len()) } else { places.to_string() };
        let heading = if folded {
            format!("\n<details><summary><b>{title}</b> ({count})</summary>\n\n")
        } else {
            format!("\n### {title} ({count})\n\n")
        };
        out.push_str(&heading);
        for (told, group) in level.iter().enumerate() {
            let item = item(group, view);
            if out.len() + item.len() + FOOT > LONGEST {
                left_out += level.len() - told;
                break;
            }
            out.push_str(&item);
        }
        if folded {
            out.push_str("\n</details>\n");
        }
    }
    accept(&mut out, view);
    foot(&mut out, view, left_out);
    out
}

fn head(out: &mut String, view: &View<'_>) {
    let Report { verdict, bump, .. } = view.report;
    match verdict {
        Some(_) if !view.complete => out.push_str("## API review: incomplete, no verdict\n\n"),
        Some(verdict) => {
            let _ = writeln!(out, "## API review: {verdict}\n");
        }
        None => out.push_str("## CRD lint\n\n"),
    }
    let servers = servers::summary(view.report);
    let _ = write!(out, "**{}** · policy {} · Kubernetes {servers}", view.counts(), code(&cut(&view.report.policy)));
    if let Some(bump) = bump {
        let _ = write!(out, " · next version: **{}**", bump.required);
        if let (Some(from), Some(next)) = (&bump.from, &bump.recommended) {
            let _ = write!(out, " ({} → {} or later)", code(&from.to_string()), code(&next.to_string()));
        }
        if let (Some(declared), Some(false)) = (&bump.declared, bump.sufficient) {
            let _ = write!(out, ", but {} is declared", code(&declared.to_string()));
        }
    }
    out.push('\n');
    if !view.complete {
        out.push_str("\n**Not every input could be read**; the log of the run has the reasons.\n");
    }
}

fn item(group: &Group<'_>, view: &View<'_>) -> String {
    let finding = group.first;
    let rule = inline(&finding.rule);
    let rule = view.book.address(&finding.rule).map_or(rule.clone(), |address| format!("<a href=\"{address}\">{rule}</a>"));
    let mut out = format!("- **{rule}**: {}", inline(&cut(&finding.message)));
    if let Some(also) = group.also() {
        let _ = write!(out, " ({})", inline(&cut(&also)));
    }
    if finding.status != Status::New {
        let reason = finding.waiver.as_deref().map(|reason| format!(": {}", inline(&cut(reason)))).unwrap_or_default();
        let _ = write!(out, " · *{}*{reason}", finding.status);
    }
    let _ = write!(out, "<br>\n  {}", place(finding, view));
    if !finding.help.is_empty() {
        let _ = write!(out, "<br>\n  Help: {}", inline(&cut(&finding.help)));
    }
    out.push('\n');
    if let Some(witness) = &finding.witness {
        let _ = write!(
            out,
            "  <details><summary>Proof: {} before, {} now: {}</summary>\n\n",
            witness.old,
            witness.new,
            inline(&cut(&witness.because))
        );
        // Not a fence: inside `<pre>` no line ends it, and no text can hold the marker.
        let yaml = as_yaml(&witness.object);
        out.push_str("  <pre lang=\"yaml\">\n");
        for line in yaml.lines().take(PROOF_LINES) {
            let _ = writeln!(out, "  {}", cut(&visible(line)).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
        }
        out.push_str("  </pre>\n\n  </details>\n");
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

/// What makes a failing run pass. The first waiver line follows the tag, so that what is copied begins at the margin.
fn accept(out: &mut String, view: &View<'_>) {
    let Some(acceptance) = acceptance(view.report, view.gate).filter(|_| view.complete) else { return };
    let _ = write!(out, "\n<details><summary><b>How to pass</b></summary>\n\n**To pass:** {}\n\n", inline(&acceptance.advice));
    let waivers: Vec<String> =
        acceptance.waivers.lines().map(|line| cut(line).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")).collect();
    let _ = writeln!(out, "<pre lang=\"yaml\">{}</pre>", waivers.join("\n"));
    if let Some(more) = &acceptance.more {
        let _ = writeln!(out, "\n**More:** {}", inline(more));
    }
    out.push_str("\n</details>\n");
}

fn foot(out: &mut String, view: &View<'_>, left_out: usize) {
    if left_out > 0 {
        let _ = writeln!(
            out,
            "\n*{} not shown here: a comment has no room for more. The report has them all.*",
            plural(left_out, "more finding")
        );
    }
    let count = |keep: &dyn Fn(&Finding) -> bool| view.report.findings.iter().filter(|finding| keep(finding)).count();
    let folded = [
        (count(&|f| f.status == Status::New && f.is_quiet()), "change", " of documentation, metadata or spelling"),
        (count(&|f| f.status == Status::PreExisting), "pre-existing finding", ""),
        (count(&|f| f.status == Status::Waived), "waived finding", ""),
    ];
    let folded = folded.iter().filter(|(count, ..)| *count > 0 && !view.all);
    let folded: Vec<String> = folded.map(|(count, word, of)| plural(*count, word) + of).collect();
    let mut lines = Vec::new();
    if !folded.is_empty() {
        lines.push(format!("Not shown: {}.", folded.join(", ")));
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

/// A long value, shortened.
fn cut(text: &str) -> Cow<'_, str> {
    shorten(text, LONGEST_TEXT)
}

/// A message: text between backticks as code, and all of it inert.
fn inline(text: &str) -> String {
    let text = visible(text);
    let mut out = String::new();
    let mut rest = &*text;
    while let Some((before, tail)) = rest.split_once('`') {
        match tail.split_once('`') {
            Some((inside, after)) if !inside.is_empty() => {
                prose(&mut out, before);
                out.push_str(&code(inside));
                rest = after;
            }
            _ => break,
        }
    }
    prose(&mut out, rest);
    out
}

/// Code without backticks: platforms look neither for mentions nor for references in it, and entities keep Markdown out.
fn code(text: &str) -> String {
    let mut out = String::from("<code>");
    for c in visible(text).chars() {
        entity(&mut out, c);
    }
    out.push_str("</code>");
    out
}

/// Words. A platform looks for `@name`, `#1`, `:smile:`, commits and addresses in the text that Markdown has made, so a character
/// without width follows each character that could begin one.
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

/// ASCII punctuation that means something to Markdown or HTML, as a number.
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

    /// The text of the comment outside of code, as a platform sees it when Markdown is done; fails on a tag that isn't ours.
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
            let own = ["- **", "  ", "## ", "### ", "**", "*", "<"];
            assert!(line.is_empty() || own.iter().any(|begin| line.starts_with(begin)), "{line}");
            let outside = line.split("<code>").map(|part| part.rsplit("</code>").next().unwrap_or_default()).collect::<String>();
            let is_object = line.starts_with("  ") && !line.contains("<br>") && !line.contains("Help: ") && !line.contains("<summary>");
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
    fn a_comment_has_room_for_its_end() {
        let many = (0..2_000).map(|n| Finding { path: format!("spec.f{n}"), message: "@".repeat(5_000), ..sample::finding() });
        let text = sample::rendered(many.collect(), render);
        assert!(text.len() < LONGEST, "{}", text.len());
        assert!(text.contains("more findings not shown here"), "{}", &text[text.len() - 400..]);
        assert!(text.ends_with("</sub>\n"));
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}
