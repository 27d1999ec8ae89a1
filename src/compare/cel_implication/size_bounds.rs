//! Decides whether a rule about sizes always holds for the sizes that a schema allows: sixteen lists of at most eight items have no
//! more than 128 together.
//!
//! Each part of the rule gets the range of its values. A part that may fail (an absent field, an index beyond the end) has none,
//! and then nothing is proved.

use std::collections::{BTreeMap, BTreeSet};

use crate::cel::ast::{Expr, ExprKind as Kind, Literal};
use crate::cel::comparison::Operator;
use crate::cel::name::unescape;
use crate::cel::parse::read;
use crate::compare::cel_condition::{Condition, size_of};
use crate::model::schema::{Keyword, Schema, is_meta};

/// Numbers from the first to the second, inclusive.
type Range = (i64, i64);

/// What is known where a part of the rule is evaluated.
#[derive(Clone, Default)]
struct Given {
    present: BTreeSet<String>,
    least: BTreeMap<String, i64>,
}

/// Whether a rule is true, and doesn't fail, for every value that a schema accepts.
pub(super) fn always_holds(rule: &str, schema: &Schema<'_>) -> bool {
    let Ok(expr) = read(rule) else { return false };
    Sizes { root: schema }.truth(&expr, &Given::default()) == Some((true, false))
}

struct Sizes<'s, 't> {
    root: &'s Schema<'t>,
}

