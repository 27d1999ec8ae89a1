//! Loads the inputs named on the command line.
//!
//! Inputs are files, directories, archives, `-`, `REV:path` and `:path` of the surrounding git repository, and clusters, as
//! [`Input`]s. The result is [`Loaded`]: the text of every manifest found, in an order that depends only on names, and everything
//! that wasn't read: *skipped*, if it can't be part of a bundle, and *problems* otherwise.
//!
//! ```no_run
//! use crdwise::{Input, Limits, load};
//!
//! let inputs = [Input::parse("main:config/crd")?];
//! let loaded = load(&inputs, &Limits::default());
//! for file in &loaded.files {
//!     println!("{} {} bytes", file.name, file.text.len());
//! }
//! for problem in &loaded.problems {
//!     eprintln!("{problem}");
//! }
//! # Ok::<(), crdwise::InputError>(())
//! ```

mod against;
mod archive;
mod argument;
mod decode;
mod directory;
pub mod generated;
mod git;
pub mod glob;
pub mod helm_template;
pub mod json_schema_check;
mod kubectl;
mod kustomization;
mod limits;
mod line_diff;
mod load_queue;
mod loader;
mod place;
mod problem;
pub(crate) mod program;
mod read;
mod rendered;
mod shorten;
mod text;
pub mod yaml;

#[cfg(any(test, fuzzing))]
pub(crate) mod any_bytes;
#[cfg(test)]
mod scratch;
#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use memchr::memmem;

pub use against::{Against, AgainstError, against, same_paths};
use argument::shown_revision;
pub use argument::{Input, InputError, InputKind};
pub use decode::Encoding;
pub(crate) use directory::leads_out;
pub use git::{GitError, GitState, Repository, StagedChange, Tag, repo_root};
pub use kubectl::{Cluster, ClusterError};
pub use kustomization::{ConversionPatch, Kustomizations, patched_strategy};
pub use limits::Limits;
pub(crate) use line_diff::{line_diff, unified_diff};
pub use loader::{Loader, load};
pub use place::{LineColumn, Lines};
pub use problem::Problem;
use rendered::LineOrigins;
pub(crate) use shorten::{list_all, list_some, shorten, shorten_line};
pub use text::{Text, edited};

/// How messages call standard input.
pub const STDIN: &str = "<stdin>";

/// The result of loading the inputs of a bundle.
#[derive(Debug, Default)]
pub struct Loaded {
    /// In the order of the inputs, and sorted by the bytes of their names within an input.
    pub files: Vec<File>,
    pub skipped: Vec<SkippedInput>,
    pub problems: Vec<Problem>,
    pub notes: Vec<Note>,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct File {
    /// As the user would write it: absolute only if the input was; `REV:path` from git.
    pub name: String,
    /// Without a byte-order mark.
    pub text: Text,
    pub origin: Origin,
    lines: OnceLock<Lines>,
    /// The sources of a text that another program rendered.
    rendered_from: Option<Arc<LineOrigins>>,
}

impl File {
    pub fn new(name: impl Into<String>, text: impl Into<Text>, origin: Origin) -> File {
        File { name: name.into(), text: text.into(), origin, lines: OnceLock::new(), rendered_from: None }
    }

    /// The line index, built on first use.
    pub fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::new(&self.text))
    }

    /// Sets the files that the text was rendered from.
    fn rendered_from(self, origins: LineOrigins) -> File {
        File { rendered_from: Some(Arc::new(origins)), ..self }
    }

    /// The files that the text was rendered from, if another program made it.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.rendered_from.iter().flat_map(|origins| origins.files())
    }

    /// The file and place to show for a byte offset; for a rendered text, those in its source.
    pub fn shown_place(&self, offset: usize) -> (&str, LineColumn) {
        let at = self.place(offset);
        let origin = self.rendered_from.as_ref().and_then(|origins| origins.place(at));
        origin.unwrap_or((&self.name, at))
    }

    /// The number to show for a line of the text; for a rendered text, that in its source.
    pub fn shown_line(&self, line: usize) -> usize {
        let origin = self.rendered_from.as_ref().and_then(|origins| origins.place(LineColumn { line, column: 1 }));
        origin.map_or(line, |(_, at)| at.line)
    }

    /// The line and column of a byte offset in the text.
    pub fn place(&self, offset: usize) -> LineColumn {
        self.lines().place(&self.text, offset)
    }
}

