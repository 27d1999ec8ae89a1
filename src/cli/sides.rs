//! Finds the two bundles that a review compares: two inputs, the same paths at a revision, a merge base or a tag, or the staged
//! files.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use crate::cli::arguments;
use crate::input::{Against, AgainstError, File, GitError, Input, InputKind, Origin, Repository, StagedChange, against, same_paths};
use crate::judge::review::StatedVersion;
use crate::model::semantic_version;

use super::config::folder::absent;
use super::input::{InputReader, Read, Unparsed, label, names_a_crd, with_advice};
use super::{Exit, Stop};

pub(super) struct InputSides {
    pub old: Read,
    pub new: Read,
    /// The revision of the old side, unless that is itself a release.
    pub base: Option<String>,
}

/// The result of `--staged`.
pub(super) enum StagedSides {
    /// No staged change affects a CRD.
    Nothing,
    Sides(Box<InputSides>),
}

/// The old side, before it is read.
struct OldSide {
    inputs: Vec<Input>,
    label: String,
    version: Option<StatedVersion>,
    base: Option<String>,
    is_release: bool,
}

impl OldSide {
    fn new(inputs: Vec<Input>, label: String, version: Option<StatedVersion>) -> Self {
        // Comparing with a tagged version means comparing with a release, so no base is needed.
        let base = match inputs.first().map(|input| &input.kind) {
            Some(InputKind::Revision { rev, .. }) if version.is_none() => Some(rev.clone()),
            _ => None,
        };
        OldSide { inputs, label, version, base, is_release: false }
    }
}

impl InputReader {
    pub fn sides(&self, arguments: &arguments::Review) -> Result<InputSides, Stop> {
        let (old_version, new_version) = arguments.sides.versions.read()?;
        let (old, new) = match (self.named_old(arguments)?, arguments.sides.inputs.as_slice()) {
            (Some(old), inputs) => (old, inputs),
            (None, [old, new]) => {
                let inputs = absent_at_revision(self.parse(std::slice::from_ref(old))?);
                let version = self.tag(&inputs);
                (OldSide::new(inputs, old.to_string_lossy().into_owned(), version), std::slice::from_ref(new))
            }
            (None, inputs) => {
                let help = "pass OLD and NEW, or NEW with --against REV";
                return Err(Stop::usage(format!("review needs two inputs, {} given: {help}", inputs.len())));
            }
        };
        let new_inputs = absent_at_revision(self.parse(new)?);
        let new_version = new_version.or_else(|| self.tag(&new_inputs));
        let OldSide { inputs, label: old_label, version, base, is_release } = old;
        let (before, after) = rayon::join(|| self.loader.load_bundle(&inputs), || self.loader.load_bundle(&new_inputs));
        if arguments.sides.base_is_unknown && has_same_texts(&before.files, &after.files) {
            let help = "pass --against with the target branch and --merge-base, or --against HEAD~1";
            return Err(Stop::usage(format!("this CI job doesn't name the base of the change, and HEAD has the same CRDs: {help}")));
        }
        let (mut old, new) = self.parse_both_sides(
            Unparsed { source: old_label, inputs, loaded: before, version: old_version.or(version) },
            Unparsed { source: label(new), inputs: new_inputs, loaded: after, version: new_version },
        );
        old.is_release = is_release;
        Ok(InputSides { old, new, base })
    }

