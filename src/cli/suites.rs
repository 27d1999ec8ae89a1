//! `test` and `test generate`: run suites of requests with expected responses, measure their coverage, and check the fixtures of
//! past releases.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli::arguments::{self, CoverageDetail, OutputFormat};
use crate::input::{File, Origin};
use crate::judge::overview::plural;
use crate::judge::suite::coverage::{CheckCoverage, CoverageShare};
use crate::judge::suite::feature_gates::FeatureGates;
use crate::judge::suite::{self, Layout, Suite, generate_cases, run};
use crate::model::{Bundle, Documents};
use crate::render::Anchors;
use crate::render::suite::{CoverageView, Tests};

use super::fixtures;
use super::input::{InputReader, Read, names_a_crd, without_crd};
use super::output::{check_formats, write_formats};
use super::write_file::{create_dir, replace};
use super::{Exit, Stop, Streams};

/// Where OpenShift's repository lists the enabled feature gates.
const FEATURE_GATES: &str = "payload-manifests/featuregates";

pub(super) fn test(arguments: &arguments::Test, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    if let Some(arguments::TestCommand::Generate(arguments)) = &arguments.command {
        return generate(arguments, streams);
    }
    check_formats(&arguments.format, &arguments.paths)?;
    let reader = InputReader::new(&arguments.limits);
    let paths = if arguments.paths.is_empty() { vec![OsString::from(".")] } else { arguments.paths.clone() };
    let read = reader.chosen(&paths, takes)?;
    let mut exit = read.unread(streams);
    let suites = suites(read.documents(), streams, &mut exit);
    let beside = crds_of(&reader, arguments, &read, &suites)?;
    let crds = beside.as_ref().unwrap_or(&read);
    let side = crds.side();
    exit = exit.or(crds.problems(&side, streams)?);
    let (releases, unread) = fixtures::run(&paths, &reader, &side, arguments.downgrade.as_deref(), streams)?;
    exit = exit.or(unread);
    if suites.is_empty() && exit == Exit::Clean && releases.is_empty() {
        streams.error(&format!("no suite was found: a suite is a file `*{}`, or one of OpenShift's with `tests`; `crdwise test generate CRDS` writes one for each CRD", suite::SUFFIX));
        return Ok(exit.or(Exit::Unread));
    }
    if side.bundle.crds.is_empty() {
        streams.error("no CRD was found beside the suites; name it with --crd");
        exit = exit.or(Exit::Unread);
    }
    let kubernetes = arguments.kubernetes.unwrap_or_default();
    let bundle = side.bundle.on(kubernetes.last().unwrap_or_default().server());
    let (results, coverage) =
        run::SuiteRunner { kubernetes, ..run::SuiteRunner::new(&bundle, &[crds.documents(), read.documents()]) }.run(&suites);
    let asked = arguments.coverage.is_some() || arguments.min_coverage.is_some();
    let lines = if asked { coverage.lines(&bundle, true) } else { Vec::new() };
    let tests = Tests {
        results: &results,
        suites: read.documents(),
        releases: &releases,
        coverage: asked.then_some(CoverageView {
            lines: &lines,
            crds: crds.documents(),
            source: arguments.coverage == Some(CoverageDetail::Source),
            least: arguments.min_coverage,
        }),
        kubernetes,
        complete: exit == Exit::Clean || exit == Exit::Findings,
    };
    if !tests.pass() {
        exit = exit.or(Exit::Findings);
    }
    let repository = reader.loader.repository().ok();
    let anchors = Anchors::new(None, read.documents(), repository);
    write_formats(&arguments.format, streams, |format, style| match format {
        OutputFormat::Json => tests.json(),
        OutputFormat::Github => tests.github(&anchors, repository),
        OutputFormat::Sarif => tests.sarif(&anchors),
        OutputFormat::Junit => tests.junit(),
        _ => tests.human(style),
    })?;
    Ok(exit)
}

/// Whether a file matters to tests; a directory may contain all kinds of other files.
fn takes(file: &File) -> bool {
    suite::is_suite_name(&file.name)
        || names_a_crd(&file.text)
        || file.text.contains("onCreate:")
        || file.text.contains("onUpdate:")
        || FeatureGates::are_in(&file.text)
}

/// Parses the suites; errors are reported, and the exit code becomes 3.
fn suites(documents: &Documents, streams: &mut Streams<'_>, exit: &mut Exit) -> Vec<Suite> {
    let mut found = Vec::new();
    for suite in suite::suites(documents) {
        match suite {
            Ok(suite) => found.push(suite),
            Err(unreadable) => {
                let Some(file) = documents.file(unreadable.file) else { continue };
                for fault in unreadable.faults {
                    let at = file.place(fault.span.start as usize);
                    streams.error(&format!("{}:{}:{}: {fault}", file.name, at.line, at.column));
                }
                *exit = exit.or(Exit::Unread);
            }
        }
    }
    found
}

