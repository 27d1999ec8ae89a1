//! The settings of a run: finds the configuration next to or above the inputs, reads it, and combines it with the flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::arguments::{self, ConfigSide};
use crate::cli::config::folder::{ConfigFolder, above, absent, real};
use crate::cli::config::{self, Config, JudgingSettings};
use crate::find::review_context::ReviewContext;
use crate::go::date::Date;
use crate::input::json_schema_check::Fault;
use crate::input::{File, Input, InputKind};
use crate::judge::baseline::{self, Baseline};
use crate::judge::finding::Severity;
use crate::judge::policy::{self, Policy};
use crate::judge::review::{Judgement, Side};
use crate::judge::rule::Book;
use crate::judge::waiver::Waivers;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::kubernetes::Minors;
use crate::model::{Documents, FileId, Place};
use crate::render::human;

use super::chosen_servers;
use super::input::{InputReader, Read, with_advice};
use super::own_pages::OwnPages;
use super::{Exit, Stop, Streams};

/// Everything that decides how findings are judged.
pub(super) struct RunSettings {
    own: Arc<OwnPages>,
    policy: Policy,
    pub gate: Option<Severity>,
    config: Config,
    /// The servers to judge for.
    kubernetes: Minors,
    file: FileId,
    baseline: Option<(Baseline, FileId)>,
    today: Date,
    changed: Vec<Fact>,
    /// The baseline file, which may not exist yet.
    pub baseline_file: PathBuf,
}

/// A configuration with the file it was read from.
#[derive(Default)]
struct LoadedConfig {
    config: Config,
    file: Option<File>,
    baseline: Option<(Baseline, File)>,
    own: Arc<OwnPages>,
}

/// The configuration of the old side.
enum OldConfig {
    /// The same as the new side's.
    Same,
    /// A directory without a configuration, so the old settings are unknown.
    None,
    Own(Box<LoadedConfig>),
}

/// The sides whose configuration is needed.
pub(super) struct SettingsInputs<'r> {
    pub old: Option<(&'r mut Read, ConfigSide)>,
    pub new: &'r mut Read,
    /// Whether to apply the existing baseline.
    pub accept: bool,
}

impl RunSettings {
    pub fn new(
        reader: &InputReader,
        judging: &arguments::Judging,
        inputs: SettingsInputs<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<Self, Stop> {
        let SettingsInputs { old, new, accept } = inputs;
        let clusters = chosen_servers::clusters(old.iter().flat_map(|(old, _)| old.inputs()).chain(new.inputs()));
        let mut search = ConfigSearch { reader, judging, streams, accept };
        let found = search.side(new.inputs())?;
        let before = match &old {
            Some((old, _)) if judging.config.is_none() => search.before(old.inputs(), &found)?,
            _ => OldConfig::Same,
        };
        let by_old = matches!(old, Some((_, ConfigSide::Old)));
        // Flags apply to both sides.
        let by_flag = judging.rules.is_some() || judging.policies.is_some();
        let none = LoadedConfig { own: if by_flag { Arc::clone(&found.own) } else { Arc::default() }, ..LoadedConfig::default() };
        let judges = match &before {
            OldConfig::Own(before) if by_old => before,
            OldConfig::None if by_old => &none,
            _ => &found,
        };
        let folder = ConfigFolder::of(judges.file.as_ref());
        let name = judges.file.as_ref().map_or("", |file| &file.name);
        for read in old.map(|(old, _)| old).into_iter().chain([&mut *new]) {
            read.configure(&judges.config, |file| folder.path(file), name);
        }
        // The file numbers of the bundle are final only now.
        let mut place = |file: Option<&File>| file.map_or(FileId::MAX, |file| new.add_extra_file(file.clone()));
        let mut changed = Vec::new();
        if let OldConfig::Own(before) = &before {
            changed = config::changes(&before.config, &found.config, place(found.file.as_ref()));
            changed.extend(before.own.changes(&found.own, &mut place));
            changed.extend(found.baseline.as_ref().and_then(|(after, file)| {
                let empty = Baseline::default();
                let more = after.count_not_in(before.baseline.as_ref().map_or(&empty, |(baseline, _)| baseline));
                let fact = Fact::new(Subject::Config, Aspect::Baseline, Effect::Added, "").key("baseline");
                let at = Place { file: place(Some(file)), span: after.span() };
                (more > 0).then(|| fact.after(at).word(Word::What, format!("the baseline accepts {more} more findings")))
            }));
        }
        let file = place(judges.file.as_ref());
        let baseline_file = match (&judging.baseline, &judges.baseline) {
            (Some(file), _) => file.clone(),
            (None, Some((_, file))) => PathBuf::from(&file.name),
            (None, None) => folder.beside(judges.config.baseline.as_ref().map_or(baseline::FILE, |name| &name.value)),
        };
        let baseline = judges.baseline.as_ref().filter(|_| accept).map(|(baseline, file)| (baseline.clone(), place(Some(file))));
        let config = judges.config.clone();
        let own = Arc::clone(&judges.own);
        let (policy, gate) = choose(judging, &config, &own)?;
        let today = today(judging)?;
        let kubernetes = chosen_servers::choose(judging.kubernetes.or(config.kubernetes), &clusters, reader, streams);
        Ok(RunSettings { kubernetes, own, policy, gate, config, file, baseline, today, changed, baseline_file })
    }

    pub fn book(&self) -> &Book {
        self.own.book()
    }

    pub fn judgement(&self) -> Judgement<'_> {
        let waivers = Waivers {
            list: &self.config.waivers,
            file: self.file,
            baseline: self.baseline.as_ref().map(|(baseline, file)| (baseline, *file)),
            today: Some(self.today),
        };
        let context = ReviewContext { assigned: &self.config.maturity, kubernetes: self.kubernetes, ..ReviewContext::default() };
        Judgement { waivers, context, changed: &self.changed, ..Judgement::new(self.book(), &self.policy) }
    }
}

