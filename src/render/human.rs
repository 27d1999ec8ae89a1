//! For people at a terminal: grouped by CRD and version, worst first, each thing once.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::find::conversion::text::as_yaml;
use crate::input::shorten;
use crate::judge::finding::{Bump, Class, Finding, Severity, Spot, Status};
use crate::judge::report::{Report, SideSummary};
use crate::model::fact::Certainty;

use super::accept::{Acceptance, acceptance, accepted};
use super::escape::visible;
use super::existing_objects;
use super::group::{Group, fold, gather, place_consequences, plural};
use super::servers;
pub use super::snippet::Style;
use super::snippet::{self, Diagnostic, Excerpt, Excerpts};

/// How much is shown.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub style: Style,
    /// Also what is folded to a count: documentation, pre-existing and waived findings.
    pub all: bool,
    /// Only findings from this severity on and the last lines, and nothing at all where there are none.
    pub quiet: Option<Severity>,
    /// Whether some input could not be read, so that silence proves nothing.
    pub incomplete: bool,
    /// The severity from which findings fail the run.
    pub gate: Option<Severity>,
}

/// After so many drawn findings the rest gets one line each, to keep the report readable.
const DRAWN: usize = 40;
/// So many of the things that were skipped are named.
const OTHERS: usize = 3;

/// Lines of an object that are shown.
const WITNESS: usize = 24;

/// Lines of a draft that is there to be pasted. Half of a longer one would be of no use, and all of it would bury what it is about:
/// `conversions scaffold` writes it.
const PASTED: usize = 24;

/// The text of a file of either side, by its name in findings.
pub trait Texts {
    fn text(&self, spot: &Spot, old: bool) -> Option<&str>;
}

pub fn render(report: &Report, texts: &dyn Texts, options: &Options) -> String {
    let mut out = String::new();
    let least = options.quiet.unwrap_or(Severity::Info);
    if options.quiet.is_some() && !options.incomplete && !report.fresh().any(|finding| finding.severity >= least) {
        return out;
    }
    let shown = |finding: &&Finding| finding.severity >= least && (options.all || finding.is_shown());
    let (groups, mut consequences) = place_consequences(group(report.findings.iter().filter(shown)));
    let mut leads = fold(groups, options.all);
    for lead in &mut leads {
        let members = lead.rest.iter().chain([&lead.group]).flat_map(|group| group.others.iter().chain([&group.first]));
        let members: Vec<&str> = members.map(|finding| &*finding.fingerprint).collect();
        lead.consequences = members.into_iter().filter_map(|fingerprint| consequences.remove(fingerprint)).flatten().collect();
    }
    // Several would do the same.
    let single = leads.iter().filter(|lead| lead.group.first.suggestion.is_some()).count() == 1;
    let pasted = match (options.all, single) {
        (true, _) => usize::MAX,
        (false, true) => PASTED,
        (false, false) => 0,
    };
    let mut drawn = 0;
    let mut section = None;
    for lead in &leads {
        let group = &lead.group;
        let here = (&group.first.crd, group.first.version.as_deref());
        if section != Some(here) {
            let again = section.is_some_and(|(crd, _)| crd == here.0);
            heading(&mut out, here.0, here.1, again, options.style.width);
            section = Some(here);
        }
        if group.first.severity > Severity::Info && drawn < DRAWN {
            drawn += 1;
            diagnostic(&mut out, group, texts, &options.style, pasted);
        } else {
            line(&mut out, group, options.style.width);
        }
        if let Some(hits) = existing_objects::hits(group.others.iter().copied().chain([group.first])) {
            wrapped(&mut out, "  objects: ", &hits, options.style.width);
        }
        if let Some(elsewhere) = lead.elsewhere() {
            wrapped(&mut out, "  also: ", &elsewhere, options.style.width);
        }
        for consequence in &lead.consequences {
            let finding = consequence.first;
            let mut text = format!("{}: {}", visible(&finding.rule), visible(&finding.message));
            if let Some(also) = consequence.also() {
                let _ = write!(text, " ({also})");
            }
            wrapped(&mut out, "  so: ", &text, options.style.width);
        }
    }
    if !leads.is_empty() {
        out.push('\n');
    }
    summary(&mut out, report, options);
    // Nobody can accept what was not read.
    if let Some(acceptance) = acceptance(report, options.gate).filter(|_| !options.incomplete) {
        accept(&mut out, &acceptance, options.style.width);
    }
    out
}

