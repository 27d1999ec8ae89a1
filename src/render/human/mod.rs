//! Terminal output for people: the answer first, then a block for each group, worst first.

mod block;
mod layout;

use std::fmt::Write as _;

use crate::input::list_some;
use crate::judge::finding::{Bump, Class, Finding, Severity, Spot};
use crate::judge::overview::{Group, Overview, Section, plural};
use crate::judge::report::{Report, SideSummary};

use super::escape::visible;
use super::existing_objects;
use super::how_to_pass::{Acceptance, acceptance};
use super::server_lines;
pub use super::snippet::Style;
use super::snippet::{self, Diagnostic, Excerpt, Excerpts};
pub(super) use block::ratchet_note;
use layout::{Paint, fitted, wrapped};

/// How much is shown.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub style: Style,
    /// Show everything that is otherwise counted or shortened: documentation, pre-existing and waived findings, every place,
    /// drafts.
    pub all: bool,
    /// Show the whole object of each proof.
    pub proof: bool,
    /// Show only findings of at least this severity and the last lines, and nothing at all if there are none.
    pub quiet: Option<Severity>,
    /// Whether some input couldn't be read, so that finding nothing proves nothing.
    pub incomplete: bool,
    /// The severity from which findings fail the run.
    pub gate: Option<Severity>,
}

/// How many of the worst groups are named at the top.
const NAMED: usize = 5;
/// How many blocks are shown completely. The next ones show what, where and why in a few lines, and the rest one line each.
const WHOLE: usize = 12;
const BRIEF: usize = 40;
/// How many compatible changes and notes are listed.
const COMPATIBLE: usize = 20;
const NOTES: usize = 10;
/// How many skipped items are named.
const OTHERS: usize = 3;

/// The text of a file of either side, by its name in findings.
pub trait Texts {
    fn text(&self, spot: &Spot, old: bool) -> Option<&str>;

    /// The line number to show: for a rendered manifest, that of the source line.
    fn shown_line(&self, _spot: &Spot, _old: bool, line: usize) -> usize {
        line
    }
}

pub fn render(report: &Report, texts: &dyn Texts, options: &Options) -> String {
    let mut out = String::new();
    let least = options.quiet.unwrap_or(Severity::Info);
    if options.quiet.is_some() && !options.incomplete && !report.fresh().any(|finding| finding.severity >= least) {
        return out;
    }
    let shown = |finding: &&Finding| finding.severity >= least && (options.all || finding.is_shown());
    let overview = Overview::new(report.findings.iter().filter(shown));
    answer(&mut out, report, &overview, options);
    let (grave, light): (Vec<&Group<'_>>, Vec<&Group<'_>>) =
        overview.groups.iter().partition(|group| group.severity() > Severity::Info || group.section == Section::Break);
    let (blocks, rest) = grave.split_at(if options.all { grave.len() } else { grave.len().min(BRIEF) });
    for (index, group) in blocks.iter().enumerate() {
        out.push('\n');
        let whole = options.all || index < WHOLE;
        block::draw(&mut out, group, texts, options, whole);
    }
    lines(&mut out, "one line each (--all shows more)", rest, usize::MAX, options);
    if !overview.shared.is_empty() {
        out.push_str("\nbecause of these changes:\n");
        overview.shared.iter().for_each(|group| block::consequence(&mut out, group, &options.style));
    }
    let (compatible, notes): (Vec<&Group<'_>>, Vec<&Group<'_>>) = light.into_iter().partition(|group| group.section == Section::Compatible);
    lines(&mut out, "compatible changes", &compatible, COMPATIBLE, options);
    lines(&mut out, "notes", &notes, NOTES, options);
    out.push('\n');
    foot(&mut out, report, options);
    // If some input couldn't be read, there is no way to accept the findings.
    if let Some(acceptance) = acceptance(report, options.gate).filter(|_| !options.incomplete) {
        accept(&mut out, &acceptance, options.style.width);
    }
    out
}