impl<'t> Sizes<'_, 't> {
    /// Whether a condition can be true, and whether it can be false.
    fn truth(&self, expr: &Expr, given: &Given) -> Option<(bool, bool)> {
        match Condition::read(expr) {
            Condition::Constant(value) => Some((value, !value)),
            Condition::Not(inner) => self.truth(inner, given).map(|(yes, no)| (no, yes)),
            // If one part decides the result, the others don't matter, so each is evaluated assuming that those before it don't
            // decide.
            Condition::And(parts) => self.joined(parts, given, true),
            Condition::Or(parts) => self.joined(parts, given, false).map(|(no, yes)| (yes, no)),
            Condition::Choice { condition, yes, no } => {
                let (may, may_not) = self.truth(condition, given)?;
                let taken = |expr: &Expr, truth: bool| self.truth(expr, &self.learnt(condition, truth, given));
                let nothing = Some((false, false));
                let (yes, no) = (if may { taken(yes, true) } else { nothing }?, if may_not { taken(no, false) } else { nothing }?);
                Some((yes.0 || no.0, yes.1 || no.1))
            }
            Condition::Has(select) => {
                let (path, schema) = self.node(&select.operand, given)?;
                let name = unescape(&select.field).unwrap_or_else(|| select.field.clone());
                let (_, child) = schema.property(&name).filter(|_| is_plain(&schema) && !is_meta(&name))?;
                Some((true, !is_there(&schema, &child, &name) && !given.present.contains(&format!("{path}.{name}"))))
            }
            Condition::Compared { left, operator, right } => {
                let ((a, b), (c, d)) = (self.range(left, given)?, self.range(right, given)?);
                Some(match operator {
                    Operator::Less => (a < d, b >= c),
                    Operator::AtMost => (a <= d, b > c),
                    Operator::More => (b > c, a <= d),
                    Operator::AtLeast => (b >= c, a < d),
                    Operator::Equal => (a <= d && c <= b, !(a == b && c == d && a == c)),
                })
            }
            Condition::Unequal(left, right) => {
                let ((a, b), (c, d)) = (self.range(left, given)?, self.range(right, given)?);
                Some((!(a == b && c == d && a == c), a <= d && c <= b))
            }
            _ => None,
        }
    }

    /// Whether all parts can be `wanted`, and whether one of them can be the opposite.
    fn joined(&self, parts: &[Expr], given: &Given, wanted: bool) -> Option<(bool, bool)> {
        let mut given = given.clone();
        let (mut all, mut some_not) = (true, false);
        for part in parts {
            let (yes, no) = self.truth(part, &given)?;
            let (fits, differs) = if wanted { (yes, no) } else { (no, yes) };
            (all, some_not) = (all && fits, some_not || differs);
            given = self.learnt(part, wanted, &given);
        }
        Some((all, some_not))
    }

    /// The range of a number.
    fn range(&self, expr: &Expr, given: &Given) -> Option<Range> {
        if let Some(counted) = size_of(expr) {
            let (path, schema) = self.node(counted, given)?;
            let (least, most) = sizes(&schema)?;
            return Some((least.max(given.least.get(&path).copied().unwrap_or(0)), most)).filter(|(least, most)| least <= most);
        }
        match &expr.kind {
            Kind::Literal(Literal::Int(n)) => Some((*n, *n)),
            Kind::Call(call) => match (&*call.function, call.args.as_slice()) {
                ("_+_", [a, b]) => {
                    let ((a, b), (c, d)) = (self.range(a, given)?, self.range(b, given)?);
                    Some((a.checked_add(c)?, b.checked_add(d)?))
                }
                ("_-_", [a, b]) => {
                    let ((a, b), (c, d)) = (self.range(a, given)?, self.range(b, given)?);
                    Some((a.checked_sub(d)?, b.checked_sub(c)?))
                }
                ("_?_:_", [condition, yes, no]) => {
                    let (may, may_not) = self.truth(condition, given)?;
                    let yes = if may { Some(self.range(yes, &self.learnt(condition, true, given))?) } else { None };
                    let no = if may_not { Some(self.range(no, &self.learnt(condition, false, given))?) } else { None };
                    match (yes, no) {
                        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                        (one, other) => one.or(other),
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The path and schema of a part of the value that certainly exists.
    fn node(&self, expr: &Expr, given: &Given) -> Option<(String, Schema<'t>)> {
        let found = match &expr.kind {
            Kind::Ident(name) if name == "self" => (name.clone(), self.root.clone()),
            Kind::Select(select) if !select.test => {
                let (path, schema) = self.node(&select.operand, given)?;
                let name = unescape(&select.field).unwrap_or_else(|| select.field.clone());
                let (_, child) = schema.property(&name).filter(|_| is_plain(&schema) && !is_meta(&name))?;
                let path = format!("{path}.{name}");
                if !is_there(&schema, &child, &name) && !given.present.contains(&path) {
                    return None;
                }
                (path, child)
            }
            Kind::Call(call) => match (&*call.function, call.args.as_slice()) {
                ("_[_]", [list, index]) => {
                    let Some(Literal::Int(index)) = index.literal() else { return None };
                    let (path, schema) = self.node(list, given)?;
                    let (least, _) = sizes(&schema).filter(|_| schema.ty() == Some("array"))?;
                    let least = least.max(given.least.get(&path).copied().unwrap_or(0));
                    (0..least).contains(index).then_some(())?;
                    (format!("{path}[{index}]"), schema.items()?)
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(found).filter(|(_, schema)| !schema.flag(Keyword::Nullable))
    }

    /// What is known if a condition is true, or false.
    fn learnt(&self, condition: &Expr, truth: bool, given: &Given) -> Given {
        let mut given = given.clone();
        self.learn(condition, truth, &mut given);
        given
    }

    fn learn(&self, condition: &Expr, truth: bool, given: &mut Given) {
        match Condition::read(condition) {
            Condition::Not(inner) => self.learn(inner, !truth, given),
            Condition::And(parts) if truth => parts.iter().for_each(|part| self.learn(part, true, given)),
            Condition::Or(parts) if !truth => parts.iter().for_each(|part| self.learn(part, false, given)),
            Condition::Has(select) if truth => {
                if let Some((path, _)) = self.node(&select.operand, given) {
                    let name = unescape(&select.field).unwrap_or_else(|| select.field.clone());
                    given.present.insert(format!("{path}.{name}"));
                }
            }
            Condition::Compared { left, operator, right } => self.learn_size(left, operator, right, truth, given),
            Condition::Unequal(left, right) => self.learn_size(left, Operator::Equal, right, !truth, given),
            _ => {}
        }
    }

    fn learn_size(&self, left: &Expr, operator: Operator, right: &Expr, truth: bool, given: &mut Given) {
        let (counted, operator, than) = match (size_of(left), size_of(right)) {
            (Some(counted), _) => (counted, operator, right),
            (None, Some(counted)) => (counted, operator.swapped(), left),
            (None, None) => return,
        };
        let Some(Literal::Int(n)) = than.literal() else { return };
        let least = match (operator, truth) {
            (Operator::More, true) | (Operator::AtMost, false) => n.saturating_add(1),
            (Operator::AtLeast | Operator::Equal, true) | (Operator::Less, false) => *n,
            (Operator::Equal, false) if *n == 0 => 1,
            _ => return,
        };
        if let Some((path, _)) = self.node(counted, given) {
            let known = given.least.entry(path).or_insert(0);
            *known = least.max(*known);
        }
    }
}

/// Whether the fields of an object are those that its schema declares.
fn is_plain(schema: &Schema<'_>) -> bool {
    !schema.flag(Keyword::EmbeddedResource) && !schema.is_int_or_string()
}

/// Whether every object that a schema accepts has a field that rules can read. Where the type is string, a format lets lists pass, on
/// which rules fail.
fn is_there(schema: &Schema<'_>, child: &Schema<'_>, name: &str) -> bool {
    let may_fail = child.flag(Keyword::Nullable) || child.ty() == Some("string") && child.has(Keyword::Format);
    !may_fail && (schema.is_required(name) || child.default().is_some_and(|default| !default.is_null()))
}

/// How many items, characters or keys a value can have.
fn sizes(schema: &Schema<'_>) -> Option<Range> {
    let (least, most) = match schema.ty() {
        Some("array") => (Keyword::MinItems, Keyword::MaxItems),
        // A value with a format has another type in CEL, or may be a list.
        Some("string") if !schema.has(Keyword::Format) && !schema.is_int_or_string() => (Keyword::MinLength, Keyword::MaxLength),
        Some("object") if schema.values().is_some() && is_plain(schema) => (Keyword::MinProperties, Keyword::MaxProperties),
        _ => return None,
    };
    Some((schema.count(least).unwrap_or(0).max(0), schema.count(most).unwrap_or(i64::from(u32::MAX))))
}

#[cfg(test)]
mod tests {
    use crate::input::yaml::{YamlBudget, parse};
    use crate::model::schema::Schema;

    use super::always_holds;

    #[test]
    fn sums_of_sizes_are_bounded() {
        let schema = r#"{"type": "array", "maxItems": 2, "items": {"type": "object", "required": ["r"], "properties": {
            "d": {"type": "array", "maxItems": 8, "default": [], "items": {"type": "string"}},
            "m": {"type": "array", "maxItems": 8, "items": {"type": "string"}},
            "n": {"type": "array", "maxItems": 8, "nullable": true, "items": {"type": "string"}},
            "r": {"type": "string", "minLength": 2, "maxLength": 4},
            "f": {"type": "string", "maxLength": 4, "format": "byte"}}}}"#;
        let documents = parse(&schema.to_owned().into(), &YamlBudget::default());
        let schema = Schema::new(documents[0].tree.as_ref().expect("a schema").root());
        for (rule, holds) in [
            ("(self.size() > 0 ? self[0].d.size() : 0) + (self.size() > 1 ? self[1].d.size() : 0) <= 16", true),
            ("(self.size() > 0 ? self[0].d.size() : 0) + (self.size() > 1 ? self[1].d.size() : 0) <= 15", false),
            ("(self.size() > 0 ? self[1].d.size() : 0) <= 16", false),
            ("(self.size() > 0 ? self[0].m.size() : 0) <= 8", false),
            ("(self.size() > 0 ? (has(self[0].m) ? self[0].m.size() : 0) : 0) <= 8", true),
            ("(self.size() > 0 && has(self[0].m) ? self[0].m.size() : 0) <= 8", true),
            ("(self.size() > 0 && has(self[0].n) ? self[0].n.size() : 0) <= 8", false),
            ("self.size() == 0 || self[0].r.size() >= 2", true),
            ("self.size() == 0 || self[0].r.size() > 2", false),
            ("self.size() == 0 || !has(self[0].f) || self[0].f.size() <= 4", false),
            ("self.size() != 3", true),
            ("self.size() < 3 && self.size() - 3 < 0", true),
            ("self[0].r.size() >= 2", false),
        ] {
            assert_eq!(always_holds(rule, &schema), holds, "{rule}");
        }
    }
}