/// Gathers findings that say the same of the same path, and puts the worst section first.
fn group<'r>(findings: impl Iterator<Item = &'r Finding>) -> Vec<Group<'r>> {
    let mut groups = gather(findings);
    let mut worst: BTreeMap<&str, Severity> = BTreeMap::new();
    for group in &groups {
        let level = worst.entry(&group.first.crd).or_insert(Severity::Info);
        *level = (*level).max(group.first.severity);
    }
    groups.sort_by(|a, b| {
        let rank = |g: &Group<'_>| std::cmp::Reverse(worst.get(&*g.first.crd).copied());
        let place = |g: &Group<'r>| (&g.first.crd, &g.first.version);
        rank(a).cmp(&rank(b)).then_with(|| place(a).cmp(&place(b))).then_with(|| a.first.order(b.first))
    });
    groups
}

/// `again` for another version of the CRD above.
fn heading(out: &mut String, crd: &str, version: Option<&str>, again: bool, width: usize) {
    if let Some(version) = version.filter(|_| again) {
        let _ = writeln!(out, "── {}", visible(version));
        return;
    }
    let name = match (crd, version) {
        ("", _) => "the bundle".to_owned(),
        (crd, None) => visible(crd).into_owned(),
        (crd, Some(version)) => format!("{} · {}", visible(crd), visible(version)),
    };
    let rule = "─".repeat(width.min(100).saturating_sub(name.chars().count() + 4));
    let _ = writeln!(out, "\n── {name} {rule}");
}

fn diagnostic(out: &mut String, group: &Group<'_>, texts: &dyn Texts, style: &Style, pasted: usize) {
    let finding = group.first;
    let excerpt = |spot: &Option<Spot>, old: bool| {
        let spot = spot.as_ref()?;
        let text = texts.text(spot, old)?;
        let span = spot.place?.span.range();
        // The name of the CRD is in the heading above.
        let named = text.get(span.clone()) == Some(&*finding.crd);
        (!named).then(|| Excerpt::new(&spot.file, text, span, spot.line, spot.column))
    };
    let excerpts: Vec<Excerpt> = [excerpt(&finding.before, true), excerpt(&finding.after, false)].into_iter().flatten().collect();
    let mut message = format!("{}: {}", visible(&finding.rule), visible(&finding.message));
    if let Some(also) = group.also() {
        let _ = write!(message, " ({also})");
    }
    let shown = Diagnostic {
        message,
        help: Some(visible(&finding.help).into_owned()),
        severity: match finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        },
        excerpts: Excerpts(excerpts),
    };
    let bare = shown.excerpts.0.is_empty();
    out.push_str(&snippet::draw(style, &shown));
    if let Some(spot) = finding.after.as_ref().or(finding.before.as_ref()).filter(|_| bare) {
        let _ = writeln!(out, "  at: {}:{}:{}", visible(&spot.file), spot.line, spot.column);
    }
    for line in finding.suggestion.iter().filter(|draft| draft.lines().count() <= pasted).flat_map(|draft| draft.lines()) {
        let _ = writeln!(out, "  │ {}", shorten(&visible(line), LONGEST));
    }
    if let Some(witness) = &finding.witness {
        let yaml = as_yaml(&witness.object);
        let text = format!("{} before, {} now: {}", witness.old, witness.new, visible(&witness.because));
        wrapped(out, "  proof: ", &text, style.width);
        let yaml = yaml.replacen("metadata:\n  name: example\n", "metadata: {name: example}\n", 1);
        for line in yaml.lines().take(WITNESS) {
            let _ = writeln!(out, "  │ {}", shorten(&visible(line), style.width.saturating_sub(5)));
        }
        let more = yaml.lines().count().saturating_sub(WITNESS);
        if more > 0 {
            let _ = writeln!(out, "  │ … {more} more lines (--witnesses DIR writes them)");
        }
    } else if let Some(ratchet) = ratchet_note(finding) {
        wrapped(out, "  note: ", ratchet, style.width);
    }
    if finding.certainty == Certainty::Undecided && !finding.message.contains("not decided") {
        wrapped(out, "  note: ", "not proved: whether any object of before is hurt was not decided", style.width);
    }
    if finding.status == Status::PreExisting {
        wrapped(out, "  note: ", "pre-existing: the old side has it too", style.width);
    }
    if let Some(reason) = &finding.waiver {
        wrapped(out, "  waived: ", &visible(reason), style.width);
    }
}

