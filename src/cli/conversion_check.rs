//! `conversions check`: the verdict on each law of each manifest, and the findings about them.

use std::fmt::Write as _;

use crate::cli::arguments;
use crate::find::conversion::check::{self, CheckedManifest};
use crate::find::conversion::laws::LawVerdict;
use crate::judge::review::Judgement;

use super::check_run::JudgedRun;
use super::input::InputReader;
use super::manifests::{LoadedManifests, no_manifest};
use super::run_settings::{RunSettings, SettingsInputs};
use super::sides::InputSides;
use super::{Exit, Stop, Streams, default_inputs, output};

pub(super) fn check(arguments: &arguments::ConversionsCheck, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    if let Some(webhook) = &arguments.webhook {
        return super::webhook::check(webhook, &arguments.sides.inputs, &InputReader::new(&arguments.limits), streams);
    }
    let sides = arguments.sides.as_review(arguments.conversions.as_ref(), &arguments.judging, &arguments.limits);
    let sides = default_inputs::review(sides, streams)?;
    output::check(&arguments.output, &sides.sides.inputs)?;
    let reader = InputReader::new(&arguments.limits);
    let InputSides { mut old, mut new, .. } = reader.sides(&sides)?;
    let inputs = SettingsInputs { old: Some((&mut old, arguments::ConfigSide::New)), new: &mut new, accept: false };
    let settings = RunSettings::new(&reader, &arguments.judging, inputs, streams)?;
    let (old_side, new_side) = (old.side(), new.side());
    let found = LoadedManifests::of_review(&reader, &sides)?;
    let mut exit = old.problems(&old_side, streams)?.or(new.problems(&new_side, streams)?).or(found.problems(streams));
    let Some(conversions) = found.now() else { return Err(no_manifest()) };
    let mut checked = check::check(conversions, &old_side.bundle, &new_side.bundle, &|_| true);
    for fact in check::unused_manifests(conversions, found.manifests().before, &old_side.bundle, &new_side.bundle) {
        let owner = checked.iter_mut().find(|one| fact.key.as_ref() == Some(&one.manifest));
        owner.into_iter().for_each(|one| one.facts.push(fact.clone()));
    }
    let judgement = Judgement { conversions: found.manifests(), ..settings.judgement() };
    let facts: Vec<crate::model::fact::Fact> = checked.iter().flat_map(|one| one.facts.iter().cloned()).collect();
    let report = crate::judge::review::of_manifests(&facts, &old_side, &new_side, &judgement);
    let to_people = arguments.output.format.iter().any(|flag| flag.format == arguments::OutputFormat::Human && flag.file.is_none());
    if to_people && !arguments.output.quiet {
        let text = table(&checked, streams.out_style().width);
        streams.write(&text)?;
    }
    if conversions.manifests.is_empty() {
        exit = exit.or(Exit::Unread);
    }
    let judged = JudgedRun { report, old: Some(&old_side), new: &new_side, judgement: &judgement, exit };
    output::write(&judged, &reader, settings.gate, &arguments.output, streams)?;
    Ok(exit.or(super::gate(settings.gate, &arguments.judging, &judged.report)))
}

/// A table of the verdict on each law of each manifest.
fn table(checked: &[CheckedManifest], width: usize) -> String {
    const TITLES: usize = 36;
    let mut out = String::new();
    let mut line = |lead: &str, indent: usize, text: &str| {
        let indent = " ".repeat(indent);
        let options = textwrap::Options::new(width.max(2 * TITLES)).initial_indent(lead).subsequent_indent(&indent);
        let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
        for line in textwrap::wrap(&crate::render::visible(text), options) {
            let _ = writeln!(out, "{}", line.trim_end());
        }
    };
    let mut generated = false;
    for one in checked {
        line("", 2, &format!("{}: {} → {}", one.manifest, one.from, one.to));
        if one.laws.is_empty() {
            let why = if one.facts.is_empty() { "it converts between versions that neither side has" } else { "see below" };
            line("  ", 4, &format!("not checked: {why}"));
        }
        for (law, verdict) in &one.laws {
            let verdict = match verdict {
                LawVerdict::Proved => "proved".to_owned(),
                LawVerdict::Tested { objects, because } => {
                    generated = true;
                    format!("tested with {objects} objects: {because}")
                }
                LawVerdict::Broken(broken) => format!("broken: {}", broken.because),
                LawVerdict::Undecided(why) => format!("not decided: {why}"),
            };
            line(&format!("  {:<TITLES$} ", law.title()), TITLES + 3, &verdict);
        }
    }
    if generated {
        line("", 0, "Properties that could not be proved were tested with objects generated from the schemas, the same in every run.");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::conversion::laws::Law;

    #[test]
    fn the_table_fits_the_screen() {
        let tested = LawVerdict::Tested { objects: 6, because: "a step may find something to do in what it gave, and so on".into() };
        let laws = Law::ALL.map(|law| (law, tested.clone())).to_vec();
        let one = CheckedManifest { manifest: "widget".repeat(9), from: "v1 1.0.0".into(), to: "v1 1.1.0".into(), laws, facts: Vec::new() };
        let text = table(&[one], 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