/// The servers named in the configuration for these inputs.
pub(super) fn configured_servers(reader: &InputReader, inputs: &[Input], streams: &mut Streams<'_>) -> Result<Option<Minors>, Stop> {
    let judging = arguments::Judging::default();
    Ok(ConfigSearch { reader, judging: &judging, streams, accept: false }.side(inputs)?.config.kubernetes)
}

/// Chooses policy and gate: flags take precedence over the profile, and the profile over the rest of the configuration.
fn choose(judging: &arguments::Judging, config: &Config, own: &OwnPages) -> Result<(Policy, Option<Severity>), Stop> {
    let profile = match &judging.profile {
        None => JudgingSettings::default(),
        Some(name) => config.profiles.get(name).cloned().ok_or_else(|| {
            let hint = crate::input::json_schema_check::nearest(name, config.profiles.keys().map(String::as_str));
            Stop::usage(format!("the configuration has no profile `{name}`{hint}"))
        })?,
    };
    let layers = [&profile, &config.judging];
    let name = judging.policy.as_deref().or_else(|| layers.iter().find_map(|layer| Some(&*layer.policy.as_ref()?.value)));
    let name = name.unwrap_or(policy::DEFAULT);
    let mut policy = own.policy(name).ok_or_else(|| {
        let names = own.policy_names();
        let hint = crate::input::json_schema_check::nearest(name, names.iter().copied());
        Stop::usage(format!("unknown policy `{name}`{hint}; use one of {}", names.join(", ")))
    })?;
    for level in config.judging.rules.iter().chain(&profile.rules) {
        policy.set(&level.rule, level.severity);
    }
    let gate = match judging.fail_on {
        Some(level) => level.severity(),
        None => layers.iter().find_map(|layer| layer.fail_on.as_ref()).map_or(Some(Severity::Error), |level| level.value),
    };
    Ok((policy, gate))
}

/// The date used to expire waivers: from the flag, from `SOURCE_DATE_EPOCH`, or from the clock.
fn today(judging: &arguments::Judging) -> Result<Date, Stop> {
    if let Some(text) = &judging.today {
        return Date::parse(text).ok_or_else(|| Stop::usage(format!("--today: `{text}` is not a date of the form YYYY-MM-DD")));
    }
    if let Some(seconds) = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok()) {
        return Ok(Date::of_epoch(seconds));
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(Date::of_epoch(i64::try_from(now).unwrap_or(0)))
}

