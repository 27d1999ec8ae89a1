//! Reads from a cluster with `kubectl get --raw`: only GET requests, one page of a list at a time.
//!
//! The user's kubectl knows how to reach and log in to the cluster. Only raw paths are requested, so it doesn't use discovery or
//! write a cache. Nothing is ever written to a cluster.

use std::process::Command;
use std::time::Duration;

use thiserror::Error;

use super::limits::{Limits, flag, human_size};
use super::program::{self, ProgramOutput};
use super::shorten_line;

/// The number of items per page, the same as kubectl uses.
pub const PAGE_ITEMS: usize = 500;
/// The path where every server since Kubernetes 1.16 lists its CRDs.
pub(super) const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The path where a server reports its version.
const VERSION: &str = "/version";
/// How much longer than its own timeout kubectl may take before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// A cluster: that of a context in the user's kubeconfig, or of the current context.
#[derive(Debug, Clone)]
pub struct Cluster {
    context: Option<String>,
    timeout: Duration,
    /// The maximum size of a page, in bytes.
    page_bytes: u64,
}

/// Why a cluster couldn't be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClusterError {
    #[error("`kubectl` can't be started: {0}")]
    NotStarted(String),
    #[error("the kubeconfig has no context `{0}`")]
    UnknownContext(String),
    #[error("no answer within {0} seconds")]
    TimedOut(u64),
    #[error("the server can't be reached: {0}")]
    Unreachable(String),
    #[error("authentication failed: {0}")]
    Unauthorized(String),
    #[error("not allowed: {0}")]
    Forbidden(String),
    #[error("the server has no `{0}`")]
    NotServed(String),
    #[error("the list changed too much while it was read, and its next page has expired")]
    Expired,
    #[error("a page of `{path}` has more than {}", human_size(*.limit))]
    TooMuch { path: String, limit: u64 },
    #[error("the answer to `{path}` is not a list: {reason}")]
    NotAList { path: String, reason: String },
    #[error("kubectl: {0}")]
    Failed(String),
}

impl ClusterError {
    /// Advice for the user.
    pub fn advice(&self) -> Option<String> {
        Some(match self {
            ClusterError::NotStarted(_) => "install kubectl, or pass a dump: `kubectl get crds -o yaml > crds.yaml`".to_owned(),
            ClusterError::UnknownContext(_) => "`kubectl config get-contexts` lists them".to_owned(),
            ClusterError::TimedOut(_) => format!("check the connection, or wait longer with {}", flag::KUBECTL_TIMEOUT),
            ClusterError::Unreachable(_) => "`kubectl version` shows whether kubectl reaches it".to_owned(),
            ClusterError::Unauthorized(_) => "log in as you would for kubectl".to_owned(),
            ClusterError::Forbidden(_) => "ask for permission to `list` them, or pass a dump that someone else made".to_owned(),
            ClusterError::NotServed(path) if path == CRDS => "it needs Kubernetes 1.16 or later".to_owned(),
            ClusterError::Expired => "run it again".to_owned(),
            ClusterError::TooMuch { .. } => format!("raise it with {}", flag::TOTAL_BYTES),
            ClusterError::NotServed(_) | ClusterError::NotAList { .. } | ClusterError::Failed(_) => return None,
        })
    }
}

impl Cluster {
    pub(super) fn new(context: Option<&str>, limits: &Limits) -> Cluster {
        Cluster { context: context.map(str::to_owned), timeout: limits.kubectl_timeout, page_bytes: limits.total_bytes }
    }

    /// Reads a page of the list at a path; `from` is the continue token of the page before.
    pub fn page(&self, path: &str, from: Option<&str>) -> Result<String, ClusterError> {
        let from = from.map(|token| format!("&continue={}", percent(token))).unwrap_or_default();
        let out = self.get(path, &format!("{path}?limit={PAGE_ITEMS}{from}"))?;
        let not_a_list = |reason: String| ClusterError::NotAList { path: path.to_owned(), reason };
        String::from_utf8(out).map_err(|error| not_a_list(error.to_string()))
    }