    /// The old side that a flag names, if any.
    fn named_old(&self, arguments: &arguments::Review) -> Result<Option<OldSide>, Stop> {
        if let Some(pattern) = &arguments.sides.against_tag {
            let new = self.parse(&arguments.sides.inputs)?;
            let tag = self.repository()?.newest_tag(pattern, revision(&new)).map_err(unread_git)?;
            // Use the full name, because a branch may have the same name as the tag.
            let Against { inputs, .. } = same_paths(&self.loader, &format!("refs/tags/{}", tag.name), &new).map_err(unread)?;
            let version = tag.version.map(StatedVersion::Tag);
            return Ok(Some(OldSide { is_release: true, base: None, ..OldSide::new(inputs, tag.name, version) }));
        }
        let Some(target) = &arguments.sides.against else { return Ok(None) };
        let new = self.parse(&arguments.sides.inputs)?;
        if arguments.sides.merge_base {
            return self.merge_base(target, &new).map(Some);
        }
        let Against { inputs, .. } = against(&self.loader, target, &new).map_err(unread)?;
        let version = self.tag(&inputs);
        Ok(Some(OldSide::new(inputs, target.to_string_lossy().into_owned(), version)))
    }

    fn merge_base(&self, target: &OsStr, new: &[Input]) -> Result<OldSide, Stop> {
        let name = target.to_str().ok_or_else(|| Stop::usage("--merge-base needs a revision"))?;
        let base = self.repository()?.merge_base(name, revision(new)).map_err(unread_git)?;
        let Against { inputs, .. } = same_paths(&self.loader, &base.id, new).map_err(unread)?;
        let short: String = base.id.chars().take(12).collect();
        Ok(OldSide::new(inputs, format!("{name} at its merge base {short}"), None))
    }

    /// Compares the index with HEAD.
    pub fn staged(&self, arguments: &arguments::Review) -> Result<StagedSides, Stop> {
        let (old_version, new_version) = arguments.sides.versions.read()?;
        let repository = self.repository()?;
        let within = paths(repository, &self.parse(&arguments.sides.inputs)?)?;
        let is_within = |path: &str| within.is_empty() || within.iter().any(|dir| contains(dir, path));
        let mut changed = repository.changed_paths().map_err(unread_git)?;
        changed.retain(|staged| crate::input::is_manifest(&staged.path) && is_within(&staged.path));
        if changed.is_empty() {
            return Ok(StagedSides::Nothing);
        }
        let born = repository.resolve("HEAD").is_ok();
        let head = born.then(|| "HEAD".to_owned());
        let at = |path: &String, head: bool| {
            let path = path.clone();
            Input::from(if head { InputKind::Revision { rev: "HEAD".to_owned(), path } } else { InputKind::Index { path } })
        };
        if !within.is_empty() {
            // A bundle is always judged as a whole.
            let side = |head: bool| within.iter().map(move |path| absent(at(path, head))).collect::<Vec<_>>();
            let (old_inputs, new_inputs) = (if born { side(true) } else { Vec::new() }, side(false));
            let old = self.loader.load_bundle(&old_inputs);
            let new = self.loader.load_bundle(&new_inputs);
            let name = label(&arguments.sides.inputs);
            let (old, new) = self.parse_both_sides(
                Unparsed { source: format!("HEAD:{name}"), inputs: old_inputs, loaded: old, version: old_version },
                Unparsed { source: format!(":{name}"), inputs: new_inputs, loaded: new, version: new_version },
            );
            return Ok(StagedSides::Sides(Box::new(InputSides { old, new, base: head })));
        }
        let of = |change: StagedChange, head: bool| {
            let list = changed.iter().filter(move |staged| staged.change != change);
            list.map(|staged| at(&staged.path, head)).collect::<Vec<_>>()
        };
        let old_inputs = if born { of(StagedChange::Added, true) } else { Vec::new() };
        let new_inputs = of(StagedChange::Deleted, false);
        let mut old = self.loader.load_bundle(&old_inputs);
        let mut new = self.loader.load_bundle(&new_inputs);
        // Keep both sides of a file if either contains a CRD, because a change may add or remove it.
        let mut about = BTreeSet::new();
        about.extend(old.files.iter().chain(&new.files).filter(|file| names_a_crd(&file.text)).filter_map(in_tree));
        let is_about = |file: &File| in_tree(file).is_some_and(|path| about.contains(&path));
        old.files.retain(is_about);
        new.files.retain(is_about);
        let unread = !old.problems.is_empty() || !new.problems.is_empty();
        if about.is_empty() && !unread {
            return Ok(StagedSides::Nothing);
        }
        let (old, new) = self.parse_both_sides(
            Unparsed { source: "HEAD".to_owned(), inputs: old_inputs, loaded: old, version: old_version },
            Unparsed { source: "the index".to_owned(), inputs: new_inputs, loaded: new, version: new_version },
        );
        Ok(StagedSides::Sides(Box::new(InputSides { old, new, base: head })))
    }

