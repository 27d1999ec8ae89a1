//! Renders inputs with other programs: `helm template` for a chart, `kustomize build` or `kubectl kustomize` for a kustomization.
//!
//! Rendered input isn't trusted. The program gets a copy of the files, so that no link leads out of it, and has no plugins,
//! credentials or network. Its time and output are limited. Places in the output lead back to the source files.

mod copy;
mod helm;
mod kustomize;
mod line_origins;
mod source_tree;

use std::process::Command;
use std::time::Duration;

use thiserror::Error;

use super::limits::human_size;
use super::program::{self, ProgramOutput};
use super::{File, Input, Loaded, Loader, Note, Problem, shorten_line};

pub use line_origins::LineOrigins;

use copy::Copied;
use source_tree::SourceTree;

/// How long a program may take for one chart or kustomization. Large ones take a few seconds.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How much memory a program may reserve, in KiB, if the system can limit it. The largest charts need a tenth of it.
const MEMORY_KIB: u64 = 4 << 20;
/// An address where nothing listens.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Why something couldn't be rendered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RenderError {
    #[error("{0} is not installed")]
    NotInstalled(&'static str),
    #[error("`{program}` can't be started: {reason}")]
    NotStarted { program: &'static str, reason: String },
    #[error("`{program}` took more than {seconds} seconds")]
    TimedOut { program: &'static str, seconds: u64 },
    #[error("`{program}` needs more than {} of memory", human_size(MEMORY_KIB << 10))]
    OutOfMemory { program: &'static str },
    #[error("`{program}` wrote more than {}", human_size(*.limit))]
    TooMuch { program: &'static str, limit: u64 },
    #[error("`{program}` failed: {said}")]
    Failed { program: &'static str, said: String },
    #[error("it refers to `{0}`, which is not in the same repository, and crdwise downloads nothing")]
    Refers(String),
    #[error("Helm renders no CRD from it with the default values of the chart")]
    NoCrd,
    #[error("it can't be copied to a temporary directory: {0}")]
    NotCopied(String),
}

impl RenderError {
    /// Advice for the user.
    pub fn advice(&self) -> Option<String> {
        Some(match self {
            RenderError::NotInstalled(_) => "install it, or leave out --render".to_owned(),
            RenderError::Refers(_) => "render it yourself and pipe it in: `kubectl kustomize DIR | crdwise … -`".to_owned(),
            RenderError::NoCrd => "render it with the values that you use: `helm template CHART --set … | crdwise … -`".to_owned(),
            _ => return None,
        })
    }

    /// Whether a change to the files can fix it.
    pub(super) fn is_about_content(&self) -> bool {
        matches!(self, RenderError::Failed { .. } | RenderError::Refers(_) | RenderError::NoCrd | RenderError::OutOfMemory { .. })
    }
}

impl Loader {
    /// Renders an input: the output of kustomize for a directory that has a kustomization, or whose parent has one.
    pub(super) fn rendered(&self, input: &Input) -> Option<Result<(File, Note), Problem>> {
        let (tree, directory) = SourceTree::of(self, input)?;
        kustomize::render(self, &tree, &directory)
    }

    /// Replaces CRD templates with Helm's output: those that can't be read without it, or with `--render` all of them.
    pub(super) fn render_templates(&self, inputs: &[Input], loaded: &mut Loaded) {
        helm::render(self, inputs, loaded);
    }
}

/// A command with limited memory, because templates can request any amount. Returns `None` if the program isn't installed.
fn command(program: &str) -> Option<Command> {
    if !cfg!(unix) {
        return Some(Command::new(program));
    }
    // Only absolute directories, so that a repository can't provide its own program.
    let paths = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&paths).filter(|path| path.is_absolute()).map(|path| path.join(program)).find(|path| path.is_file());
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {MEMORY_KIB} 2>/dev/null; exec \"$0\" \"$@\"")).arg(found?);
    Some(command)
}

/// Runs a program on copied files. Returns `None` if it isn't installed.
fn run(command: &mut Command, shown: &'static str, copied: &Copied, limit: u64) -> Result<Option<ProgramOutput>, RenderError> {
    let home = copied.home();
    for name in ["HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env(name, home);
    }
    for name in ["KUBECONFIG", "HELM_PLUGINS", "HELM_CONFIG_HOME", "HELM_CACHE_HOME", "HELM_DATA_HOME", "KUSTOMIZE_PLUGIN_HOME"] {
        command.env(name, home.join("none"));
    }
    for name in ["HELM_DEBUG", "HELM_KUBECONTEXT", "HELM_KUBEAPISERVER", "HELM_KUBETOKEN", "HELM_REGISTRY_CONFIG"] {
        command.env_remove(name);
    }
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        command.env(name, NOWHERE);
    }
    command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").env("KUBECTL_KUBERC", "false");
    command.env_remove("NO_PROXY").env_remove("no_proxy").current_dir(home);
    let answer = match program::run(command, "", TIMEOUT, limit) {
        Ok(answer) => answer,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RenderError::NotStarted { program: shown, reason: error.to_string() }),
    };
    if answer.late {
        return Err(RenderError::TimedOut { program: shown, seconds: TIMEOUT.as_secs() });
    }
    if answer.out.len() as u64 > limit {
        return Err(RenderError::TooMuch { program: shown, limit });
    }
    if !answer.ok && answer.err.contains("out of memory") {
        return Err(RenderError::OutOfMemory { program: shown });
    }
    if !answer.ok {
        // Helm adds hints after its error.
        let said = answer.err.lines().find_map(|line| line.strip_prefix("Error: ")).unwrap_or(answer.reason());
        // The path of the copy means nothing to the user.
        let said = said.replace(&*copied.root().to_string_lossy(), "").replace("//", "/");
        return Err(RenderError::Failed { program: shown, said: shorten_line(&said, 300) });
    }
    Ok(Some(answer))
}