    /// The version that the server reports, such as `v1.33.4-eks-1a2b3c`.
    pub fn version(&self) -> Result<String, ClusterError> {
        stated_version(&self.get(VERSION, VERSION)?)
    }

    fn get(&self, path: &str, uri: &str) -> Result<Vec<u8>, ClusterError> {
        let mut command = Command::new("kubectl");
        if let Some(context) = &self.context {
            command.arg(format!("--context={context}"));
        }
        command.arg(format!("--request-timeout={}s", self.timeout.as_secs().max(1))).args(["get", "--raw", uri]);
        // Errors are recognised by their text, and the user's aliases could change what `get` means.
        command.env("LC_ALL", "C").env("KUBECTL_KUBERC", "false");
        let answer = program::run(&mut command, "", self.timeout + GRACE, self.page_bytes);
        let answer = answer.map_err(|error| ClusterError::NotStarted(error.to_string()))?;
        if answer.out.len() as u64 > self.page_bytes {
            return Err(ClusterError::TooMuch { path: path.to_owned(), limit: self.page_bytes });
        }
        if answer.ok {
            return Ok(answer.out);
        }
        let seconds = self.timeout.as_secs().max(1);
        Err(if answer.late { ClusterError::TimedOut(seconds) } else { self.error(path, &answer, seconds) })
    }

    /// Turns kubectl's error message into an error.
    fn error(&self, path: &str, answer: &ProgramOutput, seconds: u64) -> ClusterError {
        let said = || shorten_line(answer.reason(), 300);
        let has = |words: &[&str]| words.iter().any(|word| answer.err.contains(word));
        if let Some(context) = self.context.as_ref().filter(|_| has(&["does not exist"]) && has(&["context"])) {
            return ClusterError::UnknownContext(context.clone());
        }
        if has(&["Client.Timeout", "deadline exceeded", "i/o timeout", "TLS handshake timeout", "(Timeout)"]) {
            return ClusterError::TimedOut(seconds);
        }
        if has(&["(Forbidden)"]) {
            return ClusterError::Forbidden(said());
        }
        if has(&["(Unauthorized)", "must be logged in", "provide credentials", "getting credentials"]) {
            return ClusterError::Unauthorized(said());
        }
        if has(&["(NotFound)", "could not find the requested resource"]) {
            return ClusterError::NotServed(path.to_owned());
        }
        if has(&["(Expired)", "(Gone)", "continue parameter is too old"]) {
            return ClusterError::Expired;
        }
        if has(&["Unable to connect", "was refused", "no such host", "no configuration has been provided", "connection reset", "EOF"]) {
            return ClusterError::Unreachable(said());
        }
        ClusterError::Failed(said())
    }
}

/// Percent-encodes a query value.
fn percent(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => drop(write!(out, "%{byte:02X}")),
        }
        out
    })
}

fn stated_version(answer: &[u8]) -> Result<String, ClusterError> {
    let answer: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    let version = answer.get("gitVersion").and_then(serde_json::Value::as_str);
    version.map(str::to_owned).ok_or_else(|| ClusterError::Failed("the server doesn't state its version".to_owned()))
}

/// A page of CRDs.
pub(super) struct CrdPage {
    /// The name of each CRD, and its text as multi-line JSON.
    pub crds: Vec<(String, String)>,
    /// The continue token of the next page.
    pub next: Option<String>,
}

