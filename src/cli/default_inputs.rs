//! The defaults of `crdwise review` and `crdwise lint` without inputs: the CRDs of this repository, compared with HEAD or the merge
//! base.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli::arguments;
use crate::input::repo_root;

use super::config::folder::relative_to_current_dir;
use super::init::Survey;
use super::{Exit, Stop, Streams};

/// Fills in the inputs of a `crdwise review` without any.
pub(super) fn review(mut arguments: arguments::Review, streams: &mut Streams<'_>) -> Result<arguments::Review, Stop> {
    if !arguments.sides.inputs.is_empty() || arguments.staged {
        return Ok(arguments);
    }
    let root = repo_root(Path::new("")).map_err(|_| Stop::usage("not in a git repository: pass OLD and NEW, or NEW with --against REV"))?;
    let (inputs, shown) = directories(&root)?;
    arguments.sides.inputs = inputs;
    if arguments.upgrade.is_some() {
        return Ok(arguments);
    }
    if arguments.sides.against.is_none() && arguments.sides.against_tag.is_none() {
        let base = Base::from_environment(|name| std::env::var(name).ok());
        arguments.sides.merge_base = matches!(base, Base::Branch(_));
        arguments.sides.against = Some(base.revision().into());
    }
    let against = arguments.sides.against.as_ref().map(|rev| rev.to_string_lossy().into_owned());
    let against = against.or_else(|| arguments.sides.against_tag.clone()).unwrap_or_default();
    streams.note(&format!("reviewing {shown} against {against}"));
    Ok(arguments)
}

/// Fills in the inputs of a `crdwise lint` without any.
pub(super) fn lint(mut arguments: arguments::Lint, streams: &mut Streams<'_>) -> Result<arguments::Lint, Stop> {
    if arguments.inputs.is_empty() {
        let root = repo_root(Path::new("")).or_else(|_| std::env::current_dir())?;
        let (inputs, shown) = directories(&root)?;
        arguments.inputs = inputs;
        streams.note(&format!("checking {shown}"));
    }
    Ok(arguments)
}

/// Every directory with CRDs in this repository, or in the current directory; empty if there are none.
pub(super) fn crds() -> Vec<OsString> {
    let root = repo_root(Path::new("")).or_else(|_| std::env::current_dir());
    root.ok().and_then(|root| directories(&root).ok()).map(|(inputs, _)| inputs).unwrap_or_default()
}

/// Every directory with CRDs, and a description for the note.
fn directories(root: &Path) -> Result<(Vec<OsString>, String), Stop> {
    let survey = Survey::of(root);
    if survey.files == 0 {
        let message = "no CRD was found in this repository\n  help: pass the files or directories that contain them".to_owned();
        return Err(Stop { exit: Exit::Unread, message });
    }
    let folders: Vec<String> = std::iter::once(survey.crds).chain(survey.others.into_iter().map(|(folder, _)| folder)).collect();
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let here = |folder: &String| -> PathBuf {
        let path = relative_to_current_dir(&real.join(folder));
        if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
    };
    Ok((folders.iter().map(|folder| here(folder).into()).collect(), folders.join(", ")))
}

/// The base to compare a change in this repository with.
#[derive(Debug, PartialEq, Eq)]
enum Base {
    /// The merge base with the target of a pull request.
    Branch(String),
    Commit(String),
    Head,
}

impl Base {
    /// Reads the target of a pull request from the environment of a GitHub or GitLab job.
    fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Base {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let branch = given("GITHUB_BASE_REF").map(|branch| Base::Branch(format!("origin/{branch}")));
        let commit = || given("CI_MERGE_REQUEST_DIFF_BASE_SHA").map(Base::Commit);
        branch.or_else(commit).unwrap_or(Base::Head)
    }

    fn revision(self) -> String {
        match self {
            Base::Branch(rev) | Base::Commit(rev) => rev,
            Base::Head => "HEAD".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_of_a_pull_request() {
        let base = |set: &'static str, value: &'static str| Base::from_environment(move |name| (name == set).then(|| value.to_owned()));
        assert_eq!(base("GITHUB_BASE_REF", "main"), Base::Branch("origin/main".to_owned()));
        assert_eq!(base("GITHUB_BASE_REF", ""), Base::Head);
        assert_eq!(base("CI_MERGE_REQUEST_DIFF_BASE_SHA", "0123abc"), Base::Commit("0123abc".to_owned()));
        assert_eq!(base("HOME", "/root"), Base::Head);
    }
}
