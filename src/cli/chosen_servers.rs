//! Chooses the servers to judge for: those named by a flag or the configuration, those of the clusters among the inputs, or the
//! newest release.

use crate::input::{Input, InputKind};
use crate::model::kubernetes::{Minor, Minors, StatedMinor};

use super::Streams;
use super::input::{InputReader, with_advice};

/// Chooses the servers; `named` comes from a flag or the configuration.
pub(super) fn choose(named: Option<Minors>, clusters: &[Input], reader: &InputReader, streams: &mut Streams<'_>) -> Minors {
    named.or_else(|| of_clusters(clusters, reader, streams)).unwrap_or_default()
}

/// The inputs that are clusters.
pub(super) fn clusters<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> Vec<Input> {
    inputs.into_iter().filter(|input| input.is_cluster()).cloned().collect()
}

/// The minor versions of clusters. A cluster that doesn't report one is skipped with a note.
fn of_clusters(clusters: &[Input], reader: &InputReader, streams: &mut Streams<'_>) -> Option<Minors> {
    let mut minors = Minors::NONE;
    for input in clusters {
        let InputKind::Cluster { context } = &input.kind else { continue };
        let version = match reader.loader.cluster(context.as_deref()).version() {
            Ok(version) => version,
            Err(error) => {
                streams.note(&format!("{input} doesn't state its version: {}", with_advice(&error, error.advice())));
                continue;
            }
        };
        match Minor::of_server(&version) {
            Some(StatedMinor::Known(minor)) => minors = minors.and(Minors::only(minor)),
            Some(StatedMinor::Nearest(minor)) => {
                streams.note(&format!("{input} runs Kubernetes {version}, which crdwise doesn't know: it is treated as {minor}"));
                minors = minors.and(Minors::only(minor));
            }
            None => streams.note(&format!("{input} states the version `{version}`, which can't be read")),
        }
    }
    Some(minors).filter(|minors| !minors.is_empty())
}
