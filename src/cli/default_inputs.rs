//! The defaults of `crdwise review` and `crdwise lint` without inputs: the CRDs of this repository, compared with HEAD or the merge
//! base.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli::arguments;
use crate::input::{GitError, Repository, repo_root};

use super::config::folder::relative_to_current_dir;
use super::init::Survey;
use super::sides::unread_git;
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
        let repository = Repository::around(&root).map_err(unread_git)?;
        if repository.resolve("HEAD").is_err_and(|error| matches!(error, GitError::UnknownRevision { .. })) {
            let help = "`crdwise lint` checks the CRDs as they are";
            return Err(Stop { exit: Exit::Unread, message: format!("there is no commit yet to compare with\n  help: {help}") });
        }
        let base = Base::from_environment(|name| std::env::var(name).ok()).or_default_branch(&repository);
        arguments.sides.merge_base = matches!(base, Base::Target(_));
        arguments.sides.base_is_unknown = base == Base::Unknown;
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
    /// The merge base with this branch or commit, the target of a pull request.
    Target(String),
    Commit(String),
    /// A CI job that doesn't say what it builds.
    Unknown,
    Head,
}

/// How a variable of a CI service names the base.
enum Named {
    /// A branch of the remote.
    Branch,
    /// A commit of the target branch.
    Target,
    /// The base itself.
    Commit,
}

/// The variables with the base of a pull request. Some services also set them for other jobs; the last column names a variable
/// that only a pull request has.
const VARIABLES: &[(&str, Named, Option<&str>)] = &[
    ("GITHUB_BASE_REF", Named::Branch, None),
    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", Named::Commit, None),
    // Prow
    ("PULL_BASE_SHA", Named::Target, Some("PULL_NUMBER")),
    // Jenkins
    ("CHANGE_TARGET", Named::Branch, None),
    ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", Named::Branch, None),
    // Azure Pipelines
    ("SYSTEM_PULLREQUEST_TARGETBRANCH", Named::Branch, None),
    ("BITBUCKET_PR_DESTINATION_BRANCH", Named::Branch, None),
    ("DRONE_TARGET_BRANCH", Named::Branch, Some("DRONE_PULL_REQUEST")),
    ("TRAVIS_BRANCH", Named::Branch, Some("TRAVIS_PULL_REQUEST")),
];

/// Variables that tell that this is a CI job.
const CI: &[&str] = &["CI", "PROW_JOB_ID", "JENKINS_URL", "TF_BUILD"];

/// The default branch of the remote.
const DEFAULT_BRANCH: &str = "origin/HEAD";

impl Base {
    /// Reads the target of a pull request from the environment of a CI job.
    fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Base {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty() && value != "false");
        let base = |(name, named, only_with): &(&str, Named, Option<&str>)| {
            let value = given(name).filter(|_| only_with.is_none_or(|other| given(other).is_some()))?;
            Some(match named {
                Named::Branch => Base::Target(format!("origin/{}", value.strip_prefix("refs/heads/").unwrap_or(&value))),
                Named::Target => Base::Target(value),
                Named::Commit => Base::Commit(value),
            })
        };
        let is_job = || CI.iter().any(|name| given(name).is_some());
        VARIABLES.iter().find_map(base).unwrap_or_else(|| if is_job() { Base::Unknown } else { Base::Head })
    }

    /// For a job that doesn't say what it builds: the default branch, if the job is on another one.
    fn or_default_branch(self, repository: &Repository) -> Base {
        let head = || repository.resolve("HEAD").ok();
        let is_on_branch = || repository.merge_base(DEFAULT_BRANCH, "HEAD").is_ok_and(|base| head().is_some_and(|head| head.id != base.id));
        if self == Base::Unknown && is_on_branch() { Base::Target(DEFAULT_BRANCH.to_owned()) } else { self }
    }

    fn revision(self) -> String {
        match self {
            Base::Target(rev) | Base::Commit(rev) => rev,
            Base::Unknown | Base::Head => "HEAD".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(set: &[(&str, &str)]) -> Base {
        Base::from_environment(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_base_of_a_pull_request() {
        let main = || Base::Target("origin/main".to_owned());
        assert_eq!(base(&[("GITHUB_BASE_REF", "main"), ("CI", "true")]), main());
        assert_eq!(base(&[("GITHUB_BASE_REF", "")]), Base::Head);
        assert_eq!(base(&[("CI_MERGE_REQUEST_DIFF_BASE_SHA", "0123abc")]), Base::Commit("0123abc".to_owned()));
        assert_eq!(base(&[("PULL_BASE_SHA", "0123abc"), ("PULL_NUMBER", "7")]), Base::Target("0123abc".to_owned()));
        assert_eq!(base(&[("CHANGE_TARGET", "main")]), main());
        assert_eq!(base(&[("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main")]), main());
        assert_eq!(base(&[("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")]), main());
        assert_eq!(base(&[("BITBUCKET_PR_DESTINATION_BRANCH", "main")]), main());
        assert_eq!(base(&[("DRONE_TARGET_BRANCH", "main"), ("DRONE_PULL_REQUEST", "7")]), main());
        assert_eq!(base(&[("TRAVIS_BRANCH", "main"), ("TRAVIS_PULL_REQUEST", "7")]), main());
        assert_eq!(base(&[("HOME", "/root")]), Base::Head);
    }

    #[test]
    fn a_job_without_a_pull_request_has_no_known_base() {
        assert_eq!(base(&[("TRAVIS_BRANCH", "main"), ("TRAVIS_PULL_REQUEST", "false"), ("CI", "true")]), Base::Unknown);
        assert_eq!(base(&[("CI", "true"), ("CIRCLECI", "true")]), Base::Unknown);
        assert_eq!(base(&[("TF_BUILD", "True")]), Base::Unknown);
        assert_eq!(base(&[("CI", "false")]), Base::Head);
    }
}