struct ConfigSearch<'s, 'w> {
    reader: &'s InputReader,
    judging: &'s arguments::Judging,
    streams: &'s mut Streams<'w>,
    /// Whether a named baseline must exist; only `baseline write` may create it.
    accept: bool,
}

impl ConfigSearch<'_, '_> {
    /// Finds the configuration of the new side, or reads the one that a flag names.
    fn side(&mut self, inputs: &[Input]) -> Result<LoadedConfig, Stop> {
        let file = match &self.judging.config {
            Some(path) => Some(self.named(path)?),
            None => self.look(inputs, config::FILE)?,
        };
        self.read(inputs, file)
    }

    /// Finds the configuration of the old side, if it can differ: at a revision, or in a directory with its own configuration.
    fn before(&mut self, inputs: &[Input], after: &LoadedConfig) -> Result<OldConfig, Stop> {
        let at_revision = inputs.iter().any(|input| matches!(input.kind, InputKind::Revision { .. } | InputKind::Index { .. }));
        let file = self.look(inputs, config::FILE)?;
        let same = |a: &File, b: &File| real(&a.origin) == real(&b.origin);
        match (&file, &after.file) {
            (Some(old), Some(new)) if same(old, new) => return Ok(OldConfig::Same),
            (None, _) if !at_revision => return Ok(OldConfig::None),
            _ => {}
        }
        self.read(inputs, file).map(|found| OldConfig::Own(Box::new(found)))
    }

    fn read(&mut self, inputs: &[Input], file: Option<File>) -> Result<LoadedConfig, Stop> {
        let own = Arc::new(self.own_pages(file.as_ref())?);
        let config = match &file {
            None => Config::default(),
            Some(file) => {
                let read = Config::parse(&file.text, own.book(), &own.policy_names());
                read.map_err(|faults| refuse(file, &faults, self.streams))?
            }
        };
        let baseline = match (&self.judging.baseline, &config.baseline, &file) {
            (Some(path), _, _) => {
                Some(path.as_path()).filter(|path| self.accept || path.exists()).map(|path| self.named(path)).transpose()?
            }
            (None, Some(name), Some(file)) => {
                let input = ConfigFolder::of(Some(file)).file(&name.value);
                let input = input.map_err(|message| refuse(file, &[Fault::new(message, name.span)], self.streams))?;
                let loaded = self.load(&[input])?;
                if loaded.is_none() && self.accept {
                    let fault =
                        Fault::new(format!("the baseline `{}` doesn't exist; `crdwise baseline write` creates it", name.value), name.span);
                    return Err(refuse(file, &[fault], self.streams));
                }
                loaded
            }
            _ => self.look(inputs, baseline::FILE)?,
        };
        let baseline = match baseline {
            None => None,
            Some(file) => match Baseline::parse(&file.text) {
                Ok(baseline) => Some((baseline, file)),
                Err(fault) => return Err(refuse(&file, &[fault], self.streams)),
            },
        };
        Ok(LoadedConfig { config, file, baseline, own })
    }

    /// Reads the custom rules and policies named by flags, or else by the configuration.
    fn own_pages(&mut self, file: Option<&File>) -> Result<OwnPages, Stop> {
        let named = file.map(|file| config::own_directories(&file.text)).unwrap_or_default();
        let folder = ConfigFolder::of(file);
        let mut inputs = |flag: &Option<PathBuf>, list: &[config::Spanned<String>]| match (flag, file) {
            (Some(dir), _) => Ok(vec![Input::path(dir)]),
            (None, Some(file)) => {
                let directory = |name: &config::Spanned<String>| {
                    folder.directory(&name.value).map_err(|message| refuse(file, &[Fault::new(message, name.span)], self.streams))
                };
                list.iter().map(directory).collect::<Result<Vec<Input>, Stop>>()
            }
            (None, None) => Ok(Vec::new()),
        };
        let rules = inputs(&self.judging.rules, &named.rules)?;
        let policies = inputs(&self.judging.policies, &named.policies)?;
        OwnPages::read(&self.reader.loader, &rules, &policies, self.streams)
    }