/// Characters of a line that is there to be pasted.
const LONGEST: usize = 160;

pub(super) fn ratchet_note(finding: &Finding) -> Option<&'static str> {
    use crate::model::fact::Ratchet;
    if finding.class != Some(Class::SemanticBreaking) {
        return None;
    }
    Some(match finding.ratchet? {
        Ratchet::Field => "existing objects can be updated while this field stays unchanged",
        Ratchet::Container => "existing objects can be updated only while the object or list around it stays unchanged",
        Ratchet::Always => "existing objects that violate it can still be updated",
        Ratchet::Never => "existing objects that violate it can't be updated at all",
    })
}

/// One line for what needs no drawing.
fn line(out: &mut String, group: &Group<'_>, width: usize) {
    let finding = group.first;
    let sign = match (finding.severity, finding.class) {
        (Severity::Error, _) => '✗',
        (Severity::Warning, _) => '!',
        (_, Some(Class::Additive)) => '+',
        _ => '·',
    };
    let mut text = format!("{}: {}", visible(&finding.rule), visible(&finding.message));
    if let Some(also) = group.also() {
        let _ = write!(text, " ({also})");
    }
    // What has to be mended has to be found.
    if let Some(spot) = finding.after.as_ref().or(finding.before.as_ref()).filter(|_| finding.severity > Severity::Info) {
        let _ = write!(text, " · {}:{}", visible(&spot.file), spot.line);
    }
    wrapped(out, &format!("  {sign} "), &text, width);
}

/// Text behind a lead, with the lines after the first indented under it. They begin with a bar, because a CI log takes a line that
/// begins with `::` for a command, spaces or not.
fn wrapped(out: &mut String, lead: &str, text: &str, width: usize) {
    let indent = format!("  │{}", " ".repeat(lead.chars().count().saturating_sub(3)));
    // Paths, versions and expressions stay whole.
    let options = textwrap::Options::new(width)
        .initial_indent(lead)
        .subsequent_indent(&indent)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(text, options) {
        let _ = writeln!(out, "{line}");
    }
}