/// Finds the CRDs: those named explicitly, or those next to the suites if the paths contain none.
fn crds_of(reader: &InputReader, arguments: &arguments::Test, read: &Read, suites: &[Suite]) -> Result<Option<Read>, Stop> {
    if !arguments.crd.is_empty() {
        return reader.one(&arguments.crd, false).map(Some);
    }
    if !read.side().bundle.crds.is_empty() {
        return Ok(None);
    }
    let directory = |suite: &Suite| match &read.documents().file(suite.file)?.origin {
        Origin::Path(path) => Some(path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new(".")).to_owned()),
        _ => None,
    };
    let mut directories: BTreeSet<PathBuf> = BTreeSet::new();
    for suite in suites {
        let Some(own) = directory(suite) else { continue };
        match &suite.layout {
            Layout::OpenShift { manifests: Some(manifests) } if Path::new(manifests).is_dir() => {
                directories.insert(PathBuf::from(manifests));
                directories.extend(own.ancestors().map(|above| above.join(FEATURE_GATES)).find(|gates| gates.is_dir()));
            }
            _ => _ = directories.insert(own),
        }
    }
    let inputs: Vec<OsString> = directories.into_iter().map(PathBuf::into_os_string).collect();
    let takes = |file: &File| names_a_crd(&file.text) || FeatureGates::are_in(&file.text);
    if inputs.is_empty() { Ok(None) } else { reader.chosen(&inputs, takes).map(Some) }
}

/// Writes the missing cases. Existing suites keep their cases; new ones are appended.
fn generate(arguments: &arguments::TestGenerate, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = InputReader::new(&arguments.limits);
    let mut inputs = arguments.inputs.clone();
    if let Some(dir) = arguments.dir.as_ref().filter(|dir| dir.exists()) {
        inputs.push(dir.clone().into_os_string());
    }
    let read = reader.chosen(&inputs, takes)?;
    let side = read.side();
    let mut exit = read.problems(&side, streams)?;
    let known = suites(read.documents(), streams, &mut exit);
    if exit != Exit::Clean {
        return Ok(exit);
    }
    exit = without_crd(&side, streams);
    if exit != Exit::Clean {
        return Ok(exit);
    }
    let tested = run::SuiteRunner::new(&side.bundle, &[read.documents()]);
    let (_, before) = tested.run(&known);
    let made = generate_cases::generate(&side.bundle, &before);
    let (mut cases, mut files) = (0, 0);
    let untried: usize = made.iter().map(|generated| generated.untried).sum();
    for generated in made.iter().filter(|generated| !generated.cases.is_empty()) {
        let Some(crd) = side.bundle.crds.get(generated.crd) else { continue };
        let Some(dir) = arguments.dir.clone().or_else(|| directory(read.documents().file(crd.file))) else {
            streams.error(&format!("{} isn't in a file; name a directory for its suite with --dir", crd.name));
            exit = exit.or(Exit::Usage);
            continue;
        };
        create_dir(&dir)?;
        write(&dir, crd.name, generated)?;
        cases += generated.cases.len();
        files += 1;
    }
    // Run the written suites, to verify that they say what they should.
    if let Some(dir) = &arguments.dir {
        inputs.push(dir.clone().into_os_string());
    }
    let again = reader.chosen(&inputs, takes)?;
    let written = suites(again.documents(), streams, &mut exit);
    let (results, after) = tested.run(&written);
    let failed = results.iter().filter(|result| !result.failures.is_empty()).count();
    if failed > 0 {
        exit = exit.or(Exit::Findings);
    }
    let percent = |coverage: &CheckCoverage, bundle: &Bundle<'_>| CoverageShare::of(coverage.lines(bundle, true).iter());
    let (before, after) = (percent(&before, &side.bundle), percent(&after, &side.bundle));
    streams.write(&format!(
        "{} written to {}; {failed} of {} fail\ncoverage: {:.1} % before, {:.1} % now ({} of {} constraints)\n",
        plural(cases, "case"),
        plural(files, "file"),
        plural(results.len(), "case"),
        before.percent(),
        after.percent(),
        after.covered,
        after.constraints
    ))?;
    if untried > 0 {
        let constraints = plural(untried, "constraint");
        streams.write(&format!(
            "{constraints} not tried: requests for all of them would take too long; generate cases for fewer CRDs at once\n"
        ))?;
    }
    Ok(exit)
}

fn directory(file: Option<&File>) -> Option<PathBuf> {
    match &file?.origin {
        Origin::Path(path) => path.parent().map(Path::to_owned),
        _ => None,
    }
}

/// Writes a suite, or appends to an existing one. If cases can't be appended to the file, a second file is written.
fn write(dir: &Path, crd: &str, generated: &generate_cases::Generated) -> Result<(), Stop> {
    let stem = super::objects::file_name(crd, "crdtest");
    let first = dir.join(&stem);
    let text = match std::fs::read_to_string(&first) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return replace(&first, &generated.suite(crd)),
        // Overwriting an unreadable file would lose its cases.
        Err(error) => return Err(Stop::usage(format!("can't read {}: {error}", first.display()))),
    };
    match appended(&text, generated) {
        Some(text) => replace(&first, &text),
        None => replace(&dir.join(super::objects::file_name(crd, "generated.crdtest")), &generated.suite(crd)),
    }
}

/// Appends cases to the text if `cases` is at the end of the file.
fn appended(text: &str, generated: &generate_cases::Generated) -> Option<String> {
    let documents = Documents::of_text("suite", text);
    let [(_, document)] = documents.documents.as_slice() else { return None };
    let root = document.tree.as_ref().ok()?.root();
    let last = root.entries().next_back()?;
    let first = last.value.items().next()?;
    if last.key.key_text() != "cases" || last.value.source().starts_with('[') {
        return None;
    }
    let line = text.get(..first.span().start as usize)?.rsplit('\n').next()?;
    let indent = line.len() - line.trim_start().len();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    Some(format!("{text}{end}{}", generated.cases(indent)))
}
