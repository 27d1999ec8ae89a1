//! Checks whether client-side `kubectl apply` can install a CRD: it stores the whole document, as JSON, in an annotation.

use crate::input::yaml::{Data, Node};
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::server::object_meta::MAX_ANNOTATION_BYTES;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// JSON is never longer than this many times the YAML it came from, apart from aliases.
const MAX_GROWTH: usize = 8;

pub(super) fn check(collector: &mut FactCollector<'_>) {
    let crd = collector.crd.clone();
    if crd.node.source().len() * MAX_GROWTH < MAX_ANNOTATION_BYTES && !crd.node.tree().is_aliased() {
        return;
    }
    let written = document_bytes(crd.node);
    if written + LAST_APPLIED.len() + annotation_bytes(crd.node) > MAX_ANNOTATION_BYTES {
        let fact = collector.note((Subject::Crd, Aspect::Document, Effect::Excessive), crd.name_node);
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
        None => bytes += r#""annotations":{},"#.len(),
        Some(annotations) => {
            if let Some(own) = annotations.entry(LAST_APPLIED) {
                let comma = usize::from(annotations.len() > 1);
                bytes -= text_bytes(LAST_APPLIED) + 1 + json_bytes(own.value) + comma;
            }
        }
    }
    bytes
}

/// The length of a node in the JSON that Go writes. The recursion is limited by the depth of the document.
fn json_bytes(node: Node<'_>) -> usize {
    let (brackets, commas) = (2, node.len().saturating_sub(1));
    match node.data() {
        Data::Str(text) => text_bytes(text),
        Data::Seq => brackets + commas + node.items().map(json_bytes).sum::<usize>(),
        Data::Map => brackets + commas + node.entries().map(|entry| text_bytes(entry.name()) + 1 + json_bytes(entry.value)).sum::<usize>(),
        _ => node.to_json().to_string().len(),
    }
}

/// The length of a quoted string, escaped like Go does, including characters special in HTML. Descriptions are most of a CRD, so
/// bytes are counted without branches.
fn text_bytes(text: &str) -> usize {
    const QUOTES: usize = 2;
    // Small enough that the counts fit into a byte.
    const CHUNK: usize = 128;
    let (mut length, mut is_separated) = (QUOTES + text.len(), false);
    for chunk in text.as_bytes().chunks(CHUNK) {
        let (mut short, mut long, mut lead) = (0_u8, 0_u8, 0_u8);
        for &byte in chunk {
            let with_backslash = matches!(byte, b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C);
            let with_number = (byte < 0x20) & !with_backslash | matches!(byte, b'<' | b'>' | b'&');
            short += u8::from(with_backslash);
            long += u8::from(with_number);
            lead |= u8::from(byte == 0xE2);
        }
        length += usize::from(short) + usize::from(long) * 5;
        is_separated |= lead != 0;
    }
    if is_separated {
        length += text.matches(['\u{2028}', '\u{2029}']).count() * 3;
    }
    length
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
        assert_eq!(text_bytes("a<b>&\n\"\u{1}é"), compact(r#""a\u003cb\u003e\u0026\n\"\u0001é""#) - 1);
        assert_eq!(text_bytes("\u{2028}–\u{2029}\u{8}"), r#""\u2028–\u2029\b""#.len());
        assert_eq!(text_bytes(&"\n".repeat(1000)), 2002);
    }
}
