//! Formats values of a document for messages: compact, on one line, never long.

use crate::input::list_some;
use crate::input::yaml::{Data, Node};

pub(super) use crate::input::shorten_line as cut;

/// The longest value shown in full; the place in the file shows the rest.
const LONGEST: usize = 72;
/// How many values of a list are named before "and N more".
const NAMED: usize = 6;

/// Shown for a missing keyword.
pub(super) const UNSET: &str = "unset";

/// Formats a value as compact JSON, shortened; `unset` if there is none.
pub(super) fn value(node: Option<Node<'_>>) -> String {
    let Some(node) = node else { return UNSET.to_owned() };
    let mut text = String::new();
    write(node, &mut text);
    cut(&text, LONGEST)
}

/// Shortens two texts to `limit` characters each, around the first place where they differ.
pub(super) fn around_difference(old: &str, new: &str, limit: usize) -> (String, String) {
    let whole = |text: &str| cut(text, usize::MAX);
    let (old, new) = (whole(old), whole(new));
    let shared = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    // Some text before the difference shows where it is.
    let before = limit / 3;
    let show = |text: &str| {
        let skipped = if text.chars().count() > limit { shared.saturating_sub(before) } else { 0 };
        let rest: String = text.chars().skip(skipped).collect();
        format!("{}{}", if skipped > 0 { "…" } else { "" }, cut(&rest, limit))
    };
    (show(&old), show(&new))
}

/// Some names, followed by how many more there are.
pub(super) fn names<T: AsRef<str>>(list: &[T]) -> String {
    list_some(list.iter().map(|name| cut(name.as_ref(), LONGEST)), NAMED)
}

/// Stops as soon as the text is longer than what will be shown.
fn write(node: Node<'_>, text: &mut String) {
    if text.len() > 4 * LONGEST {
        return;
    }
    match node.data() {
        Data::Null => text.push_str("null"),
        Data::Bool(flag) => text.push_str(if flag { "true" } else { "false" }),
        Data::Int(int) => text.push_str(&int.to_string()),
        Data::Float(float) => text.push_str(&float.to_string()),
        Data::Str(string) => text.push_str(&serde_json::Value::from(cut(string, 4 * LONGEST)).to_string()),
        Data::Seq => {
            text.push('[');
            for (index, item) in node.items().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                write(item, text);
            }
            text.push(']');
        }
        Data::Map => {
            text.push('{');
            for (index, entry) in node.entries().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                text.push_str(entry.name());
                text.push_str(": ");
                write(entry.value, text);
            }
            text.push('}');
        }
    }
}

/// What a node of a document is. Names of fields and keys of data are not keywords.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    Schema,
    /// The value of `properties`: schemas by the names of fields.
    Properties,
    Data,
}

/// One text for all spellings of the same schema: keys sorted, `enum` and `required` as sets, documentation left out.
pub(super) fn canonical(node: Node<'_>, kind: NodeKind) -> String {
    let mut text = String::new();
    write_canonical(node, kind, false, &mut text);
    text
}

/// One text for all orders of keys, and of `enum` and `required`.
pub(super) fn ordered(node: Node<'_>, kind: NodeKind) -> String {
    let mut text = String::new();
    write_canonical(node, kind, true, &mut text);
    text
}