/// Draws the first lines: whether it is breaking, what exactly breaks, and the next version.
fn answer(out: &mut String, report: &Report, overview: &Overview<'_>, options: &Options) {
    let style = &options.style;
    let fails = options.gate.is_some_and(|gate| report.fails(gate));
    let word = match report.verdict {
        Some(Class::SemanticBreaking) => "BREAKING",
        Some(Class::Additive) => "COMPATIBLE",
        // What could not be used may have changed.
        Some(Class::None) if options.incomplete => "",
        Some(Class::None) => "NO API CHANGE",
        None if report.old.is_some() => "CONVERSIONS",
        None => "LINT",
    };
    let paint = match report.verdict {
        _ if fails => Paint::Bad,
        Some(Class::SemanticBreaking) => Paint::Careful,
        _ if report.fresh().any(|finding| finding.severity > Severity::Info) => Paint::Careful,
        _ => Paint::Good,
    };
    let word = match options.incomplete {
        true if word.is_empty() => "INCOMPLETE".to_owned(),
        true => format!("INCOMPLETE, {word}"),
        false => word.to_owned(),
    };
    let counts = match report.summary.text() {
        none if options.incomplete && none.starts_with("no findings") => "no findings in the inputs that could be read".to_owned(),
        counts => counts,
    };
    wrapped(out, &format!("{}: ", style.paint(paint, &word)), &counts, style.width);
    let breaks: Vec<&Group<'_>> = overview.breaks().collect();
    if breaks.len() > 1 {
        for group in breaks.iter().take(NAMED) {
            let reach = group.reach().map(|reach| format!(" {reach}")).unwrap_or_default();
            let harm = Some(group.harm.text()).filter(|text| !text.is_empty()).map(|text| format!(": {text}")).unwrap_or_default();
            let text = format!("{}{reach}", visible(&group.headline()));
            let room = style.width.saturating_sub(4 + harm.len());
            let _ = writeln!(out, "  {} {}{harm}", block::sign(group, style), style.prose(&fitted(&text, room)));
        }
        if breaks.len() > NAMED {
            let _ = writeln!(out, "  … and {} more", breaks.len() - NAMED);
        }
    }
    if let Some(release) = report.release_without_breaks() {
        let text = format!("the last release, {}, doesn't contain what breaks, so nothing fails", visible(release));
        wrapped(out, "not released: ", &text, style.width);
    }
    if let Some(bump) = report.bump.as_ref().filter(|bump| !options.incomplete || bump.required > Bump::None) {
        wrapped(out, "next version: ", &bump.to_string(), style.width);
    }
    if options.incomplete {
        wrapped(out, "incomplete: ", "some inputs could not be used, so they were not judged or compared", style.width);
    }
}