    /// Reads a file that must exist.
    fn named(&self, path: &Path) -> Result<File, Stop> {
        let mut loaded = self.reader.loader.load(&[Input::path(path)]);
        let problem = loaded.problems.first().map(|problem| with_advice(problem, problem.advice()));
        match (loaded.files.pop(), problem) {
            (Some(file), None) if loaded.files.is_empty() => Ok(file),
            (_, Some(problem)) => Err(Stop::usage(problem)),
            _ => Err(Stop::usage(format!("{} is not a file", path.display()))),
        }
    }

    /// Finds the nearest file with this name next to or above an input.
    fn look(&self, inputs: &[Input], name: &str) -> Result<Option<File>, Stop> {
        let mut found: Vec<File> = Vec::new();
        let here = [Input::path(".")];
        for input in if inputs.is_empty() { &here } else { inputs } {
            if let Some(file) = self.load(&self.candidates(input, name)?)?
                && found.iter().all(|other| real(&other.origin) != real(&file.origin))
            {
                found.push(file);
            }
        }
        match found.as_slice() {
            [first, second, ..] => {
                let help = "choose one with --config, or pass inputs that share one";
                Err(Stop::usage(format!("{} and {} both apply to these inputs: {help}", first.name, second.name)))
            }
            _ => Ok(found.pop()),
        }
    }

    /// Loads the first of the candidates that exists.
    fn load(&self, candidates: &[Input]) -> Result<Option<File>, Stop> {
        let loaded = self.reader.loader.load(candidates);
        // Problems with a revision are reported when the bundle is read.
        let of_path = candidates.iter().all(|input| matches!(input.kind, InputKind::Path(_)));
        if let (true, Some(problem)) = (of_path, loaded.problems.first()) {
            return Err(Stop::usage(with_advice(problem, problem.advice())));
        }
        Ok(loaded.files.into_iter().next())
    }

    fn candidates(&self, input: &Input, name: &str) -> Result<Vec<Input>, Stop> {
        Ok(match &input.kind {
            InputKind::Path(path) => above(&self.reader.loader.dir().join(path), name)?.into_iter().map(Input::path).collect(),
            InputKind::Stdin | InputKind::Cluster { .. } => above(self.reader.loader.dir(), name)?.into_iter().map(Input::path).collect(),
            InputKind::Revision { rev, path } => {
                self.tree(path, name).map(|path| absent(InputKind::Revision { rev: rev.clone(), path }.into())).collect()
            }
            InputKind::Index { path } => self.tree(path, name).map(|path| absent(InputKind::Index { path }.into())).collect(),
        })
    }

    /// The paths of this file name in a git tree, from the given directory up to the root.
    fn tree(&self, path: &str, name: &str) -> impl Iterator<Item = String> {
        let from_here = path == "." || path == ".." || path.starts_with("./") || path.starts_with("../");
        let repository = self.reader.loader.repository().ok();
        let path = repository.filter(|_| from_here).and_then(|git| git.relative(Path::new(path)).ok()).unwrap_or_else(|| path.to_owned());
        let folders: Vec<String> = Path::new(&path).ancestors().map(|folder| folder.join(name).to_string_lossy().into_owned()).collect();
        folders.into_iter()
    }
}

/// Reads the custom rules and policies named by flags, or else by the configuration for the current directory.
pub(super) fn own_pages_for_current_dir(judging: &arguments::Judging, streams: &mut Streams<'_>) -> Result<OwnPages, Stop> {
    let reader = InputReader::new(&arguments::LimitFlags::default());
    let mut search = ConfigSearch { reader: &reader, judging, streams, accept: true };
    let file = search.look(&[], config::FILE)?;
    search.own_pages(file.as_ref())
}

/// Reports everything wrong in a configuration, rule or policy file.
pub(super) fn refuse(file: &File, faults: &[Fault], streams: &mut Streams<'_>) -> Stop {
    let mut documents = Documents::default();
    let id = documents.add_extra_file(file.clone());
    let side = Side::new("", &documents);
    for fault in faults {
        let spot = side.spot(Some(Place { file: id, span: fault.span }));
        let text = human::problem(&fault.message, None, &[spot], &documents, &streams.err_style());
        streams.raw_error(&text);
    }
    let many = if faults.len() == 1 { "a mistake".to_owned() } else { format!("{} mistakes", faults.len()) };
    Stop { exit: Exit::Usage, message: format!("{many} in {}", file.name) }
}
