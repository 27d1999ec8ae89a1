//! Edits CEL rules after a field was renamed or moved.
//!
//! References to the field are found in the syntax tree: selections, `has()`, optional selections and keys, through `self`,
//! `oldSelf` and variables bound to parts of them. String literals and fields with the same name elsewhere don't change. The text
//! is then edited only at these names, so the rest of the rule is unchanged.

mod field_reads;
mod rule_text;

use std::collections::BTreeMap;

use super::name;
use super::parse::read;
use crate::model::PathStep;

use field_reads::FieldReads;
use rule_text::RuleText;

/// The rule after a field moved from `old` to `new`, both relative to the node of the rule. `None` if the rule can't follow: it
/// reads the field in an unsupported way, or it reads an object as a whole that loses or gets the field.
pub fn rename(rule: &str, old: &[PathStep], new: &[PathStep]) -> Option<String> {
    let shared = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (gone, come) = (names(old.get(shared..)?), names(new.get(shared..)?));
    let expr = read(rule).ok()?;
    let found = FieldReads::of(&expr, old);
    let taken = FieldReads::of(&expr, new);
    if found.lost || found.changes(shared + 1..old.len()) || taken.lost || taken.mentioned || taken.changes(shared + 1..new.len()) {
        return None;
    }
    if !found.mentioned {
        return Some(rule.to_owned());
    }
    let (gone, come) = (gone?, come?.iter().map(|name| name::escape(name)).collect::<Option<Vec<_>>>()?);
    if gone.is_empty() || come.is_empty() {
        return None;
    }
    let source = RuleText::of(rule)?;
    let mut edits = BTreeMap::new();
    for read in &found.found {
        let (range, text) = if gone.len() == 1 && come.len() == 1 {
            source.new_name(read, new.last()?)?
        } else {
            source.new_place(read, gone.len(), &come)?
        };
        edits.insert(range.start, (range, text));
    }
    let renamed = crate::input::edited(rule, edits.into_values())?;
    read(&renamed).is_ok().then_some(renamed)
}

/// Whether a rule reads a field, or an object or list around it as a whole. An unsupported expression is assumed to read it.
pub fn mentions(rule: &str, path: &[PathStep]) -> bool {
    read(rule).map_or(true, |expr| {
        let found = FieldReads::of(&expr, path);
        found.mentioned || found.lost || !found.whole.is_empty()
    })
}