/// Draws one line for each group that needs no block.
fn lines(out: &mut String, title: &str, groups: &[&Group<'_>], most: usize, options: &Options) {
    if groups.is_empty() {
        return;
    }
    let style = &options.style;
    let _ = writeln!(out, "\n{title}:");
    let most = if options.all { usize::MAX } else { most };
    for group in groups.iter().take(most) {
        let reach = group.reach().map(|reach| format!(" {reach}")).unwrap_or_default();
        let text = format!("{}{reach}", visible(&group.headline()));
        let crd = if group.crds().len() == 1 { visible(&group.lead.crd).into_owned() } else { String::new() };
        let crd = if crd.is_empty() { crd } else { format!(" · {crd}") };
        let rule = format!("[{}]", visible(&group.lead.rule));
        let painted = style.paint(Paint::Rule, &rule);
        let lead = format!("  {} ", block::sign(group, style));
        if options.all {
            wrapped(out, &lead, &format!("{} {painted}", style.prose(&format!("{text}{crd}"))), style.width);
            block::places(out, group, options, usize::MAX);
        } else {
            let room = style.width.saturating_sub(5 + rule.len());
            let _ = writeln!(out, "{lead}{} {painted}", style.prose(&fitted(&format!("{text}{crd}"), room)));
        }
        group.consequences.iter().for_each(|group| block::consequence(out, group, style));
    }
    if groups.len() > most {
        let _ = writeln!(out, "  … and {} more (--all)", groups.len() - most);
    }
}

fn foot(out: &mut String, report: &Report, options: &Options) {
    let width = options.style.width;
    if let Some(hidden) = report.summary.hidden_text().filter(|_| !options.all) {
        wrapped(out, "not shown: ", &format!("{hidden} (--all)"), width);
    }
    if let Some(objects) = &report.objects {
        wrapped(out, "objects: ", &existing_objects::summary(objects), width);
        for line in existing_objects::unexplained(objects) {
            wrapped(out, "  unexplained: ", &line, width);
        }
    }
    let release = report.release.as_ref().map(|release| format!("last release {} · ", visible(release))).unwrap_or_default();
    let judged = format!("{release}policy {} · Kubernetes {}", visible(&report.policy), server_lines::summary(report));
    match &report.old {
        Some(old) => {
            let same = old.crds == report.new.crds && old.skipped.is_empty();
            let from = if same { visible(&old.source).into_owned() } else { side(old) };
            wrapped(out, "compared: ", &format!("{from} → {} · {judged}", side(&report.new)), width);
        }
        None => wrapped(out, "checked: ", &format!("{} · {judged}", side(&report.new)), width),
    }
    for refusal in server_lines::refusals(report) {
        wrapped(out, "  ", &visible(&refusal), width);
    }
    for row in server_lines::table(report) {
        let _ = writeln!(out, "  {}", visible(&row));
    }
}

/// `config/crd (3 CRDs)`, and what was skipped there.
fn side(side: &SideSummary) -> String {
    let mut text = format!("{} ({}", visible(&side.source), plural(side.crds, "CRD"));
    if !side.skipped.is_empty() {
        let skipped = side.skipped.iter().map(|skipped| format!("{} ({})", visible(&skipped.what), visible(&skipped.why)));
        let _ = write!(text, "; skipped {}", list_some(skipped, OTHERS));
    }
    text.push(')');
    text
}

/// Draws how to make a failing run pass. Commands and waivers have no bar in front, so that they can be copied.
fn accept(out: &mut String, acceptance: &Acceptance, width: usize) {
    let mut lead = "to pass: ";
    for remedy in &acceptance.remedies {
        wrapped(out, lead, &remedy.text, width);
        for command in &remedy.commands {
            let _ = writeln!(out, "  {command}");
        }
        lead = "or ";
    }
    out.push_str(&acceptance.waivers);
    if let Some(more) = &acceptance.more {
        wrapped(out, "", more, width);
    }
}

/// Draws a problem with reading input, with the places that explain it.
pub fn problem(message: &str, help: Option<&str>, places: &[Option<Spot>], documents: &crate::model::Documents, style: &Style) -> String {
    let excerpt = |spot: &Spot| {
        let file = documents.file(spot.place?.file)?;
        Some(Excerpt::new(&spot.file, &file.text, spot.place?.span.range(), spot.line, spot.column))
    };
    let excerpts = places.iter().flatten().filter_map(excerpt).collect();
    let shown = Diagnostic {
        message: visible(message).into_owned(),
        help: help.map(str::to_owned),
        severity: miette::Severity::Error,
        excerpts: Excerpts(excerpts),
    };
    snippet::draw(style, &shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    struct Hostile;

    impl Texts for Hostile {
        fn text(&self, _: &Spot, _: bool) -> Option<&str> {
            Some("::error::x \u{1b}[31m\u{202e}##[group]\n")
        }
    }

    #[test]
    fn hostile_text_is_escaped_and_cannot_inject_log_commands() {
        for (all, proof) in [(true, true), (false, false)] {
            let style = Style { color: false, unicode: true, width: 40 };
            let gate = Some(Severity::Error);
            let out = sample::rendered_hostile(|view| {
                render(view.report, &Hostile, &Options { style, all, proof, quiet: None, incomplete: false, gate })
            });
            assert!(out.contains("::error::"), "the text is there");
            for line in out.lines() {
                assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{line:?}");
                assert!(!line.chars().any(char::is_control) && !line.contains('\u{202e}'), "{line:?}");
            }
        }
    }
}
