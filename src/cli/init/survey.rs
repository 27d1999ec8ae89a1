//! Looks at the repository before `crdwise init` writes: where the CRDs are, who hosts it, and which hooks and workflows exist.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::cli::input::names_a_crd;
use crate::find::conversion::plan;
use crate::input::is_manifest;

/// The usual place for CRDs, for a repository that has none yet.
const USUAL: &str = "config/crd";
/// Limits on directory entries and file sizes: enough for a guess that the user can correct.
const ENTRIES: usize = 20_000;
const HEAD_BYTES: u64 = 64 << 10;
/// Directories with the CRDs of other projects, or with examples.
const FOREIGN: [&str; 6] = ["node_modules", "vendor", "target", "testdata", "third_party", "examples"];
/// Files of other hook managers.
const OTHER_HOOKS: [&str; 4] = ["lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".husky"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hosting {
    GitHub,
    GitLab,
    Unknown,
}

#[derive(Debug)]
pub struct Survey {
    /// The directory to review, relative to the repository root.
    pub crds: String,
    /// How many files with CRDs it contains; 0 if none was found and `crds` is a guess.
    pub files: usize,
    /// Other directories with CRDs, largest first.
    pub others: Vec<(String, usize)>,
    pub hosting: Hosting,
    /// How the hosting platform was recognised.
    pub hosting_from: &'static str,
    /// A file that already runs crdwise in CI.
    pub workflow: Option<String>,
    /// A file of another hook manager.
    pub other_hooks: Option<&'static str>,
    /// Keys that declare the bundle's version.
    pub version_keys: BTreeSet<String>,
    pub channels: BTreeSet<String>,
}

impl Survey {
    pub fn of(root: &Path) -> Survey {
        let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
        let (mut version_keys, mut channels) = (BTreeSet::new(), BTreeSet::new());
        for file in manifests(root) {
            let is_own = |text: &String| names_a_crd(text) && !text.starts_with(plan::FILE_HEADER);
            let Some(text) = head(&file).filter(is_own) else { continue };
            if let Some(folder) = file.parent().and_then(|folder| folder.strip_prefix(root).ok()) {
                *counts.entry(folder.to_owned()).or_default() += 1;
            }
            for (key, value) in text.lines().filter_map(|line| line.trim().split_once(": ")) {
                if key.ends_with("/bundle-version") {
                    version_keys.insert(key.to_owned());
                } else if key.ends_with("/channel") {
                    channels.insert(value.trim_matches(['"', '\'']).to_owned());
                }
            }
        }
        let mut folders: Vec<(String, usize)> = counts.iter().filter_map(|(folder, count)| Some((plain(folder)?, *count))).collect();
        folders.sort_by(|(a, one), (b, other)| other.cmp(one).then_with(|| a.cmp(b)));
        let mut folders = folders.into_iter();
        let (crds, files) = folders.next().unwrap_or((USUAL.to_owned(), 0));
        let (hosting, hosting_from) = hosting(root);
        Survey {
            crds,
            files,
            others: folders.collect(),
            hosting,
            hosting_from,
            workflow: workflow(root),
            other_hooks: OTHER_HOOKS.into_iter().find(|name| root.join(name).exists()),
            version_keys,
            channels,
        }
    }
}

fn manifests(root: &Path) -> impl Iterator<Item = PathBuf> {
    let is_own = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !(name.starts_with('.') || FOREIGN.contains(&&*name))
    };
    let entries = WalkDir::new(root).max_depth(8).into_iter().filter_entry(is_own).take(ENTRIES).filter_map(Result::ok);
    entries
        .filter(|entry| entry.file_type().is_file() && is_manifest(&entry.file_name().to_string_lossy()))
        .map(walkdir::DirEntry::into_path)
}

/// The path for a workflow file: only characters without a special meaning in YAML, the shell and GitHub expressions.
fn plain(folder: &Path) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    match folder.to_str()? {
        "" => Some(".".to_owned()),
        folder if folder.chars().all(is_plain) && !folder.starts_with('-') => Some(folder.to_owned()),
        _ => None,
    }
}

/// Assumes GitHub if nothing is known, because its workflow file does no harm elsewhere.
fn hosting(root: &Path) -> (Hosting, &'static str) {
    let remotes = head(&root.join(".git/config")).unwrap_or_default();
    let mut addresses = remotes.lines().filter_map(|line| line.trim().strip_prefix("url = "));
    if root.join(".gitlab-ci.yml").exists() {
        (Hosting::GitLab, "it has a .gitlab-ci.yml")
    } else if root.join(".github").is_dir() {
        (Hosting::GitHub, "it has a .github directory")
    } else if addresses.clone().any(|address| address.contains("gitlab")) {
        (Hosting::GitLab, "from the address of a git remote")
    } else if addresses.any(|address| address.contains("github")) {
        (Hosting::GitHub, "from the address of a git remote")
    } else {
        (Hosting::Unknown, "no git remote names the host")
    }
}

fn workflow(root: &Path) -> Option<String> {
    let entries = std::fs::read_dir(root.join(".github/workflows")).into_iter().flatten().take(ENTRIES).filter_map(Result::ok);
    let names = entries.map(|entry| format!(".github/workflows/{}", entry.file_name().to_string_lossy()));
    // GitHub runs only these; an interrupted run may have left other files.
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".yml") || name.ends_with(".yaml")).collect();
    names.push(".gitlab-ci.yml".to_owned());
    names.sort();
    names.into_iter().find(|name| head(&root.join(name)).is_some_and(|text| text.contains("crdwise")))
}

/// The beginning of a file; `None` if it can't be read.
fn head(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