/// Where a file came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The path that was opened.
    Path(PathBuf),
    Stdin,
    Git {
        rev: String,
        /// Relative to the repository root.
        path: String,
        commit: String,
    },
    /// A staged file; the path is relative to the repository root.
    Index {
        path: String,
    },
    /// A CRD of a cluster.
    Cluster,
    /// A file in an archive, with its path inside.
    Archive {
        path: String,
    },
    /// The output of kustomize for the directory at this path.
    Rendered {
        path: String,
    },
}

/// Something that was skipped, because no bundle keeps CRDs there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedInput {
    pub what: String,
    pub why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    OtherExtension,
    GitDirectory,
    /// Given twice, or a link to a file that is also read under its own name.
    SameFile {
        first: String,
    },
    LinkedDirectory {
        target: String,
    },
    /// Excluded by the configuration.
    LeftOut {
        by: String,
    },
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::OtherExtension => f.write_str("neither .yaml nor .yml nor .json"),
            Why::GitDirectory => f.write_str("git's own directory"),
            Why::LeftOut { by } => write!(f, "left out by {by}"),
            Why::SameFile { first } => write!(f, "the same file as {first}"),
            Why::LinkedDirectory { target } => {
                write!(f, "a link to a directory that is not entered twice ({target})")
            }
        }
    }
}

/// Something that succeeded in a way the user should know about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A name that is both a file and a revision; `other` is how to write the revision.
    FileNotRevision {
        name: String,
        other: String,
    },
    /// Git had to choose, usually between a tag and a branch with the same name.
    GitWarned {
        rev: String,
        warning: String,
    },
    Encoding {
        name: String,
        encoding: Encoding,
    },
    /// The old side of `--against REV` doesn't have the path yet.
    EmptyAtRevision {
        name: String,
    },
    /// The output of another program was read instead of the input.
    Rendered {
        name: String,
        by: &'static str,
    },
    /// `--render` produced nothing for the CRDs of a chart, so they were read without Helm.
    LeftOutByValues {
        name: String,
    },
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Note::FileNotRevision { name, other } => {
                write!(f, "`{name}` is an existing file and was read as that; for the git revision write `{other}`")
            }
            Note::GitWarned { rev, warning } => write!(f, "git on `{rev}`: {warning}"),
            Note::Encoding { name, encoding } => {
                write!(f, "`{name}` is {encoding} and was read as such; Kubernetes wants UTF-8")
            }
            Note::EmptyAtRevision { name } => {
                write!(f, "`{name}` does not exist there, so this side is empty")
            }
            Note::LeftOutByValues { name } => {
                write!(
                    f,
                    "Helm renders no CRD from some templates of {name} with the default values of the chart; they were read without Helm"
                )
            }
            Note::Rendered { name, by } => write!(f, "{name} was rendered by `{by}`"),
        }
    }
}

/// Whether a file in a directory is read. A file that is named explicitly is read whatever its name.
pub fn is_manifest(name: &str) -> bool {
    Limits::default().takes(name)
}

/// Whether a text contains a Helm expression such as `{{ .Release.Name }}`.
pub fn has_template_expression(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"{{").is_some_and(|at| memmem::find(&text.as_bytes()[at..], b"}}").is_some())
}

/// Formats a path for messages: with `/`, without a leading `./`, and lossily if it isn't UTF-8.
fn shown(path: &Path) -> String {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let clean: PathBuf = parts.collect();
    if clean.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let text = clean.to_string_lossy();
    match std::path::MAIN_SEPARATOR {
        '/' => text.into_owned(),
        separator => text.replace(separator, "/"),
    }
}
