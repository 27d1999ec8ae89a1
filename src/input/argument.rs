//! Parses an INPUT of the command line: a file or directory, standard input, a path at a git revision, a staged path, or a cluster.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Note;

/// The word before the colon that means a cluster; a branch of that name is `refs/heads/kube`.
const CLUSTER: &str = "kube";

/// What an INPUT refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputKind {
    /// `-`
    Stdin,
    /// A file or directory, as written.
    Path(PathBuf),
    /// `REV:path`; the path is relative to the repository root, or with `./` to the current directory, as in git.
    Revision { rev: String, path: String },
    /// `:path`, a staged file.
    Index { path: String },
    /// `kube:` and `kube:CONTEXT`, a cluster.
    Cluster { context: Option<String> },
}

/// A parsed INPUT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    pub kind: InputKind,
    /// A path that doesn't exist (yet) is an empty bundle instead of an error, as for the old side of `--against REV`.
    pub absent_is_empty: bool,
    pub(super) note: Option<Note>,
}

/// Why an INPUT is invalid. Nothing was run or read for it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InputError {
    #[error("an input argument is empty")]
    Empty,
    #[error("`{0}` is not an input: it starts with a dash")]
    LeadingDash(String),
    #[error("`{0}` contains a NUL character, which is not allowed in a path or revision")]
    Nul(String),
    #[error("`{0}` is a URL, and crdwise downloads nothing")]
    Address(String),
    #[error("`{0}` searches commit messages, which is not supported")]
    MessageSearch(String),
    #[error("`{text}` names stage {stage} of an unfinished merge")]
    MergeStage { text: String, stage: char },
    #[error("`{0}` is not a git revision")]
    NotARevision(String),
    #[error("`{0}` is not a context: it contains control characters")]
    NotAContext(String),
}

impl InputError {
    /// Advice for the user.
    pub fn advice(&self) -> String {
        match self {
            InputError::Empty => "pass a file, a directory, an archive, `-`, REV:path or kube:".to_owned(),
            InputError::LeadingDash(text) => format!("for a file of that name write `./{text}`"),
            InputError::Nul(_) | InputError::NotARevision(_) => "write REV:path, such as `main:config/crd`".to_owned(),
            InputError::Address(text) => format!("download it first, or pipe it in: `curl -fsSL {} | crdwise … -`", quoted(text)),
            InputError::MessageSearch(text) => {
                let path = text.trim_start_matches([':', '/']);
                format!("for staged content write `:{path}`")
            }
            InputError::NotAContext(_) => "`kubectl config get-contexts` lists them".to_owned(),
            InputError::MergeStage { .. } => "finish the merge first, then write `:path`".to_owned(),
        }
    }
}

impl Input {
    /// Parses an INPUT typed in the current directory.
    pub fn parse(text: &str) -> Result<Input, InputError> {
        Input::parse_in(Path::new(""), text.as_ref())
    }

    /// Parses an INPUT typed in `dir`. Text that isn't Unicode can only be a path.
    pub fn parse_in(dir: &Path, text: &OsStr) -> Result<Input, InputError> {
        let shown = text.to_string_lossy().into_owned();
        if text.as_encoded_bytes().contains(&0) {
            return Err(InputError::Nul(shown.replace('\0', "\\0")));
        }
        if shown == "-" {
            return Ok(Input::from(InputKind::Stdin));
        }
        if shown.starts_with('-') {
            return Err(InputError::LeadingDash(shown));
        }
        if shown.is_empty() {
            return Err(InputError::Empty);
        }
        let path = || InputKind::Path(PathBuf::from(text));
        let Some((rev, rest)) = text.to_str().and_then(split) else {
            return Ok(Input::from(path()));
        };
        if dir.join(text).symlink_metadata().is_ok() {
            // A file could be called `main:x`, so tell the user which of the two was read.
            let other = match rev {
                "" => format!(":0:{rest}"),
                rev => format!("{rev}^0:{rest}"),
            };
            return Ok(Input { note: Some(Note::FileNotRevision { name: shown, other }), ..Input::from(path()) });
        }
        if rev == CLUSTER {
            if rest.contains(char::is_control) {
                return Err(InputError::NotAContext(rest.escape_debug().to_string()));
            }
            return Ok(Input::from(InputKind::Cluster { context: (!rest.is_empty()).then(|| rest.to_owned()) }));
        }
        Ok(Input::from(at_revision(rev, rest, &shown)?))
    }

    pub fn is_cluster(&self) -> bool {
        matches!(self.kind, InputKind::Cluster { .. })
    }

    pub fn path(path: impl Into<PathBuf>) -> Input {
        Input::from(InputKind::Path(path.into()))
    }
}