/// Unlike the texts for messages, these are compared, so nothing is shortened.
fn write_canonical(node: Node<'_>, kind: NodeKind, whole: bool, text: &mut String) {
    match node.data() {
        Data::Null => text.push_str("null"),
        Data::Bool(flag) => text.push_str(if flag { "true" } else { "false" }),
        Data::Int(int) => text.push_str(&int.to_string()),
        Data::Float(float) => text.push_str(&float.to_string()),
        Data::Str(string) => text.push_str(&serde_json::Value::from(string).to_string()),
        Data::Seq => {
            text.push('[');
            for item in node.items() {
                write_canonical(item, kind, whole, text);
                text.push(',');
            }
            text.push(']');
        }
        Data::Map => {
            let documentation =
                |name: &str| kind == NodeKind::Schema && matches!(name, "description" | "title" | "example" | "externalDocs");
            let unset = |value: Node<'_>| kind == NodeKind::Schema && value.is_null();
            let kept = node.entries().filter(|entry| whole || !(unset(entry.value) || documentation(entry.name())));
            let mut entries: Vec<_> = kept.collect();
            entries.sort_by_key(|entry| entry.name());
            text.push('{');
            for entry in entries {
                text.push_str(&serde_json::Value::from(entry.name()).to_string());
                text.push(':');
                match (kind, entry.name()) {
                    (NodeKind::Schema, "enum" | "required") if entry.value.is_seq() => write_set(entry.value, whole, text),
                    (NodeKind::Schema, "properties") => write_canonical(entry.value, NodeKind::Properties, whole, text),
                    (NodeKind::Schema, "enum" | "required" | "default" | "example") | (NodeKind::Data, _) => {
                        write_canonical(entry.value, NodeKind::Data, whole, text);
                    }
                    (NodeKind::Schema | NodeKind::Properties, _) => write_canonical(entry.value, NodeKind::Schema, whole, text),
                }
                text.push(',');
            }
            text.push('}');
        }
    }
}

fn write_set(list: Node<'_>, whole: bool, text: &mut String) {
    let item = |node: Node<'_>| if whole { ordered(node, NodeKind::Data) } else { canonical(node, NodeKind::Data) };
    let mut items: Vec<String> = list.items().map(item).collect();
    items.sort();
    if !whole {
        items.dedup();
    }
    text.push_str(&items.join(","));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::{YamlBudget, parse};

    #[test]
    fn long_texts_are_cut_and_kept_on_one_line() {
        assert_eq!(cut("a\n  b", 10), "a b");
        assert_eq!(cut("abcdef", 3), "abc…");
        assert_eq!(names(&["a", "b"]), "a, b");
        assert_eq!(names(&["a"; 9]), "a, a, a, a, a, a and 3 more");
    }

    fn texts(yaml: &str) -> (String, String) {
        let documents = parse(&yaml.into(), &YamlBudget::default());
        let root = documents.first().and_then(|document| document.tree.as_ref().ok()).expect("a schema").root();
        (ordered(root, NodeKind::Schema), canonical(root, NodeKind::Schema))
    }

    fn differ(old: &str, new: &str) {
        let ((a, b), (c, d)) = (texts(old), texts(new));
        assert!(a != c && b != d, "{a}\n{b}");
    }

    #[test]
    fn texts_to_compare_are_complete() {
        let list = |last: u32| format!("anyOf: [{}{{maximum: {last}}}]", "{minimum: 1, nullable: true}, ".repeat(40));
        differ(&list(5), &list(6));
        let text = |last: &str| format!("anyOf: [{{pattern: {}{last}}}]", "a".repeat(1_000));
        differ(&text("b"), &text("c"));
    }

    #[test]
    fn fields_and_keys_with_the_names_of_keywords_are_compared() {
        for name in ["enum", "required", "description", "default", "properties"] {
            differ(
                &format!("anyOf: [{{properties: {{{name}: {{maxLength: 5}}}}}}]"),
                &format!("anyOf: [{{properties: {{{name}: {{maxLength: 6}}}}}}]"),
            );
            differ(&format!("enum: [{{{name}: [a, b]}}]"), &format!("enum: [{{{name}: [b, a]}}]"));
            differ(&format!("enum: [{{{name}: null}}]"), "enum: [{}]");
        }
    }

    #[test]
    fn order_and_documentation_are_left_out() {
        let (old, new) = ("{enum: [a, b], description: x, type: string}", "{type: string, enum: [b, a, a], nullable: null}");
        assert_eq!(texts(old).1, texts(new).1);
        assert_eq!(texts("{required: [a, b], type: object}").0, texts("{type: object, required: [b, a]}").0);
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        assert_eq!(around_difference("abc", "abd", 6), ("abc".to_owned(), "abd".to_owned()));
        assert_eq!(around_difference("0123456789abcdef", "0123456789Xbc", 6), ("…89abcd…".to_owned(), "…89Xbc".to_owned()));
        assert_eq!(around_difference("0123456789", "9876543210", 4), ("0123…".to_owned(), "9876…".to_owned()));
    }
}
