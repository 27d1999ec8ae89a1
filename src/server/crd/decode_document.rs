//! Finds what the server can't decode (it responds with 400 and checks nothing else), and unknown keys, which it drops.

use std::cell::Cell;

use crate::input::yaml::{Data, Node};
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::schema::Keyword;
use crate::model::{Crd, FactCollector, FieldPath};

use super::document_types;
use crate::server::decoded_type::{self, DecodedType};

/// The decoder's position: the path in the document and, inside a schema, the path in objects.
#[derive(Clone, Default)]
struct DecodePosition {
    document: String,
    version: Option<usize>,
    path: FieldPath,
    in_schema: bool,
}

impl DecodePosition {
    fn key(&self, name: &str) -> Self {
        let dot = if self.document.is_empty() { "" } else { "." };
        DecodePosition { document: format!("{}{dot}{name}", self.document), ..self.clone() }
    }

    fn named(&self, name: &str) -> Self {
        DecodePosition { document: format!("{}[{name}]", self.document), ..self.clone() }
    }

    fn index(&self, index: usize) -> Self {
        DecodePosition { document: format!("{}[{index}]", self.document), ..self.clone() }
    }
}

/// Returns what the server can't decode, the unknown keys that it drops, and whether it can decode the document.
pub(crate) fn decode(crd: &Crd<'_>) -> (Vec<Fact>, bool) {
    // Most documents are clean, so positions are only computed in a second pass over those that aren't.
    if clean(&document_types::CRD, crd.node, &Cell::new(None)) {
        return (Vec::new(), true);
    }
    let mut collector = FactCollector::new(crd);
    Decoder { collector: &mut collector }.value(&document_types::CRD, crd.node, &DecodePosition::default());
    let facts = collector.into_facts();
    let decoded = !facts.iter().any(Fact::is_refusal);
    (facts, decoded)
}

/// Whether the value can be decoded and has no unknown keys. Doesn't allocate, because this runs over every node of every CRD.
///
/// `known` is a version's schema that was found clean; other versions often have the same text.
fn clean<'t>(ty: &DecodedType, node: Node<'t>, known: &Cell<Option<Node<'t>>>) -> bool {
    let all = |inner: &DecodedType| node.items().all(|item| clean(inner, item, known));
    match (ty, node.data()) {
        (_, Data::Null) | (DecodedType::Any, _) => true,
        (DecodedType::List(inner), Data::Seq) => all(inner),
        (DecodedType::Map(inner), Data::Map) => node.entries().all(|entry| clean(inner, entry.value, known)),
        (DecodedType::Struct(fields), Data::Map) => node.entries().all(|entry| match decoded_type::field(fields, entry.name()) {
            Some(DecodedType::Schema) if known.get().is_some_and(|known| known.same_text(entry.value)) => true,
            Some(ty @ DecodedType::Schema) => {
                known.set(Some(entry.value));
                clean(ty, entry.value, known)
            }
            Some(ty) => clean(ty, entry.value, known),
            None => false,
        }),
        (DecodedType::Schema | DecodedType::SchemaOrFlag | DecodedType::SchemaOrList | DecodedType::SchemaOrNames, Data::Map) => node
            .entries()
            .all(|entry| Keyword::parse(entry.name()).is_some_and(|word| clean(document_types::keyword(word), entry.value, known))),
        (DecodedType::SchemaOrFlag, Data::Bool(_)) => true,
        (DecodedType::SchemaOrList, Data::Seq) => all(&DecodedType::Schema),
        (DecodedType::SchemaOrNames, Data::Seq) => all(&DecodedType::Text),
        (DecodedType::SchemaOrList | DecodedType::SchemaOrNames, _) => true,
        (ty, data) => ty.decodes(data),
    }
}

struct Decoder<'a, 't> {
    collector: &'a mut FactCollector<'t>,
}

