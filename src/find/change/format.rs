//! The formats that a server validates, and how they stand to each other.

use std::collections::BTreeSet;

use crate::go::strfmt::Format;

use super::limits::Types;
use super::relation::Relation;

/// A format that restricts a node of these types, in the spelling that the server compares: without dashes.
/// `password`, `int64` and `double` are known to it and restrict nothing that JSON can carry.
pub(super) fn known(format: &str, types: Types) -> Option<String> {
    let plain = format.replace('-', "");
    let restricts = match plain.as_str() {
        "int32" => types.has(Types::INTEGER),
        "float" => types.has(Types::FRACTION),
        "password" => false,
        text => types.has(Types::STRING) && Format::of(text).is_some(),
    };
    restricts.then_some(plain)
}

pub(super) fn compare(old: &BTreeSet<String>, new: &BTreeSet<String>) -> Relation {
    let implied = |by: &BTreeSet<String>, one: &String| by.iter().any(|other| other == one || includes(one, other));
    Relation::of(new.iter().any(|one| !implied(old, one)), old.iter().any(|one| !implied(new, one)))
}

/// Whether every text of `narrow` is also one of `wide`.
fn includes(wide: &str, narrow: &str) -> bool {
    matches!((wide, narrow), ("uuid", "uuid3" | "uuid4" | "uuid5") | ("isbn", "isbn10" | "isbn13"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_formats_restrict() {
        assert_eq!(known("date-time", Types::STRING), known("datetime", Types::STRING));
        assert_eq!(known("quantity", Types::STRING), None);
        assert_eq!(known("int32", Types::STRING), None);
        assert_eq!(known("int64", Types::INTEGER), None);
    }

    #[test]
    fn a_special_form_is_narrower() {
        let set = |word: &str| BTreeSet::from([word.to_owned()]);
        assert_eq!(compare(&set("uuid"), &set("uuid4")), Relation::Narrowed);
        assert_eq!(compare(&set("uuid4"), &set("uuid")), Relation::Widened);
        assert_eq!(compare(&set("date"), &set("email")), Relation::Changed);
    }
}
