//! Everything published must agree with Cargo.toml, the only place with the project's URL and version.

use std::path::{Path, PathBuf};

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
const HOMEPAGE: &str = env!("CARGO_PKG_HOMEPAGE");
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Texts that users copy from, or that a release consists of.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> =
        ["README.md", "action.yml", "pyproject.toml", ".pre-commit-hooks.yaml"].iter().map(|name| root.join(name)).collect();
    for folder in [".github", "docs", "src/cli/init"] {
        let entries = walkdir::WalkDir::new(root.join(folder)).into_iter().map(Result::unwrap);
        files.extend(entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path));
    }
    files.retain(|file| !file.extension().is_some_and(|extension| extension == "png" || extension == "pyc"));
    files
}

#[test]
fn addresses_are_those_of_the_manifest() {
    let name = REPOSITORY.strip_prefix("https://github.com/").unwrap();
    for file in files() {
        let text = read(&file);
        for placeholder in ["OWNER/", "example.com/crdwise", "example.org/crdwise"] {
            assert!(!text.contains(placeholder), "{}: {placeholder}", file.display());
        }
        for (at, _) in text.match_indices("github.com/") {
            let rest = &text[at + "github.com/".len()..];
            let is_ours = rest.split(['/', ' ', '"', ')', '\n']).nth(1).is_some_and(|second| second.starts_with("crdwise"));
            assert!(!is_ours || rest.starts_with(name), "{}: {}", file.display(), rest.lines().next().unwrap_or_default());
        }
        for (at, _) in text.match_indices(".github.io/crdwise") {
            assert!(text[..at + ".github.io/crdwise".len()].ends_with(HOMEPAGE), "{}", file.display());
        }
    }
}

#[test]
fn versions_are_those_of_the_manifest() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = read(&root.join("README.md"));
    let name = REPOSITORY.strip_prefix("https://github.com/").unwrap();
    assert!(readme.contains(&format!("uses: {name}@v{VERSION}")), "the action in the README");
    assert!(readme.contains(&format!("rev: v{VERSION}")), "the hooks in the README");
    let hooks = read(&root.join("pyproject.toml"));
    assert!(hooks.contains(&format!("version = \"{VERSION}\"")) && hooks.contains(&format!("\"crdwise=={VERSION}\"")), "{hooks}");
    assert!(read(&root.join("CHANGELOG.md")).contains(&format!("## {VERSION} (")), "the changelog has this version");
}

/// Paths in code spans that begin in the repository or in `src/`.
#[test]
fn paths_that_contributors_are_sent_to_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = read(&root.join(".github/CONTRIBUTING.md"));
    let prose = text.split("````").step_by(2).collect::<String>();
    let spans: Vec<&str> =
        prose.split('`').skip(1).step_by(2).filter(|span| span.contains('/') && !span.contains([' ', '<', '*'])).collect();
    assert!(spans.len() > 50, "{spans:?}");
    let is_example = |span: &str| ["rules/change/float-added.md", "../shared"].contains(&span);
    for span in spans.into_iter().filter(|span| !is_example(span)) {
        assert!(root.join(span).exists() || root.join("src").join(span).exists(), "{span}");
    }
}

#[test]
fn tests_that_contributors_read_about_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = read(&root.join(".github/CONTRIBUTING.md"));
    let is_test = |span: &&str| span.matches('_').count() > 1 && span.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let prose = text.split("````").step_by(2).collect::<String>();
    let named: Vec<&str> = prose.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() > 3, "{named:?}");
    let files = ["src", "tests"].into_iter().flat_map(|dir| walkdir::WalkDir::new(root.join(dir)).into_iter().flatten());
    let sources: Vec<String> =
        files.filter(|file| file.path().extension().is_some_and(|ext| ext == "rs")).map(|file| read(file.path())).collect();
    for name in named {
        assert!(sources.iter().any(|source| source.contains(&format!("fn {name}("))), "there is no test `{name}`");
    }
}
