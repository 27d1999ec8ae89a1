//! `crdwise git-diff-driver`: shows API changes between two versions of a file, called by git as an external diff.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use crate::input::yaml::YamlBudget;
use crate::input::{File, Input, Limits, Origin, load, unified_diff};
use crate::judge::policy::{self, Policy};
use crate::judge::review::{self, Judgement, Side};
use crate::judge::rule::Book;
use crate::model::Documents;
use crate::render::{brief, visible};

use super::input::names_a_crd;
use super::{Exit, Stop, Streams};

const SETUP: &str = "\
Git can show API changes instead of YAML lines. Configure it once for yourself:

  git config diff.crdwise.command 'crdwise git-diff-driver'

and once for everyone, in .gitattributes:

  config/crd/** diff=crdwise

`git diff` then uses it, and so do `git log -p --ext-diff` and `git show --ext-diff`.
";

/// Git passes `path old-file old-hex old-mode new-file new-hex new-mode`, and two more for a renamed file; a path alone is
/// unmerged.
pub(super) fn diff(arguments: &[OsString], streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let (path, old, new) = match arguments {
        [] => {
            streams.write(SETUP)?;
            return Ok(Exit::Clean);
        }
        [path] => {
            streams.write(&format!("* Unmerged path {}\n", visible(&path.to_string_lossy())))?;
            return Ok(Exit::Clean);
        }
        [path, old, _, _, new, _, _, ..] => (path.to_string_lossy(), old, new),
        _ => return Err(Stop::usage(format!("git passes 7 or 9 arguments to a diff driver, but there are {}\n{SETUP}", arguments.len()))),
    };
    let shown = visible(&path).into_owned();
    let mut out = format!("diff --crdwise a/{shown} b/{shown}\n");
    match (side(old), side(new)) {
        (Ok(old), Ok(new)) => out.push_str(&changes(&old, &new, &shown, streams.out_style().color)),
        // Git aborts if a driver fails, so an unreadable file is reported and skipped.
        (old, new) => {
            for problem in [old.err(), new.err()].into_iter().flatten() {
                let _ = writeln!(out, " {}", visible(&problem));
            }
        }
    }
    streams.write(&out)?;
    Ok(Exit::Clean)
}

fn changes(old: &str, new: &str, path: &str, color: bool) -> String {
    let documents = |text: &str| Documents::parse(vec![File::new(path, text, Origin::Stdin)], &YamlBudget::default());
    let lines = || plain(old, new, path);
    if !names_a_crd(old) && !names_a_crd(new) {
        return lines();
    }
    let (old_documents, new_documents) = (documents(old), documents(new));
    let (old_side, new_side) = (Side::new("old", &old_documents), Side::new("new", &new_documents));
    let sound = old_side.bundle.problems.is_empty() && new_side.bundle.problems.is_empty();
    let any = !old_side.bundle.crds.is_empty() || !new_side.bundle.crds.is_empty();
    match Policy::find(policy::DEFAULT) {
        Some(policy) if sound && any => {
            brief::render(&review::review(&old_side, &new_side, &Judgement::new(Book::builtin(), &policy)), color)
        }
        _ => lines(),
    }
}

/// The text of one side; git passes `/dev/null` for a missing side.
fn side(file: &OsString) -> Result<String, String> {
    if Path::new(file) == Path::new("/dev/null") {
        return Ok(String::new());
    }
    let loaded = load(&[Input::path(file)], &Limits::default());
    match (loaded.files.first(), loaded.problems.first()) {
        (Some(file), None) => Ok(file.text.to_string()),
        (_, Some(problem)) => Err(problem.to_string()),
        (None, None) => Err("a side could not be read".to_owned()),
    }
}

/// The plain diff, for files that aren't CRDs or can't be parsed.
fn plain(old: &str, new: &str, path: &str) -> String {
    unified_diff(old, new, path).lines().map(|line| format!("{}\n", visible(line))).collect()
}
