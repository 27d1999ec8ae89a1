//! Checks whether client-side `kubectl apply` can install a CRD: it stores the whole document, as JSON, in an annotation.

use crate::go::json_size::{is_surely_within, json_bytes, text_bytes};
use crate::input::yaml::Node;
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::server::object_meta::MAX_ANNOTATION_BYTES;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// What kubectl adds if there are no annotations.
const NO_ANNOTATIONS: &str = r#""annotations":{},"#;

pub(super) fn check(collector: &mut FactCollector<'_>) {
    let (crd, name) = (collector.crd.node, collector.crd.name_node);
    let beside = LAST_APPLIED.len() + annotation_bytes(crd);
    let most = MAX_ANNOTATION_BYTES.saturating_sub(beside + NO_ANNOTATIONS.len() + 1);
    if is_surely_within(crd, most) {
        return;
    }
    let written = document_bytes(crd);
    if written + beside > MAX_ANNOTATION_BYTES {
        let fact = collector.note((Subject::Crd, Aspect::Document, Effect::Excessive), name);
        fact.words.insert(Word::Count, written.to_string());
        fact.words.insert(Word::Limit, MAX_ANNOTATION_BYTES.to_string());
    }
}

fn annotations(crd: Node<'_>) -> Option<Node<'_>> {
    crd.get("metadata")?.get("annotations").filter(|annotations| annotations.is_map())
}

/// The size of the annotations that the CRD already has.
fn annotation_bytes(crd: Node<'_>) -> usize {
    let others = annotations(crd).into_iter().flat_map(Node::entries).filter(|entry| entry.name() != LAST_APPLIED);
    others.map(|entry| entry.name().len() + entry.value.as_str().map_or(0, str::len)).sum()
}

/// The size of what kubectl writes: compact JSON with a map of annotations, without kubectl's own one, and a newline.
fn document_bytes(crd: Node<'_>) -> usize {
    let mut bytes = json_bytes(crd) + 1;
    match annotations(crd) {
        None => bytes += NO_ANNOTATIONS.len(),
        Some(annotations) => {
            if let Some(own) = annotations.entry(LAST_APPLIED) {
                let comma = usize::from(annotations.len() > 1);
                bytes -= text_bytes(LAST_APPLIED) + 1 + json_bytes(own.value) + comma;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::{YamlBudget, parse};

    #[test]
    fn the_annotation_has_the_length_that_kubectl_writes() {
        let bytes = |text: &str| {
            let documents = parse(&text.to_owned().into(), &YamlBudget::default());
            document_bytes(documents[0].tree.as_ref().expect("a document").root())
        };
        let compact = |text: &str| text.len() + 1;
        assert_eq!(bytes("{metadata: {annotations: {}, name: a}}"), compact(r#"{"metadata":{"annotations":{},"name":"a"}}"#));
        assert_eq!(bytes("{metadata: {name: a}}"), compact(r#"{"metadata":{"annotations":{},"name":"a"}}"#));
        assert_eq!(
            bytes("{metadata: {annotations: {b: c}}, l: [1, true, null, 0.5]}"),
            compact(r#"{"l":[1,true,null,0.5],"metadata":{"annotations":{"b":"c"}}}"#)
        );
        let own = format!("{{metadata: {{annotations: {{b: c, {LAST_APPLIED}: '{{}}'}}}}}}");
        assert_eq!(bytes(&own), compact(r#"{"metadata":{"annotations":{"b":"c"}}}"#));
    }
}
