//! `crdwise init`: a configuration, a workflow and hooks for the repository around, made once. What is there stays as it is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::input::{is_manifest, repo_root};

use super::input::names_a_crd;
use super::{Exit, Stop, Streams};

const FILES: [(&str, &str); 3] = [
    ("crdwise.yaml", include_str!("init/crdwise.yaml")),
    (".github/workflows/crdwise.yml", include_str!("init/workflow.yml")),
    (".pre-commit-config.yaml", include_str!("init/pre-commit.yaml")),
];

/// Where CRDs are expected in a repository that has none yet.
const USUAL: &str = "config/crd";
/// Entries that are looked at, and bytes of a file, to find out where the CRDs are: a guess that the user can mend.
const ENTRIES: usize = 20_000;
const HEAD_BYTES: u64 = 64 << 10;
/// Places in which the CRDs of others stand.
const FOREIGN: [&str; 6] = ["node_modules", "vendor", "target", "testdata", "third_party", "examples"];

pub(super) fn init(streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let here = std::env::current_dir()?;
    let root = repo_root(Path::new("")).unwrap_or(here);
    let crds = crds(&root);
    let mut out = String::new();
    let mut exit = Exit::Clean;
    for (name, template) in FILES {
        let text = template.replace("@CRDS@", &crds).replace("@VERSION@", env!("CARGO_PKG_VERSION"));
        match create(&root.join(name), &text) {
            Ok(()) => {
                let _ = writeln!(out, "wrote  {name}");
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let _ = writeln!(out, "left   {name}: it is there already");
                if name == ".pre-commit-config.yaml" {
                    let hooks: String = text.lines().skip(1).map(|line| format!("    {line}\n")).collect();
                    let _ = write!(out, "       for the hooks, add under its `repos:`\n{hooks}");
                }
            }
            Err(error) => {
                streams.error(&format!("can't write {name}: {error}"));
                exit = Exit::Internal;
            }
        }
    }
    let _ = writeln!(
        out,
        "\nThe workflow reviews {crds}; `crdwise review {crds} --against HEAD` shows what you have changed since the last commit."
    );
    streams.write(&out)?;
    Ok(exit)
}

fn create(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut made = std::fs::File::create_new(file)?;
    made.write_all(text.as_bytes())
}

/// The folder with the most files that name a CRD.
fn crds(root: &Path) -> String {
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let is_own = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !(name.starts_with('.') || FOREIGN.contains(&&*name))
    };
    let entries = WalkDir::new(root).max_depth(8).into_iter().filter_entry(is_own).take(ENTRIES).filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_type().is_file() && is_manifest(&entry.file_name().to_string_lossy())) {
        if let (Some(text), Some(folder)) = (head(entry.path()), entry.path().parent().and_then(|folder| folder.strip_prefix(root).ok()))
            && names_a_crd(&text)
        {
            *counts.entry(folder.to_owned()).or_default() += 1;
        }
    }
    let most = counts.iter().max_by(|(a, one), (b, other)| one.cmp(other).then_with(|| b.cmp(a))).map(|(folder, _)| folder);
    let folder = most.and_then(|folder| folder.to_str()).unwrap_or(USUAL);
    // It stands in a workflow: only what means nothing there, to YAML, to the shell or to GitHub's expressions.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    match folder {
        "" => ".".to_owned(),
        folder if folder.chars().all(plain) && !folder.starts_with('-') => folder.to_owned(),
        _ => USUAL.to_owned(),
    }
}

fn head(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::Config;
    use crate::judge::rule::Book;

    #[test]
    fn the_configuration_is_valid_with_and_without_its_examples() {
        let (_, text) = FILES[0];
        assert!(Config::parse(text, Book::builtin()).is_ok());
        // A comment has one space behind its sign, an example none or more.
        let is_example = |line: &str| line.starts_with('#') && (!line.starts_with("# ") || line.starts_with("#  "));
        let shown: String = text.lines().map(|line| format!("{}\n", if is_example(line) { &line[1..] } else { line })).collect();
        assert!(shown.contains("\nwaivers:\n"));
        if let Err(faults) = Config::parse(&shown, Book::builtin()) {
            panic!("{faults:?}\n{shown}");
        }
    }
}
