//! Formats values of a document for messages: compact, on one line, never long.

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
    let named: Vec<String> = list.iter().take(NAMED).map(|name| cut(name.as_ref(), LONGEST)).collect();
    let more = list.len().saturating_sub(NAMED);
    match more {
        0 => named.join(", "),
        _ => format!("{} and {more} more", named.join(", ")),
    }
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

/// One text for all spellings of the same schema: keys sorted, `enum` and `required` as sets, documentation left out.
pub(super) fn canonical(node: Node<'_>) -> String {
    let mut text = String::new();
    write_canonical(node, false, &mut text);
    text
}

/// One text for all orders of keys, and of `enum` and `required`.
pub(super) fn ordered(node: Node<'_>) -> String {
    let mut text = String::new();
    write_canonical(node, true, &mut text);
    text
}

fn write_canonical(node: Node<'_>, whole: bool, text: &mut String) {
    let part = |node: Node<'_>| if whole { ordered(node) } else { canonical(node) };
    match node.data() {
        Data::Str(string) => text.push_str(&serde_json::Value::from(string).to_string()),
        Data::Seq => {
            text.push('[');
            for item in node.items() {
                write_canonical(item, whole, text);
                text.push(',');
            }
            text.push(']');
        }
        Data::Map => {
            let documentation = |name: &str| matches!(name, "description" | "title" | "example" | "externalDocs");
            let kept = node.entries().filter(|entry| whole || !(entry.value.is_null() || documentation(entry.name())));
            let mut entries: Vec<_> = kept.collect();
            entries.sort_by_key(|entry| entry.name());
            text.push('{');
            for entry in entries {
                text.push_str(&serde_json::Value::from(entry.name()).to_string());
                text.push(':');
                match entry.name() {
                    "enum" | "required" => {
                        let mut items: Vec<String> = entry.value.items().map(part).collect();
                        items.sort();
                        if !whole {
                            items.dedup();
                        }
                        text.push_str(&items.join(","));
                    }
                    _ => write_canonical(entry.value, whole, text),
                }
                text.push(',');
            }
            text.push('}');
        }
        _ => write(node, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_kept_on_one_line() {
        assert_eq!(cut("a\n  b", 10), "a b");
        assert_eq!(cut("abcdef", 3), "abc…");
        assert_eq!(names(&["a", "b"]), "a, b");
        assert_eq!(names(&["a"; 9]), "a, a, a, a, a, a and 3 more");
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        assert_eq!(around_difference("abc", "abd", 6), ("abc".to_owned(), "abd".to_owned()));
        assert_eq!(around_difference("0123456789abcdef", "0123456789Xbc", 6), ("…89abcd…".to_owned(), "…89Xbc".to_owned()));
        assert_eq!(around_difference("0123456789", "9876543210", 4), ("0123…".to_owned(), "9876…".to_owned()));
    }
}