/// The names of steps, if all are names.
fn names(steps: &[PathStep]) -> Option<Vec<&str>> {
    steps.iter().map(|step| if let PathStep::Key(name) = step { Some(&**name) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FieldPath;

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).expect("a path")
    }

    #[track_caller]
    fn follows(old: &str, new: &str, rule: &str, expected: &str) {
        assert_eq!(rename(rule, path(old).steps(), path(new).steps()).as_deref(), Some(expected), "{rule}");
    }

    #[track_caller]
    fn can_not_follow(old: &str, new: &str, rule: &str) {
        assert_eq!(rename(rule, path(old).steps(), path(new).steps()), None, "{rule}");
    }

    #[test]
    fn references_to_the_field_are_renamed() {
        follows("a", "b", "has(self.a) && size(self.a) > 0", "has(self.b) && size(self.b) > 0");
        follows("a", "b", "has( (self . a) ) // self.a", "has( (self . b) ) // self.a");
        follows("a", "b", "self.a != oldSelf.a", "self.b != oldSelf.b");
        follows("a", "b", "self.?a.orValue(1) > 0 && self.?a.hasValue()", "self.?b.orValue(1) > 0 && self.?b.hasValue()");
        follows("a", "b", "self.?a.optMap(v, v + 1).orValue(3) == 3", "self.?b.optMap(v, v + 1).orValue(3) == 3");
        follows("a", "b", "self['a'] == 1", "self['b'] == 1");
        follows("a", "in", "self.a.a == 1", "self.__in__.a == 1");
        follows("a-b", "[\"c.d\"]", "self.a__dash__b == 'a-b'", "self.c__dot__d == 'a-b'");
        follows("x.a", "x.b", "self.x.a == self.y.a && self.a == x.a", "self.x.b == self.y.a && self.a == x.a");
        follows("m{}.a", "m{}.b", "self.m.all(k, v, v.a > 0) && self.m['a'].a > 0", "self.m.all(k, v, v.b > 0) && self.m['a'].b > 0");
    }

    #[test]
    fn references_through_variables_are_renamed() {
        follows("[].a", "[].b", "self.all(x, x.a > 1 && self[0].a != x.c)", "self.all(x, x.b > 1 && self[0].b != x.c)");
        follows("l[].a", "l[].b", "self.l.filter(x, has(x.a)).all(y, y.a > 1)", "self.l.filter(x, has(x.b)).all(y, y.b > 1)");
        follows("l[].a", "l[].b", "self.l.all(x, self.k.all(y, y.a == x.a))", "self.l.all(x, self.k.all(y, y.a == x.b))");
        follows("l[].a", "l[].b", "self.l.map(x, x.c).all(y, y > 1)", "self.l.map(x, x.c).all(y, y > 1)");
        follows("l[].a", "l[].b", "self.l.all(x, x == oldSelf.l[0])", "self.l.all(x, x == oldSelf.l[0])");
        // A variable that shadows `self` isn't the object.
        follows("a", "b", "self.l.all(self, self.a > 1)", "self.l.all(self, self.a > 1)");
    }

    #[test]
    fn string_literals_are_unchanged() {
        follows("a", "b", "self.mode != 'self.a' && self.mode != 'a'", "self.mode != 'self.a' && self.mode != 'a'");
        follows("replicaCount", "replicas", "self.note != \"self.replicaCount\"", "self.note != \"self.replicaCount\"");
    }

    #[test]
    fn fields_that_move() {
        follows("x.a", "z", "self.x.a == 'y' && has(self.x.a) && has(self.x.b)", "self.z == 'y' && has(self.z) && has(self.x.b)");
        follows("x.a", "z", "self.?x.?a.orValue(1) == 1", "self.?z.orValue(1) == 1");
        follows("a", "x.z", "!has(self.a) || self.a > 1", "!(has(self.x) && has(self.x.z)) || self.x.z > 1");
        follows("l[].a", "l[].x.a", "self.l.all(i, has(i.a))", "self.l.all(i, (has(i.x) && has(i.x.a)))");
    }

    #[test]
    fn unsupported_references_are_reported() {
        can_not_follow("l[].a", "l[].b", "self.l.map(x, x).all(y, y.a > 1)");
        can_not_follow("x.a", "x.b", "(self.c ? self.x : self.y).a > 1");
        can_not_follow("a", "b", "[self].all(x, x.a > 1)");
        can_not_follow("a", "b", "dyn(self)[self.k] == 1");
        can_not_follow("a", "b c", "self.a == 1");
        can_not_follow("x.a", "z", "!has(self.x) || self.x.a > 1");
        can_not_follow("x.a", "z", "(self.x).a > 1");
        can_not_follow("a", "b", "self.a ==");
    }

    #[test]
    fn mentions_include_reads_of_whole_parents() {
        let mentioned = |rule: &str, field: &str| mentions(rule, path(field).steps());
        for rule in
            ["self.l.all(i, i.a > 1)", "self.l.all(i, self.l.exists_one(j, i == j))", "self.l.map(i, i).all(j, j.a > 1)", "self.l =="]
        {
            assert!(mentioned(rule, "l[].a"), "{rule}");
        }
        for rule in ["size(self.l) > 1", "self.a == 'a'", "self.l.all(i, i.b != 'a')", "has(self.l)"] {
            assert!(!mentioned(rule, "l[].a"), "{rule}");
        }
    }
}