    /// The version in the name of a revision: `v1.2.0:config/crd`.
    fn tag(&self, inputs: &[Input]) -> Option<StatedVersion> {
        match &inputs.first()?.kind {
            InputKind::Revision { rev, .. } => self.loader.repository().ok()?.tag_of(rev).ok()??.version.map(StatedVersion::Tag),
            _ => None,
        }
    }

    fn repository(&self) -> Result<&Repository, Stop> {
        self.loader.repository().map_err(unread_git)
    }
}

/// Whether two lists of files have the same contents.
fn has_same_texts(old: &[File], new: &[File]) -> bool {
    fn texts(files: &[File]) -> Vec<&str> {
        let mut texts: Vec<&str> = files.iter().map(|file| &*file.text).collect();
        texts.sort_unstable();
        texts
    }
    texts(old) == texts(new)
}

/// Marks paths that may be missing at a revision as empty bundles: the first CRD of a project, or the last one.
fn absent_at_revision(inputs: Vec<Input>) -> Vec<Input> {
    let at_revision = |input: &Input| matches!(input.kind, InputKind::Revision { .. });
    inputs.into_iter().map(|input| if at_revision(&input) { absent(input) } else { input }).collect()
}

fn in_tree(file: &File) -> Option<String> {
    match &file.origin {
        Origin::Git { path, .. } | Origin::Index { path } => Some(path.clone()),
        Origin::Path(_) | Origin::Stdin | Origin::Archive { .. } | Origin::Cluster | Origin::Rendered { .. } => None,
    }
}

/// The inputs of `--staged` as paths from the repository root.
fn paths(repository: &Repository, inputs: &[Input]) -> Result<Vec<String>, Stop> {
    let path = |input: &Input| match &input.kind {
        InputKind::Path(path) => repository.relative(path).map_err(unread_git),
        InputKind::Index { path } => Ok(path.clone()),
        _ => Err(Stop::usage("--staged takes only paths: it compares their staged content with HEAD")),
    };
    inputs.iter().map(path).collect()
}

/// Whether a path equals a directory or is inside it; the repository root is the empty string.
fn contains(dir: &str, path: &str) -> bool {
    dir.is_empty() || path.strip_prefix(dir.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl arguments::Versions {
    pub(super) fn read(&self) -> Result<(Option<StatedVersion>, Option<StatedVersion>), Stop> {
        let given = |text: &Option<String>, flag: &str| match text {
            None => Ok(None),
            Some(text) => {
                let version = semantic_version::parse(text).map(|version| Some(StatedVersion::Flag(version)));
                version.ok_or_else(|| Stop::usage(format!("{flag}: `{text}` is not a semantic version")))
            }
        };
        Ok((given(&self.old_version, "--old-version")?, given(&self.new_version, "--new-version")?))
    }
}

/// The revision of the new inputs.
fn revision(inputs: &[Input]) -> &str {
    match inputs.first().map(|input| &input.kind) {
        Some(InputKind::Revision { rev, .. }) => rev,
        _ => "HEAD",
    }
}

pub(super) fn unread(error: AgainstError) -> Stop {
    let exit = if matches!(error, AgainstError::Input(_)) { Exit::Usage } else { Exit::Unread };
    Stop { exit, message: with_advice(&error, error.advice()) }
}

pub(super) fn unread_git(error: GitError) -> Stop {
    Stop { exit: Exit::Unread, message: with_advice(&error, error.advice()) }
}