fn summary(out: &mut String, report: &Report, options: &Options) {
    let counts = [
        (report.count(Severity::Error), "error"),
        (report.count(Severity::Warning), "warning"),
        (report.fresh().filter(|f| f.severity == Severity::Info && !f.is_quiet()).count(), "note"),
    ];
    let mut told: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| plural(*n, word)).collect();
    if accepted(report) > 0 {
        told.push(format!("{} accepted", accepted(report)));
    }
    let mut folded = Vec::new();
    let quiet = report.fresh().filter(|f| f.is_quiet()).count();
    if quiet > 0 && !options.all {
        folded.push(plural(quiet, "change") + " of documentation, metadata or spelling");
    }
    for (status, word) in [(Status::PreExisting, "pre-existing finding"), (Status::Waived, "waived finding")] {
        let n = report.findings.iter().filter(|f| f.status == status).count();
        if n > 0 && !options.all {
            folded.push(plural(n, word));
        }
    }
    let open = report.fresh().filter(|f| f.severity > Severity::Info && f.certainty == Certainty::Undecided).count();
    let mut findings = match told.is_empty() {
        true if options.incomplete => "no findings in what could be read".to_owned(),
        true => "no findings".to_owned(),
        false => told.join(", "),
    };
    if open > 0 {
        let _ = write!(findings, ", {open} not proved");
    }
    let policy = visible(&report.policy);
    match report.verdict {
        Some(verdict) => wrapped(out, "verdict: ", &format!("{verdict} ({findings}; policy {policy})"), options.style.width),
        None => {
            let what = if report.old.is_some() { "conversions: " } else { "lint: " };
            wrapped(out, what, &format!("{findings} (policy {policy})"), options.style.width);
        }
    }
    if options.incomplete {
        out.push_str("incomplete: not every input could be read, and what was not read is not judged\n");
    }
    if let Some(bump) = &report.bump {
        let _ = write!(out, "bump: {}", bump.required);
        match (&bump.from, &bump.recommended, &bump.declared, bump.sufficient) {
            (Some(from), Some(next), ..) if from == next => {}
            (Some(from), Some(next), Some(declared), Some(true)) => {
                let _ = write!(out, " ({from} → {next} or later; declared {declared} is enough)");
            }
            (Some(from), Some(next), Some(declared), Some(false)) if from == declared => {
                let _ = write!(out, " (the next release must be {next} or later; {declared} is declared)");
            }
            (Some(from), Some(next), Some(declared), Some(false)) => {
                let _ = write!(out, " ({from} → {next} or later; declared {declared} is too small)");
            }
            (Some(from), Some(next), ..) => {
                let _ = write!(out, " ({from} → {next} or later)");
            }
            (None, ..) if bump.required > Bump::None => out.push_str(" (the old version is not known: --old-version, or an annotation)"),
            _ => {}
        }
        out.push('\n');
    }
    if !folded.is_empty() {
        wrapped(out, "not shown: ", &format!("{} (--all)", folded.join(", ")), options.style.width);
    }
    if let Some(objects) = &report.objects {
        wrapped(out, "objects: ", &existing_objects::summary(objects), options.style.width);
        for line in existing_objects::unexplained(objects) {
            wrapped(out, "  unexplained: ", &line, options.style.width);
        }
    }
    if let Some(old) = &report.old {
        counts_line(out, "old", old, options.style.width);
        counts_line(out, "new", &report.new, options.style.width);
    } else {
        counts_line(out, "checked", &report.new, options.style.width);
    }
    wrapped(out, "kubernetes: ", &servers::summary(report), options.style.width);
    for refusal in servers::refusals(report) {
        wrapped(out, "  ", &visible(&refusal), options.style.width);
    }
    for row in servers::table(report) {
        let _ = writeln!(out, "  {}", visible(&row));
    }
}

/// The end of a failing run: what makes it pass. The waivers have no bar in front, so that they can be copied.
fn accept(out: &mut String, acceptance: &Acceptance, width: usize) {
    out.push('\n');
    wrapped(out, "to pass: ", &acceptance.advice, width);
    let _ = write!(out, "\n{}", acceptance.waivers);
    if let Some(more) = &acceptance.more {
        out.push('\n');
        wrapped(out, "", more, width);
    }
}

fn counts_line(out: &mut String, word: &str, side: &SideSummary, width: usize) {
    let mut text = format!(
        "{} · {}, {}, {}, {}",
        visible(&side.source),
        plural(side.files, "file"),
        plural(side.documents, "document"),
        plural(side.crds, "CRD"),
        plural(side.versions, "version"),
    );
    if !side.skipped.is_empty() {
        let list: Vec<String> = side.skipped.iter().take(OTHERS).map(|s| format!("{} ({})", visible(&s.what), visible(&s.why))).collect();
        let more = side.skipped.len().saturating_sub(OTHERS);
        let _ = write!(text, "; skipped {}", list.join(", "));
        if more > 0 {
            let _ = write!(text, " and {more} more");
        }
    }
    wrapped(out, &format!("{word}: "), &text, width);
}

/// Something that could not be read, with the places that explain it.
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
    fn hostile_text_is_shown_and_commands_no_log() {
        let style = Style { color: false, unicode: true, width: 40 };
        let out = sample::rendered_hostile(|view| {
            render(view.report, &Hostile, &Options { style, all: true, quiet: None, incomplete: false, gate: Some(Severity::Error) })
        });
        assert!(out.contains("::error::"), "the text is there");
        for line in out.lines() {
            assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{line:?}");
            assert!(!line.chars().any(char::is_control) && !line.contains('\u{202e}'), "{line:?}");
        }
    }
}
