//! What the server can't decode (it answers 400 and looks at nothing else), and keys that it doesn't know and drops.

use std::cell::Cell;

use crate::go::base64::{self, Alphabet};
use crate::go::time::Timestamp;
use crate::input::yaml::{Data, Node};
use crate::model::FieldPath;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::Keyword;

use super::fact_collector::Ledger;
use super::form::{self, Form};

/// Where the decoder stands: the document's own path, and the object's once inside a schema.
#[derive(Clone, Default)]
struct Position {
    document: String,
    version: Option<usize>,
    path: FieldPath,
    in_schema: bool,
}

impl Position {
    fn key(&self, name: &str) -> Self {
        let dot = if self.document.is_empty() { "" } else { "." };
        Position { document: format!("{}{dot}{name}", self.document), ..self.clone() }
    }

    fn named(&self, name: &str) -> Self {
        Position { document: format!("{}[{name}]", self.document), ..self.clone() }
    }

    fn index(&self, index: usize) -> Self {
        Position { document: format!("{}[{index}]", self.document), ..self.clone() }
    }
}

pub(super) fn decode(ledger: &mut Ledger<'_>) {
    let root = ledger.crd.node;
    // Most documents have nothing to tell, so positions are only built on a second walk of those that have.
    if clean(&form::CRD, root, &Cell::new(None)) {
        return;
    }
    Decoder { ledger }.value(&form::CRD, root, &Position::default());
}

/// Whether the value decodes and holds no unknown key. No allocation: this runs over every node of every CRD.
///
/// `known` is a version's schema that was found clean: others are often written alike.
fn clean<'t>(form: &Form, node: Node<'t>, known: &Cell<Option<Node<'t>>>) -> bool {
    let all = |inner: &Form| node.items().all(|item| clean(inner, item, known));
    match (form, node.data()) {
        (_, Data::Null) | (Form::Any, _) => true,
        (Form::List(inner), Data::Seq) => all(inner),
        (Form::Map(inner), Data::Map) => node.entries().all(|entry| clean(inner, entry.value, known)),
        (Form::Struct(fields), Data::Map) => node.entries().all(|entry| match fields.iter().find(|(name, _)| *name == entry.name()) {
            Some((_, Form::Schema)) if known.get().is_some_and(|known| known.alike(entry.value)) => true,
            Some((_, form @ Form::Schema)) => {
                known.set(Some(entry.value));
                clean(form, entry.value, known)
            }
            Some((_, form)) => clean(form, entry.value, known),
            None => false,
        }),
        (Form::Schema | Form::SchemaOrFlag | Form::SchemaOrList | Form::SchemaOrNames, Data::Map) => {
            node.entries().all(|entry| Keyword::parse(entry.name()).is_some_and(|word| clean(form::keyword(word), entry.value, known)))
        }
        (Form::SchemaOrFlag, Data::Bool(_)) => true,
        (Form::SchemaOrList, Data::Seq) => all(&Form::Schema),
        (Form::SchemaOrNames, Data::Seq) => all(&Form::Text),
        (Form::SchemaOrList | Form::SchemaOrNames, _) => true,
        (scalar, data) => scalar_fault(scalar, data).is_none(),
    }
}

struct Decoder<'a, 't> {
    ledger: &'a mut Ledger<'t>,
}