impl<'t> Decoder<'_, 't> {
    fn value(&mut self, ty: &'static DecodedType, node: Node<'t>, at: &DecodePosition) {
        match (ty, node.data()) {
            (_, Data::Null) | (DecodedType::Any, _) => {}
            (DecodedType::List(inner), Data::Seq) => {
                for (index, item) in node.items().enumerate() {
                    let mut at = at.index(index);
                    if at.document.starts_with("spec.versions[") && !at.in_schema && at.version.is_none() {
                        at.version = Some(index);
                    }
                    self.value(inner, item, &at);
                }
            }
            (DecodedType::Map(inner), Data::Map) => {
                for entry in node.entries() {
                    let mut at = at.named(entry.name());
                    if at.in_schema {
                        at.path = at.path.key(entry.name());
                    }
                    self.value(inner, entry.value, &at);
                }
            }
            (DecodedType::Struct(fields), Data::Map) => {
                for entry in node.entries() {
                    match decoded_type::field(fields, entry.name()) {
                        Some(ty) => self.value(ty, entry.value, &at.key(entry.name())),
                        None => self.unknown(entry.key, at),
                    }
                }
            }
            (DecodedType::Schema | DecodedType::SchemaOrFlag | DecodedType::SchemaOrList | DecodedType::SchemaOrNames, Data::Map) => {
                self.schema(node, at)
            }
            (DecodedType::SchemaOrFlag, Data::Bool(_)) => {}
            (DecodedType::SchemaOrList, Data::Seq) => {
                for (index, item) in node.items().enumerate() {
                    self.value(&DecodedType::Schema, item, &at.index(index));
                }
            }
            (DecodedType::SchemaOrNames, Data::Seq) => self.value(&DecodedType::List(&DecodedType::Text), node, at),
            (DecodedType::SchemaOrList | DecodedType::SchemaOrNames, _) => {}
            (ty, data) => {
                if !ty.decodes(data) {
                    self.fault(node, &format!("is {}, but must be {}", shown_type(data), ty.description()), at);
                }
            }
        }
    }

    fn schema(&mut self, node: Node<'t>, at: &DecodePosition) {
        for entry in node.entries() {
            let mut at = DecodePosition { in_schema: true, ..at.clone() };
            match Keyword::parse(entry.name()) {
                Some(word) => {
                    match word {
                        Keyword::Items if entry.value.is_map() => at.path = at.path.items(),
                        Keyword::AdditionalProperties if entry.value.is_map() => at.path = at.path.values(),
                        _ => {}
                    }
                    self.value(document_types::keyword(word), entry.value, &at.key(entry.name()));
                }
                None => self.unknown(entry.key, &at),
            }
        }
    }

    fn fault(&mut self, node: Node<'t>, fault: &str, at: &DecodePosition) {
        let version = self.version(at);
        let fact = self.collector.refuse((Subject::Crd, Aspect::Document, Effect::Invalid), node, at.document.clone(), fault);
        fact.version = version;
        fact.path = at.path.clone();
        fact.key = Some(at.document.clone());
        fact.words.insert(Word::Name, at.document.clone());
    }

    fn unknown(&mut self, key: Node<'t>, at: &DecodePosition) {
        let version = self.version(at);
        let subject = if at.in_schema { Subject::Field } else { Subject::Crd };
        let name = key.key_text();
        let fact = self.collector.note((subject, Aspect::Keyword, Effect::Unknown), key);
        fact.version = version;
        fact.path = at.path.clone();
        fact.key = Some(at.key(name).document);
        fact.words.insert(Word::Keyword, name.to_owned());
        fact.words.insert(Word::Within, if at.document.is_empty() { "the document".to_owned() } else { at.document.clone() });
    }

    fn version(&self, at: &DecodePosition) -> Option<String> {
        let index = at.version?;
        self.collector.crd.versions.iter().find(|version| version.index == index).map(|version| version.name.to_owned())
    }
}

fn shown_type(data: Data<'_>) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Bool(_) => "a boolean",
        Data::Int(_) | Data::Float(_) => "a number",
        Data::Str(_) => "a string",
        Data::Seq => "a list",
        Data::Map => "an object",
    }
}
