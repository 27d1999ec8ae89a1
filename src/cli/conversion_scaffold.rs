//! `conversions scaffold`: drafts manifests for the changes that need one.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::arguments;
use crate::find::change;
use crate::find::conversion::conversion_coverage::ConversionCoverage;
use crate::find::conversion::scaffold::{self, Draft};
use crate::judge::finding::{Finding, UNDEFINED};
use crate::judge::review::{self, Side};
use crate::model::fact::Fact;
use crate::render::plural;

use super::check_run::{CheckRun, JudgedRun};
use super::input::InputReader;
use super::{Exit, Stop, Streams, default_inputs, write_file};

pub(super) fn scaffold(arguments: &arguments::ConversionsScaffold, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = InputReader::new(&arguments.limits);
    let sides = arguments.sides.as_review(arguments.conversions.as_ref(), &arguments::Judging::default(), &arguments.limits);
    let sides = default_inputs::review(sides, streams)?;
    let Some(run) = CheckRun::review(&reader, &sides, false, streams)? else { return Ok(Exit::Clean) };
    run.judge(streams, |judged, streams| {
        let Some(old) = judged.old else { return Ok(judged.exit) };
        let (drafts, has_manifest) = drafts(judged, old);
        if drafts.is_empty() {
            streams.note(match judged.report.fresh().find(|finding| finding.rule == UNDEFINED) {
                Some(_) => "no step can convert these changes; `crdwise review` shows them",
                None if has_manifest => "every change that needs a conversion has one",
                None => "no change needs a conversion",
            });
            return Ok(judged.exit);
        }
        match &arguments.output {
            None => {
                let texts: Vec<&str> = drafts.iter().map(|draft| draft.text.as_str()).collect();
                streams.write(&texts.join("---\n"))?;
            }
            Some(dir) => write_drafts(&drafts, dir, streams)?,
        }
        Ok(judged.exit)
    })
}

/// Drafts manifests for every change that needs a conversion, and for the differences between versions that go with it. Also returns
/// whether a manifest already covers one of them.
fn drafts(judged: &JudgedRun<'_, '_>, old: &Side<'_>) -> (Vec<Draft>, bool) {
    let new = judged.new;
    let coverage = judged.judgement.conversions.now.map(|known| ConversionCoverage::new(known, &old.bundle, &new.bundle));
    let options = change::ChangeOptions { context: judged.judgement.context, ..change::ChangeOptions::default() };
    let facts = change::diff(&old.bundle, &new.bundle, &options);
    // Changes to something that was never released need no conversion.
    let unreleased: BTreeSet<(&str, Option<&str>, &str)> =
        judged.report.findings.iter().filter(|finding| finding.released == Some(false)).map(place_of).collect();
    let unreleased = |fact: &Fact| {
        !unreleased.is_empty() && unreleased.contains(&(fact.crd.as_str(), fact.version.as_deref(), fact.path.to_string().as_str()))
    };
    let covered = |fact: &Fact| coverage.as_ref().is_some_and(|coverage| coverage.cover(fact).is_some());
    let wanted = |fact: &Fact| review::needs_step(fact) && !covered(fact) && !unreleased(fact);
    let Some(bump) = &judged.report.bump else { return Default::default() };
    let has_manifest = facts.iter().any(|fact| review::needs_step(fact) && covered(fact));
    (review::drafts(&facts, (old, new), bump, &wanted), has_manifest)
}

fn place_of(finding: &Finding) -> (&str, Option<&str>, &str) {
    (&finding.crd, finding.version.as_deref(), &finding.path)
}

fn write_drafts(drafts: &[Draft], dir: &Path, streams: &mut Streams<'_>) -> Result<(), Stop> {
    write_file::create_dir(dir)?;
    for draft in drafts {
        let file = dir.join(format!("{}.yaml", draft.name));
        if file.exists() {
            return Err(Stop::usage(format!("{} already exists; move it or choose another directory", file.display())));
        }
        write_file::replace(&file, &draft.text)?;
        let open = draft.text.matches(scaffold::TODO).count();
        let open = if open == 0 { String::new() } else { format!("; fill in {}", plural(open, scaffold::TODO)) };
        streams.note(&format!("wrote {}{open}", file.display()));
    }
    Ok(())
}
