//! Minutes of a review, to be filled in: Markdown for projects that review in text. The HTML page can import what is written after
//! `Decision:` and `Note:`, and its export has the same form.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value};
use serde::Serialize;

use crate::judge::finding::Status;
use crate::judge::overview::{Group, Overview};

use super::escape::{code_parts, visible};
use super::html::{Commits, Side, Sort, checklist, sides, summary};
use super::report_view::View;

const TEMPLATE: &str = include_str!("minutes.md");

#[derive(Serialize)]
struct Minutes {
    title: &'static str,
    headline: String,
    counts: String,
    next: Option<String>,
    policy: String,
    sides: Vec<Side>,
    checklist: Vec<checklist::Question>,
    sections: Vec<Section>,
}

#[derive(Serialize)]
struct Section {
    title: &'static str,
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    label: &'static str,
    message: String,
    place: String,
    rule: String,
    help: String,
    spots: Vec<String>,
    id: String,
}

pub fn render(view: &View<'_>, commits: &Commits) -> String {
    let report = view.report;
    let overview = report.overview(true);
    let tally = summary::Tally::new(&overview);
    let banner = summary::banner(report, &tally, view.complete);
    let text = |text: &str| visible(text).into_owned();
    let minutes = Minutes {
        title: if report.verdict.is_some() { "API review" } else { "CRD lint" },
        headline: banner.headline,
        counts: banner.counts,
        next: report.bump.as_ref().map(ToString::to_string),
        policy: text(&report.policy),
        sides: sides(report, commits),
        checklist: checklist::checklist(view, &overview, &tally),
        sections: sections(&overview),
    };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.add_filter("code", |text: &str| code(text));
    environment.add_filter("words", |text: &str| words(text));
    environment.add_filter("message", |text: &str| message(text));
    if let Ok(syntax) = minijinja::syntax::SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    let made = environment.render_str(TEMPLATE, minijinja::context! { page => Value::from(Serde(&minutes)) });
    made.unwrap_or_else(|error| format!("The minutes could not be made: {error}\n"))
}

/// Lists the items to discuss: everything except documentation, waived and pre-existing findings.
fn sections(overview: &Overview<'_>) -> Vec<Section> {
    let titles =
        [(Sort::Breaking, "Breaking changes"), (Sort::Problem, "To fix"), (Sort::Compatible, "Compatible changes"), (Sort::Note, "Notes")];
    let groups = || overview.groups.iter().chain(&overview.shared).filter(|group| group.status() == Status::New);
    let section = |(sort, title)| {
        let items: Vec<Item> = groups().filter(|group| Sort::of(group) == sort).map(item).collect();
        (!items.is_empty()).then_some(Section { title, items })
    };
    titles.into_iter().filter_map(section).collect()
}

fn item(group: &Group<'_>) -> Item {
    let finding = group.lead;
    let text = |text: &str| visible(text).into_owned();
    let spots = [("before", &finding.before), ("after", &finding.after)];
    let spot = |(word, spot): (&str, &Option<crate::judge::finding::Spot>)| {
        let spot = spot.as_ref()?;
        Some(format!("{word} {}", code(&format!("{}:{}", visible(&spot.file), spot.line))))
    };
    let mut message = group.headline();
    if let Some(effect) = group.effect() {
        message = format!("{message}: {effect}");
    }
    let crds = group.crds();
    let place = match (crds.as_slice(), finding.version.as_deref(), group.reach()) {
        ([""], ..) => "the bundle".to_owned(),
        ([crd], _, Some(reach)) => format!("{crd}, {reach}"),
        ([crd], Some(version), None) => format!("{crd} {version}"),
        ([crd], None, None) => (*crd).to_owned(),
        (_, _, reach) => reach.unwrap_or_default(),
    };
    Item {
        label: Sort::tag(group),
        message: text(&message),
        place: text(&place),
        rule: text(&finding.rule),
        help: text(&finding.help),
        spots: spots.into_iter().filter_map(spot).collect(),
        id: finding.fingerprint.clone(),
    }
}

/// Writes code that no text inside can end.
fn code(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest + 1);
    let edge = |c: Option<char>| c == Some('`');
    let spaced = text.starts_with(' ') && text.ends_with(' ') && text.len() > 1;
    let pad = if edge(text.chars().next()) || edge(text.chars().last()) || spaced { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

const ZERO: char = '\u{200b}';

/// Writes prose without active Markdown, mentions, references or links. The page's script does the same.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    // The letters, digits and underscores directly before, to recognise commits and `www.`.
    let mut word = String::new();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&') {
            out.push('\\');
        }
        out.push(c);
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c.to_ascii_lowercase());
        }
        let begins = next.is_ascii_alphanumeric() || next == '_';
        let mention = matches!(c, '@' | '#' | '!') && begins;
        let link = c == ':' && next == '/' || c == 'w' && next == '.' && word.ends_with("www");
        let commit = word.len() == 6 && word.bytes().all(|b| b.is_ascii_hexdigit()) && next.is_ascii_hexdigit();
        if mention || link || commit {
            out.push(ZERO);
        }
        if !(c.is_ascii_alphanumeric() || c == '_') {
            word.clear();
        }
    }
    out
}

/// Writes text between backticks as code, and the rest as prose.
fn message(text: &str) -> String {
    code_parts(text).into_iter().map(|(part, is_code)| if is_code { code(part) } else { words(part) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn text_from_files_is_inert() {
        assert_eq!(
            words("a *b* @team #1 <x> 0123456789 http://x www.x"),
            "a \\*b\\* @\u{200b}team \\#\u{200b}1 \\<x\\> 012345\u{200b}6789 http:\u{200b}//x www\u{200b}.x"
        );
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(message("`a.b` was `removed"), "`a.b` was \\`removed");
    }

    #[test]
    fn each_change_has_one_line_whatever_its_text() {
        let text = sample::rendered_hostile(|view| render(view, &Commits::default()));
        let items: Vec<&str> = text.lines().filter(|line| line.starts_with("- **")).collect();
        assert_eq!(items.len(), 3, "an error, a warning and a note are new: {text}");
        for item in items {
            assert!(item.ends_with(" <!-- f-0123456789abcdef -->"), "{item}");
        }
        for line in text.lines() {
            let own = ["# ", "## ", "### ", "- ", "  - ", "   - ", "1. ", "2. ", "3. ", "After each", "this file"];
            assert!(line.is_empty() || own.iter().any(|start| line.starts_with(start)), "{line}");
        }
    }
}
