//! Parses the text of a file into flat arenas of spanned nodes, one [`Tree`] per document.
//!
//! Scalars get the types that the API server's YAML 1.1 reader gives them, every key and value keeps its byte range, and budgets
//! are checked before anything is built. The event parser isn't used outside this module.

mod arena;
mod builder;
mod events;
mod generated;
mod graft;
mod node;
mod parse;
mod scalar_type;
mod split_documents;

pub use arena::NodeId;
#[cfg(any(test, fuzzing))]
pub(crate) use generated::agreement::compare as compare_readers;
pub use graft::Graft;
pub use node::{Data, Entry, Node, Span, Tree};
pub use parse::parse;

use std::sync::Arc;

use thiserror::Error;

/// Limits for one file. Each has a flag with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YamlBudget {
    /// Nesting of collections. Real CRDs stay below 60; later code recurses at most this deep.
    pub depth: usize,
    /// Nodes of one document with its aliases expanded. The largest real CRD has about 100,000.
    pub nodes: usize,
    /// Documents in one file.
    pub documents: usize,
    /// Bytes of one scalar. Descriptions in real CRDs stay below 20 KB.
    pub scalar: usize,
}

impl Default for YamlBudget {
    fn default() -> Self {
        YamlBudget { depth: 200, nodes: 5_000_000, documents: 50_000, scalar: 4 << 20 }
    }
}

/// Why a document couldn't be read. Offsets are bytes of the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ErrorKind {
    #[error("{0}")]
    Syntax(String),
    #[error("a tab is used for indentation, which YAML forbids")]
    Tab,
    #[error("this looks like a Helm template; render it first (`helm template`) and check the result")]
    Template,
    #[error("merge-conflict marker; resolve the conflict first")]
    Conflict,
    #[error("control character U+{0:04X} is not allowed in YAML")]
    Control(u32),
    #[error("the key `{key}` appears twice in one mapping; the first is on line {first}")]
    DuplicateKey { key: String, first: usize },
    #[error("alias `*{0}` refers to a node that contains it")]
    SelfReference(String),
    #[error("tag `{0}` is not supported: a Kubernetes manifest holds plain data only")]
    Tag(String),
    #[error("a mapping key must be a scalar")]
    ComplexKey,
    #[error("a merge key (`<<`) needs a mapping or a list of mappings")]
    Merge,
    #[error("number `{0}` can't be represented exactly in JSON")]
    Number(String),
    #[error("nested deeper than {0} levels (--max-depth)")]
    Depth(usize),
    #[error("more than {0} nodes in one document, aliases expanded (--max-nodes)")]
    Nodes(usize),
    #[error("more than {0} documents in one file (--max-documents)")]
    Documents(usize),
    #[error("no CRD can be generated from this: {0}")]
    NotGenerated(String),
    #[error("a scalar of more than {0} bytes (--max-scalar)")]
    Scalar(usize),
}

impl ErrorKind {
    /// What the author can do about it, if the message doesn't already say so.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            ErrorKind::Tab => Some("indent with spaces"),
            ErrorKind::DuplicateKey { .. } => Some("remove one of the two; parsers disagree about which one wins"),
            ErrorKind::Syntax(_) => Some("the rest of this document was not checked"),
            _ => None,
        }
    }
}

/// An error with its bytes, and with an earlier place that explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    pub span: Span,
    pub related: Option<Span>,
}

/// One document of a file: a tree, or the error. Empty documents have neither.
#[derive(Debug, Clone)]
pub struct Document {
    /// The bytes of the document in the file.
    pub span: Span,
    pub tree: Result<Arc<Tree>, Error>,
}

#[cfg(test)]
mod tests;