impl<'t> Decoder<'_, 't> {
    fn value(&mut self, form: &'static Form, node: Node<'t>, at: &Position) {
        match (form, node.data()) {
            (_, Data::Null) | (Form::Any, _) => {}
            (Form::List(inner), Data::Seq) => {
                for (index, item) in node.items().enumerate() {
                    let mut at = at.index(index);
                    if at.document.starts_with("spec.versions[") && !at.in_schema && at.version.is_none() {
                        at.version = Some(index);
                    }
                    self.value(inner, item, &at);
                }
            }
            (Form::Map(inner), Data::Map) => {
                for entry in node.entries() {
                    let mut at = at.named(entry.name());
                    if at.in_schema {
                        at.path = at.path.key(entry.name());
                    }
                    self.value(inner, entry.value, &at);
                }
            }
            (Form::Struct(fields), Data::Map) => {
                for entry in node.entries() {
                    match fields.iter().find(|(name, _)| *name == entry.name()) {
                        Some((_, form)) => self.value(form, entry.value, &at.key(entry.name())),
                        None => self.unknown(entry.key, at),
                    }
                }
            }
            (Form::Schema | Form::SchemaOrFlag | Form::SchemaOrList | Form::SchemaOrNames, Data::Map) => self.schema(node, at),
            (Form::SchemaOrFlag, Data::Bool(_)) => {}
            (Form::SchemaOrList, Data::Seq) => {
                for (index, item) in node.items().enumerate() {
                    self.value(&Form::Schema, item, &at.index(index));
                }
            }
            (Form::SchemaOrNames, Data::Seq) => self.value(&Form::List(&Form::Text), node, at),
            (Form::SchemaOrList | Form::SchemaOrNames, _) => {}
            (form, data) => {
                if let Some(fault) = scalar_fault(form, data) {
                    self.fault(node, &fault, at);
                }
            }
        }
    }

    fn schema(&mut self, node: Node<'t>, at: &Position) {
        for entry in node.entries() {
            let mut at = Position { in_schema: true, ..at.clone() };
            match Keyword::parse(entry.name()) {
                Some(word) => {
                    match word {
                        Keyword::Items if entry.value.is_map() => at.path = at.path.items(),
                        Keyword::AdditionalProperties if entry.value.is_map() => at.path = at.path.values(),
                        _ => {}
                    }
                    self.value(form::keyword(word), entry.value, &at.key(entry.name()));
                }
                None => self.unknown(entry.key, &at),
            }
        }
    }

    fn fault(&mut self, node: Node<'t>, fault: &str, at: &Position) {
        let version = self.version(at);
        let fact = self.ledger.refuse((Subject::Crd, Aspect::Document, Effect::Invalid), node, at.document.clone(), fault);
        fact.version = version;
        fact.path = at.path.clone();
        fact.key = Some(at.document.clone());
        fact.words.insert(Word::Name, at.document.clone());
    }

    fn unknown(&mut self, key: Node<'t>, at: &Position) {
        let version = self.version(at);
        let subject = if at.in_schema { Subject::Field } else { Subject::Crd };
        let name = key.key_text();
        let fact = self.ledger.note((subject, Aspect::Keyword, Effect::Unknown), key);
        fact.version = version;
        fact.path = at.path.clone();
        fact.key = Some(at.key(name).document);
        fact.words.insert(Word::Keyword, name.to_owned());
        fact.words.insert(Word::Within, if at.document.is_empty() { "the document".to_owned() } else { at.document.clone() });
    }

    fn version(&self, at: &Position) -> Option<String> {
        let index = at.version?;
        self.ledger.crd.versions.iter().find(|version| version.index == index).map(|version| version.name.to_owned())
    }
}

/// Go's words for a value that does not fit, as far as a reader needs them.
fn scalar_fault(form: &Form, data: Data<'_>) -> Option<String> {
    let wanted = match (form, data) {
        (Form::Text, Data::Str(_)) | (Form::Flag, Data::Bool(_)) | (Form::Number, Data::Int(_) | Data::Float(_)) => return None,
        (Form::Int64, Data::Int(_)) => return None,
        (Form::Int32, Data::Int(value)) if i32::try_from(value).is_ok() => return None,
        (Form::Bytes, Data::Str(text)) => return base64::decode(text, Alphabet::Standard).is_none().then(|| "is not base64".to_owned()),
        (Form::Time, Data::Str(text)) => return Timestamp::parse(text).is_none().then(|| "is not a time in RFC 3339 form".to_owned()),
        (Form::Text, _) => "a string",
        (Form::Flag, _) => "true or false",
        (Form::Number, _) => "a number",
        (Form::Int64, _) => "an integer",
        (Form::Int32, _) => "a 32-bit integer",
        (Form::Bytes, _) => "base64 text",
        (Form::Time, _) => "a time in RFC 3339 form",
        (Form::List(_), _) => "a list",
        (Form::Map(_) | Form::Struct(_), _) => "a mapping",
        (Form::Schema, _) => "a schema",
        (Form::SchemaOrFlag, _) => "a schema, true or false",
        (Form::Any | Form::SchemaOrList | Form::SchemaOrNames, _) => return None,
    };
    Some(format!("is {}, where the server wants {wanted}", kind(data)))
}

fn kind(data: Data<'_>) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Bool(_) => "a boolean",
        Data::Int(_) | Data::Float(_) => "a number",
        Data::Str(_) => "a string",
        Data::Seq => "a list",
        Data::Map => "a mapping",
    }
}