impl From<InputKind> for Input {
    fn from(kind: InputKind) -> Input {
        Input { kind, absent_is_empty: false, note: None }
    }
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            InputKind::Stdin => f.write_str("-"),
            InputKind::Path(path) => f.write_str(&path.to_string_lossy()),
            InputKind::Revision { rev, path } => write!(f, "{}:{path}", shown_revision(rev)),
            InputKind::Index { path } => write!(f, ":{path}"),
            InputKind::Cluster { context } => write!(f, "{CLUSTER}:{}", context.as_deref().unwrap_or_default()),
        }
    }
}

/// How many digits of a commit id are enough for people and git to distinguish commits.
const SHOWN_DIGITS: usize = 12;

/// Shortens a commit id for display.
pub(super) fn shown_revision(rev: &str) -> Cow<'_, str> {
    let digits = rev.bytes().take_while(u8::is_ascii_hexdigit).count();
    let rest = rev.get(digits..).unwrap_or_default();
    // `ID~1` and `ID^` contain an id too; a branch name may start like one.
    let is_id = matches!(digits, 40 | 64) && (rest.is_empty() || rest.starts_with(['~', '^', '@']));
    match rev.get(..SHOWN_DIGITS).filter(|_| is_id) {
        Some(shown) if rest.is_empty() => shown.into(),
        Some(shown) => format!("{shown}{rest}").into(),
        None => rev.into(),
    }
}

/// Splits `REV:path`; `None` for text that can only be a path.
fn split(text: &str) -> Option<(&str, &str)> {
    // No reference starts with a dot or a separator, so `./x:y` is a way to name a file.
    let is_path = ["./", "../", "/", ".\\", "..\\", "\\"];
    if is_path.iter().any(|start| text.starts_with(start)) || has_drive(text) {
        return None;
    }
    // `HEAD^{/fix: bounds}:config` has a colon inside braces.
    let mut depth = 0usize;
    let colon = text.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b':' && depth == 0
    })?;
    Some((text.get(..colon)?, text.get(colon + 1..)?))
}

fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

fn at_revision(rev: &str, rest: &str, shown: &str) -> Result<InputKind, InputError> {
    let path = rest.to_owned();
    if rev.is_empty() {
        return match (path.as_bytes(), shown.chars().nth(1)) {
            ([b'/', ..], _) => Err(InputError::MessageSearch(shown.to_owned())),
            ([b'0', b':', staged @ ..], _) => Ok(InputKind::Index { path: String::from_utf8_lossy(staged).into_owned() }),
            ([b'1'..=b'3', b':', ..], Some(stage)) => Err(InputError::MergeStage { text: shown.to_owned(), stage }),
            _ => Ok(InputKind::Index { path }),
        };
    }
    if path.starts_with("//") {
        return Err(InputError::Address(shown.to_owned()));
    }
    if !is_revision(rev) {
        return Err(InputError::NotARevision(rev.escape_debug().to_string()));
    }
    Ok(InputKind::Revision { rev: rev.to_owned(), path })
}

/// Whether text may be passed to git as a revision: no option, no exclusion, no control characters.
pub(super) fn is_revision(rev: &str) -> bool {
    !rev.is_empty() && !rev.starts_with(['-', '^']) && !rev.contains(char::is_control)
}

