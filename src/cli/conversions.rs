//! `conversions check`, `conversions scaffold` and `conversions release`.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::arguments;
use crate::find::change;
use crate::find::conversion::check::{self, CheckedManifest};
use crate::find::conversion::coverage::Coverage;
use crate::find::conversion::generate;
use crate::find::conversion::laws::Verdict;
use crate::find::conversion::manifest::{BundleVersion, Manifest};
use crate::find::conversion::release as conversion_release;
use crate::find::conversion::scaffold::{self, Draft};
use crate::input::Origin;
use crate::judge::finding::Finding;
use crate::judge::review::{self, Judgement, Side};
use crate::model::fact::Fact;
use crate::render::plural;

use super::case::{Case, Judged};
use super::input::Reader;
use super::manifests::LoadedManifests;
use super::setting::{Setting, Sought};
use super::sides::Sides;
use super::{Exit, Stop, Streams, defaults, output};

pub(super) fn scaffold(arguments: &arguments::ConversionsScaffold, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = Reader::new(&arguments.limits);
    let sides = arguments.sides.as_review(arguments.conversions.as_ref(), &arguments::Judging::default(), &arguments.limits);
    let sides = defaults::review(sides, streams)?;
    let Some(case) = Case::review(&reader, &sides, false, streams)? else { return Ok(Exit::Clean) };
    case.judge(streams, |judged, streams| {
        let Some(old) = judged.old else { return Ok(judged.exit) };
        let drafts = drafts(judged, old);
        if drafts.is_empty() {
            let covered = judged.report.findings.iter().any(|finding| finding.conversion.is_some());
            streams.note(if covered { "every change that needs a conversion has one" } else { "no change needs a conversion" });
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

/// The drafts for everything that the review asks a conversion for, and for the differences between versions beside it.
fn drafts(judged: &Judged<'_, '_>, old: &Side<'_>) -> Vec<Draft> {
    let new = judged.new;
    let coverage = judged.judgement.conversions.now.map(|known| Coverage::new(known, &old.bundle, &new.bundle));
    let options = change::ChangeOptions { context: judged.judgement.context, ..change::ChangeOptions::default() };
    let facts = change::diff(&old.bundle, &new.bundle, &options);
    // What no release contains needs no conversion.
    let unreleased = |fact: &Fact| {
        let path = fact.path.to_string();
        let same = |finding: &&Finding| (&finding.crd, &finding.version, &finding.path) == (&fact.crd, &fact.version, &path);
        judged.report.findings.iter().filter(same).any(|finding| finding.released == Some(false))
    };
    let wanted = |fact: &Fact| {
        review::needs_step(fact) && coverage.as_ref().is_none_or(|coverage| coverage.cover(fact).is_none()) && !unreleased(fact)
    };
    review::drafts(&facts, old, new, &wanted)
}

fn write_drafts(drafts: &[Draft], dir: &Path, streams: &mut Streams<'_>) -> Result<(), Stop> {
    std::fs::create_dir_all(dir)?;
    for draft in drafts {
        let file = dir.join(format!("{}.yaml", draft.name));
        if file.exists() {
            return Err(Stop::usage(format!("{} already exists; move it or choose another directory", file.display())));
        }
        output::replace(&file, &draft.text)?;
        let open = draft.text.matches(scaffold::TODO).count();
        let open = if open == 0 { String::new() } else { format!("; fill in {}", plural(open, scaffold::TODO)) };
        streams.note(&format!("wrote {}{open}", file.display()));
    }
    Ok(())
}

/// `conversions release`: names the release of pending manifests.
pub(super) fn release(arguments: &arguments::ConversionsRelease, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let wrong = || Stop::usage(format!("`{}` is not a semantic version", arguments.version));
    let version = crate::model::release::parse(&arguments.version).ok_or_else(wrong)?;
    let reader = Reader::new(&arguments.limits);
    let inputs = if arguments.conversions.is_some() { Vec::new() } else { defaults::crds() };
    let found = LoadedManifests::new(&reader, arguments.conversions.as_ref(), &inputs)?;
    let exit = found.problems(streams);
    let Some(conversions) = found.now() else { return Err(no_manifest()) };
    let pending: Vec<_> = conversions.manifests.iter().filter(|manifest| manifest.is_pending()).collect();
    for (index, manifest) in pending.iter().enumerate() {
        let same = |other: &&&Manifest| {
            (&other.group, &other.kind, &other.from, &other.to) == (&manifest.group, &manifest.kind, &manifest.from, &manifest.to)
        };
        if let Some(other) = pending.iter().take(index).find(same) {
            let (a, b) = (&other.name, &manifest.name);
            return Err(Stop::usage(format!(
                "`{a}` and `{b}` convert {} to the same release; put the steps of both into one manifest",
                manifest.kind
            )));
        }
        if let Some(BundleVersion::Released(from)) =
            manifest.from.bundle.as_ref().filter(|from| **from >= BundleVersion::Released(version.clone()))
        {
            return Err(Stop::usage(format!("`{}` converts from {from}, which is not older than {version}", manifest.name)));
        }
    }
    let mut named = 0;
    for file in &conversions.documents().files {
        let pinned = conversion_release::pin(&file.text, &version);
        if pinned.manifests == 0 {
            continue;
        }
        let Origin::Path(path) = &file.origin else {
            return Err(Stop::usage(format!("{} can't be overwritten because it isn't a local file", file.name)));
        };
        output::replace(path, &pinned.text)?;
        streams.note(&format!("{}: to {version}", file.name));
        named += pinned.manifests;
    }
    if named == 0 {
        streams.note("no manifest converts to the next release");
    }
    Ok(exit)
}

/// `conversions generate go`: writes a package for each kind. The files are the tool's own, so existing ones are replaced.
pub(super) fn generate_go(arguments: &arguments::ConversionsGenerateGo, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = Reader::new(&arguments.limits);
    let inputs = if arguments.conversions.is_some() { Vec::new() } else { defaults::crds() };
    let found = LoadedManifests::new(&reader, arguments.conversions.as_ref(), &inputs)?;
    let mut exit = found.problems(streams);
    let Some(conversions) = found.now() else { return Err(no_manifest()) };
    let crds = if arguments.crd.is_empty() { None } else { Some(reader.one(&arguments.crd, false)?) };
    let side = crds.as_ref().map(|crds| crds.side());
    if let (Some(crds), Some(side)) = (&crds, &side) {
        exit = exit.or(crds.unread(streams));
        if side.bundle.crds.is_empty() {
            streams.error(&format!("no CRD was found in {}", side.source));
            exit = exit.or(Exit::Unread);
        }
    }
    let packages = generate::packages(conversions, side.as_ref().map(|side| &side.bundle))
        .map_err(|message| Stop { exit: Exit::Findings, message })?;
    for package in &packages {
        for (name, text) in &package.files {
            let file = arguments.output.join(&package.name).join(name);
            if let Some(parent) = file.parent() {
                std::fs::create_dir_all(parent)?;
            }
            output::replace(&file, text)?;
        }
        streams.note(&format!("wrote {}", arguments.output.join(&package.name).display()));
    }
    Ok(exit)
}

fn no_manifest() -> Stop {
    Stop { exit: Exit::Unread, message: "no conversion manifest was found; pass --conversions".into() }
}

pub(super) fn check(arguments: &arguments::ConversionsCheck, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    if let Some(webhook) = &arguments.webhook {
        return super::webhook::check(webhook, &arguments.sides.inputs, &Reader::new(&arguments.limits), streams);
    }
    let sides = arguments.sides.as_review(arguments.conversions.as_ref(), &arguments.judging, &arguments.limits);
    let sides = defaults::review(sides, streams)?;
    output::check(&arguments.output, &sides.inputs)?;
    let reader = Reader::new(&arguments.limits);
    let Sides { mut old, mut new, .. } = reader.sides(&sides)?;
    let sought = Sought { old: Some((&mut old, arguments::ConfigSide::New)), new: &mut new, accept: false };
    let setting = Setting::new(&reader, &arguments.judging, sought, streams)?;
    let (old_side, new_side) = (old.side(), new.side());
    let found = LoadedManifests::of_review(&reader, &sides)?;
    let mut exit = old.problems(&old_side, streams)?.or(new.problems(&new_side, streams)?).or(found.problems(streams));
    let Some(conversions) = found.now() else { return Err(no_manifest()) };
    let mut checked = check::check(conversions, &old_side.bundle, &new_side.bundle, &|_| true);
    for fact in check::unused_manifests(conversions, found.manifests().before, &old_side.bundle, &new_side.bundle) {
        let owner = checked.iter_mut().find(|one| fact.key.as_ref() == Some(&one.manifest));
        owner.into_iter().for_each(|one| one.facts.push(fact.clone()));
    }
    let judgement = Judgement { conversions: found.manifests(), ..setting.judgement() };
    let facts: Vec<crate::model::fact::Fact> = checked.iter().flat_map(|one| one.facts.iter().cloned()).collect();
    let report = crate::judge::review::of_manifests(&facts, &old_side, &new_side, &judgement);
    let to_people = arguments.output.format.iter().any(|flag| flag.format == arguments::Format::Human && flag.file.is_none());
    if to_people && !arguments.output.quiet {
        let text = table(&checked, streams.out_style().width);
        streams.write(&text)?;
    }
    if conversions.manifests.is_empty() {
        exit = exit.or(Exit::Unread);
    }
    let judged = Judged { report, old: Some(&old_side), new: &new_side, judgement: &judgement, exit };
    output::write(&judged, &reader, setting.gate, &arguments.output, streams)?;
    Ok(exit.or(super::gate(setting.gate, &arguments.judging, &judged.report)))
}

/// The verdict on each law of each manifest.
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
                Verdict::Proved => "proved".to_owned(),
                Verdict::Tested { objects, because } => {
                    generated = true;
                    format!("tested with {objects} objects: {because}")
                }
                Verdict::Broken(broken) => format!("broken: {}", broken.because),
                Verdict::Undecided(why) => format!("not decided: {why}"),
            };
            line(&format!("  {:<TITLES$} ", law.title()), TITLES + 3, &verdict);
        }
    }
    if generated {
        line("", 0, "What could not be proved was tested with objects generated from the schemas, the same ones in every run.");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::conversion::laws::Law;

    #[test]
    fn the_table_fits_the_screen() {
        let tested = Verdict::Tested { objects: 6, because: "a step may find something to do in what it gave, and so on".into() };
        let laws = Law::ALL.map(|law| (law, tested.clone())).to_vec();
        let one = CheckedManifest { manifest: "widget".repeat(9), from: "v1 1.0.0".into(), to: "v1 1.1.0".into(), laws, facts: Vec::new() };
        let text = table(&[one], 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
