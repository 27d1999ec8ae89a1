//! Compares whether two parts of CRDs decode to the same values.
//!
//! This decides which path the server reports, and whether a schema counts as changed.
//!
//! An absent flag is `false`, an absent string is empty, an absent list or map is empty; an absent number or object is different from any value.

use crate::input::yaml::{Data, Node};
use crate::model::schema::{Keyword, Schema};

use super::document_types;
use crate::server::decoded_type::DecodedType;

pub(super) fn same_schema(a: Option<&Schema<'_>>, b: Option<&Schema<'_>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.node().same_text(b.node()) || same_words(a, b),
        _ => false,
    }
}

fn same_words(a: &Schema<'_>, b: &Schema<'_>) -> bool {
    Keyword::ALL.iter().all(|&word| {
        let pointer = matches!(word, Keyword::Ref | Keyword::ListType | Keyword::MapType | Keyword::PreserveUnknownFields);
        same_value(document_types::keyword(word), a.word(word), b.word(word), pointer)
    })
}

/// Whether two values decode to the same. With `pointer`, the server distinguishes an absent value from an empty one.
pub(super) fn same_value(ty: &DecodedType, a: Option<Node<'_>>, b: Option<Node<'_>>, pointer: bool) -> bool {
    let (a, b) = (a.filter(|node| !node.is_null()), b.filter(|node| !node.is_null()));
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => same_node(ty, a, b),
        (Some(one), None) | (None, Some(one)) => !pointer && is_zero(ty, one),
    }
}

fn is_zero(ty: &DecodedType, node: Node<'_>) -> bool {
    match (ty, node.data()) {
        (DecodedType::Text, Data::Str(text)) => text.is_empty(),
        (DecodedType::Flag, Data::Bool(flag)) => !flag,
        (DecodedType::Int32, Data::Int(value)) => value == 0,
        (DecodedType::List(_), Data::Seq) | (DecodedType::Map(_), Data::Map) => node.is_empty(),
        _ => false,
    }
}

fn same_node(ty: &DecodedType, a: Node<'_>, b: Node<'_>) -> bool {
    if a.same_text(b) {
        return true;
    }
    match ty {
        DecodedType::Any => exactly(a, b),
        DecodedType::List(inner) if a.is_seq() && b.is_seq() => {
            a.len() == b.len() && a.items().zip(b.items()).all(|(a, b)| same_node(inner, a, b))
        }
        DecodedType::Map(inner) if a.is_map() && b.is_map() => {
            a.len() == b.len()
                && a.entries().all(|entry| b.entry(entry.name()).is_some_and(|other| same_node(inner, entry.value, other.value)))
        }
        DecodedType::Struct(fields) if a.is_map() && b.is_map() => {
            fields.iter().all(|(name, ty)| same_value(ty, a.get(name), b.get(name), is_pointer(name, fields)))
        }
        DecodedType::Schema | DecodedType::SchemaOrFlag | DecodedType::SchemaOrList | DecodedType::SchemaOrNames
            if a.is_map() && b.is_map() =>
        {
            same_words(&Schema::new(a), &Schema::new(b))
        }
        DecodedType::SchemaOrList if a.is_seq() && b.is_seq() => same_node(&DecodedType::List(&DecodedType::Schema), a, b),
        _ => a.same(b),
    }
}

/// Compares values that the server keeps as written, where `1` and `1.0` differ.
fn exactly(a: Node<'_>, b: Node<'_>) -> bool {
    match (a.data(), b.data()) {
        (Data::Seq, Data::Seq) => a.len() == b.len() && a.items().zip(b.items()).all(|(a, b)| exactly(a, b)),
        (Data::Map, Data::Map) => {
            a.len() == b.len() && a.entries().all(|entry| b.get(entry.name()).is_some_and(|other| exactly(entry.value, other)))
        }
        (Data::Int(_), Data::Float(_)) | (Data::Float(_), Data::Int(_)) => false,
        _ => a.same(b),
    }
}

fn is_pointer(name: &str, beside: &[(&str, DecodedType)]) -> bool {
    match name {
        "labelSelectorPath" | "reason" | "optionalOldSelf" | "deprecationWarning" | "path" | "port" | "status" | "scale" => true,
        // The URL of a webhook is optional; that of external documentation is a plain string.
        "url" => beside.iter().any(|(name, _)| *name == "service"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::{YamlBudget, parse};

    fn same(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(|text| parse(&text.to_owned().into(), &YamlBudget::default()));
        let tree = |documents: &[crate::input::yaml::Document]| {
            documents.first().and_then(|one| one.tree.as_ref().ok().cloned()).expect("a schema")
        };
        let (a, b) = (tree(&a), tree(&b));
        same_schema(Some(&Schema::new(a.root())), Some(&Schema::new(b.root())))
    }

    #[test]
    fn values_are_compared_as_written() {
        assert!(!same(r#"{"enum": [1]}"#, r#"{"enum": [1.0]}"#));
        assert!(!same(r#"{"default": {"a": [2]}}"#, r#"{"default": {"a": [2.0]}}"#));
        assert!(same(r#"{"default": {"a": 1, "b": 2}}"#, r#"{"default": {"b": 2, "a": 1}}"#));
        assert!(same(r#"{"maximum": 1}"#, r#"{"maximum": 1.0}"#));
    }
}