pub(super) fn crds(page: &str) -> Result<CrdPage, ClusterError> {
    let not_a_list = |reason: String| ClusterError::NotAList { path: CRDS.to_owned(), reason };
    let mut page: serde_json::Value = serde_json::from_str(page).map_err(|error| not_a_list(error.to_string()))?;
    let next = page.pointer("/metadata/continue").and_then(|token| token.as_str()).filter(|token| !token.is_empty()).map(str::to_owned);
    let Some(serde_json::Value::Array(items)) = page.get_mut("items").map(serde_json::Value::take) else {
        return Err(not_a_list("it has no items".to_owned()));
    };
    let crd = |mut item: serde_json::Value| {
        let fields = item.as_object_mut()?;
        // The items of a list omit these.
        fields.entry("apiVersion").or_insert_with(|| "apiextensions.k8s.io/v1".into());
        fields.entry("kind").or_insert_with(|| "CustomResourceDefinition".into());
        let metadata = item.get_mut("metadata")?.as_object_mut()?;
        metadata.remove("managedFields");
        let name = metadata.get("name")?.as_str()?.to_owned();
        Some((name, serde_json::to_string_pretty(&item).ok()?))
    };
    let crds: Option<Vec<_>> = items.into_iter().map(crd).collect();
    Ok(CrdPage { crds: crds.ok_or_else(|| not_a_list("an item has no name".to_owned()))?, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(context: Option<&str>) -> Cluster {
        Cluster::new(context, &Limits::default())
    }

    fn error(err: &str) -> ClusterError {
        let answer = ProgramOutput { ok: false, late: false, out: Vec::new(), err: err.to_owned() };
        cluster(Some("prod")).error(CRDS, &answer, 30)
    }

    #[test]
    fn error_messages_of_kubectl_are_recognised() {
        assert_eq!(error("error: context \"prod\" does not exist\n"), ClusterError::UnknownContext("prod".to_owned()));
        assert!(matches!(
            error("Error from server (Forbidden): customresourcedefinitions is forbidden: User \"x\" cannot list"),
            ClusterError::Forbidden(said) if said.ends_with("cannot list")
        ));
        let late = "Unable to connect to the server: net/http: request canceled (Client.Timeout exceeded while awaiting headers)";
        assert_eq!(error(late), ClusterError::TimedOut(30));
        let refused = "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?";
        assert!(matches!(error(refused), ClusterError::Unreachable(_)));
        assert_eq!(
            error("Error from server (NotFound): the server could not find the requested resource"),
            ClusterError::NotServed(CRDS.to_owned())
        );
        assert!(matches!(error("error: You must be logged in to the server (Unauthorized)"), ClusterError::Unauthorized(_)));
        assert_eq!(error("Error from server (Expired): The provided continue parameter is too old"), ClusterError::Expired);
        assert!(matches!(error(""), ClusterError::Failed(_)));
    }

    #[test]
    fn a_page_has_crds_and_a_continue_token() {
        let page = r#"{"metadata":{"continue":"a b"},"items":[{"metadata":{"name":"a.b","managedFields":[1]},"status":{"storedVersions":["v1"]}}]}"#;
        let CrdPage { crds, next } = crds(page).unwrap();
        assert_eq!(next.as_deref(), Some("a b"));
        assert_eq!(crds[0].0, "a.b");
        assert!(crds[0].1.contains("\"kind\": \"CustomResourceDefinition\"") && !crds[0].1.contains("managedFields"));
        assert!(matches!(super::crds("{}"), Err(ClusterError::NotAList { .. })));
        assert!(matches!(super::crds("<html>"), Err(ClusterError::NotAList { .. })));
    }

    #[test]
    fn a_version_is_read() {
        let answer = br#"{"major":"1","minor":"33+","gitVersion":"v1.33.4-eks-1a2b3c","platform":"linux/amd64"}"#;
        assert_eq!(stated_version(answer).as_deref(), Ok("v1.33.4-eks-1a2b3c"));
        assert!(matches!(stated_version(b"{}"), Err(ClusterError::Failed(_))));
        assert!(matches!(stated_version(b"<html>"), Err(ClusterError::Failed(_))));
    }

    #[test]
    fn a_token_is_one_value_of_the_query() {
        assert_eq!(percent("eyJ2=&x y/"), "eyJ2%3D%26x%20y%2F");
    }
}