/// Quotes a word for a POSIX shell.
pub(super) fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<InputKind, InputError> {
        let empty = tempfile::tempdir().unwrap();
        Input::parse_in(empty.path(), text.as_ref()).map(|input| input.kind)
    }

    #[test]
    fn a_commit_id_is_shown_with_few_digits() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(shown_revision(id), "0123456789ab");
        assert_eq!(shown_revision(&format!("{id}~1^2")), "0123456789ab~1^2");
        assert_eq!(shown_revision(&format!("{id}-fix")), format!("{id}-fix"));
        assert_eq!(shown_revision("HEAD~1"), "HEAD~1");
    }

    fn revision(rev: &str, path: &str) -> Result<InputKind, InputError> {
        Ok(InputKind::Revision { rev: rev.to_owned(), path: path.to_owned() })
    }

    fn index(path: &str) -> Result<InputKind, InputError> {
        Ok(InputKind::Index { path: path.to_owned() })
    }

    fn path(text: &str) -> Result<InputKind, InputError> {
        Ok(InputKind::Path(text.into()))
    }

    #[test]
    fn revisions() {
        assert_eq!(parse("main:config/crd"), revision("main", "config/crd"));
        assert_eq!(parse("v1.2.0:config/crd"), revision("v1.2.0", "config/crd"));
        assert_eq!(parse("HEAD~1:"), revision("HEAD~1", ""));
        assert_eq!(parse("HEAD:./crd"), revision("HEAD", "./crd"));
        assert_eq!(parse("origin/main@{1}:a:b"), revision("origin/main@{1}", "a:b"));
        assert_eq!(parse("HEAD^{/fix: x}:crd"), revision("HEAD^{/fix: x}", "crd"));
        assert_eq!(parse("main:../../etc/passwd"), revision("main", "../../etc/passwd"));
    }

    #[test]
    fn clusters() {
        let cluster = |context: Option<&str>| Ok(InputKind::Cluster { context: context.map(str::to_owned) });
        assert_eq!(parse("kube:"), cluster(None));
        assert_eq!(parse("kube:arn:aws:eks:eu-west-1:1:cluster/prod"), cluster(Some("arn:aws:eks:eu-west-1:1:cluster/prod")));
        assert_eq!(parse("kube:--kubeconfig=x"), cluster(Some("--kubeconfig=x")));
        assert!(matches!(parse("kube:a\u{1b}[2J"), Err(InputError::NotAContext(_))));
        assert_eq!(parse("refs/heads/kube:crd"), revision("refs/heads/kube", "crd"));
    }

    #[test]
    fn staged_content() {
        assert_eq!(parse(":config/crd"), index("config/crd"));
        assert_eq!(parse(":"), index(""));
        assert_eq!(parse(":0:a"), index("a"));
        assert!(matches!(parse(":2:a"), Err(InputError::MergeStage { stage: '2', .. })));
        assert!(matches!(parse(":/fix"), Err(InputError::MessageSearch(_))));
    }

    #[test]
    fn paths() {
        for text in [
            "a.yaml",
            "config/crd",
            ".",
            "..",
            r"C:\x",
            "C:/x",
            "c:/x/y.yaml",
            "./main:x",
            "../main:x",
            "/main:x",
            r".\main:x",
            r"\\host\share:x",
        ] {
            assert_eq!(parse(text), path(text), "{text}");
        }
        assert_eq!(parse("-"), Ok(InputKind::Stdin));
    }

    #[test]
    fn a_letter_is_a_drive_only_before_a_separator() {
        assert_eq!(parse("C:config"), revision("C", "config"));
    }

    #[test]
    fn refused_before_anything_runs() {
        for text in ["--output=x", "--output=x:config", "-c", "--", "--upload-pack=touch x:"] {
            assert!(matches!(parse(text), Err(InputError::LeadingDash(_))), "{text}");
        }
        assert_eq!(parse(""), Err(InputError::Empty));
        assert!(matches!(parse("a\0b"), Err(InputError::Nul(_))));
        assert!(matches!(parse("^main:x"), Err(InputError::NotARevision(_))));
        assert!(matches!(parse("ma\nin:x"), Err(InputError::NotARevision(_))));
        assert!(matches!(parse("https://x.io/crd.yaml"), Err(InputError::Address(_))));
    }

    #[test]
    fn an_ambiguous_name_is_a_file_and_noted() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("main:x.yaml"), "").unwrap();
        let input = Input::parse_in(dir.path(), "main:x.yaml".as_ref()).unwrap();
        assert_eq!(input.kind, InputKind::Path("main:x.yaml".into()));
        let note = input.note.unwrap().to_string();
        assert!(note.contains("`main:x.yaml`"), "{note}");
        assert!(note.contains("`main^0:x.yaml`"), "{note}");
    }

    #[cfg(unix)]
    #[test]
    fn text_that_is_not_unicode_is_a_path() {
        use std::os::unix::ffi::OsStrExt;
        let text = OsStr::from_bytes(b"main:\xFF.yaml");
        let input = Input::parse_in(Path::new(""), text).unwrap();
        assert_eq!(input.kind, InputKind::Path(text.into()));
        assert_eq!(input.to_string(), "main:\u{FFFD}.yaml");
        let dashed = OsStr::from_bytes(b"-\xFF");
        assert!(Input::parse_in(Path::new(""), dashed).is_err());
    }

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quoted("v1.2.0"), "v1.2.0");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("a'; rm -rf ~; '"), r"'a'\''; rm -rf ~; '\'''");
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in any::<String>()) {
            let _ = parse(&text);
        }

        #[test]
        fn colons_and_braces_never_panic(text in "[-:{}/.\\\\0-3a-cA-C~^@ \u{0}\u{7f}ä]{0,12}") {
            if let Ok(InputKind::Revision { rev, .. }) = parse(&text) {
                prop_assert!(is_revision(&rev));
            }
        }
    }
}
