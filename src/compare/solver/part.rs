//! Splits a shape or formula into the conditions that a value of one kind must all satisfy.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::go::strfmt::Format;
use crate::model::number::NumberDomain;
use crate::model::schema::shape::{CelRule, Extra, ListType, Shape};
use crate::server::object::{CheckNode, number_domains};

use super::formula::Formula;
use super::numbers;
use super::read::{Pair, Reader};
use super::same::Same;
use super::{Kind, Kinds, RuleCache, Term};

pub(crate) type Name<'s> = Cow<'s, str>;

/// One condition on a value of a known kind.
#[derive(Debug, Clone)]
pub(crate) enum Part<'s> {
    Enum(&'s [Value]),
    Is(Value),
    AnyOf(&'s [Shape]),
    OneOf(&'s [Shape]),
    Term(Term<'s>),
    Not(Term<'s>),
    AllFormulas(Rc<Formula>),
    AnyFormula(Rc<Formula>),
    /// A CEL rule without a formula.
    Opaque(Opaque<'s>),
    // strings
    Pattern(Arc<str>),
    Format(Format),
    // numbers
    Number(NumberDomain),
    // code points, items, keys
    MinSize(u64),
    MaxSize(u64),
    // lists
    Each(Term<'s>),
    Unique(Unique<'s>),
    // objects
    Required(Name<'s>),
    Has(Name<'s>),
    Property(Name<'s>, Term<'s>),
    /// Every key that this node declares satisfies its schema. It only holds: what may fail is a [`Part::Property`].
    Properties(&'s Shape),
    /// No keys except those that this shape declares.
    Closed(&'s Shape),
    /// Every value whose key the shape doesn't declare; without a shape, every value.
    Values(Option<&'s Shape>, Term<'s>),
    Keys(Rc<Formula>),
    Embedded,
}

/// A CEL rule without a formula.
#[derive(Debug, Clone)]
pub(crate) struct Opaque<'s> {
    pub(crate) rule: &'s CelRule,
    /// The node of the rule.
    pub(crate) shape: &'s Shape,
    pub(crate) canonical: [Rc<str>; 2],
}

impl Opaque<'_> {
    /// Whether two rules have the same result for values that look the same to them.
    pub(crate) fn says(&self, other: &Opaque<'_>) -> bool {
        self.canonical.iter().zip(&other.canonical).any(|(a, b)| a == b) && self.rule.optional_old_self == other.rule.optional_old_self
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Unique<'s> {
    /// All items differ.
    Items,
    /// The keys of a list of type `map` differ, and all items are objects.
    Keys(&'s Shape),
}

/// No value of this kind is accepted.
pub(crate) struct Unsatisfiable;

pub(crate) struct Parts<'p, 's> {
    /// Nodes that are compared without their children.
    pub(crate) pair: Option<Pair<'s>>,
    pub(crate) rules: &'p RuleCache<'s>,
}

impl<'s> Parts<'_, 's> {
    /// The conditions of a shape on a value of this kind. If it must fail, each declared key may.
    pub(crate) fn of_shape(&self, shape: &'s Shape, kind: Kind, declared: bool, holds: bool) -> Result<Vec<Part<'s>>, Unsatisfiable> {
        let term = |shape: &'s Shape| if declared { Term::Node(shape) } else { Term::Clause(shape) };
        if !Kinds::accepted_by(shape).has(kind) {
            return Err(Unsatisfiable);
        }
        let pair = self.pair.filter(|pair| declared && pair.has(shape));
        let mut parts = Vec::new();
        if let Some(values) = &shape.enum_values {
            parts.push(Part::Enum(values));
        }
        let counted = match kind {
            Kind::String => {
                parts.extend(shape.pattern.iter().map(|pattern| Part::Pattern(Arc::clone(pattern))));
                parts.extend(Reader::of(shape).string_format().map(Part::Format));
                Some(shape.length)
            }
            Kind::Int | Kind::Float => {
                let domains = number_domains(shape).filter(|domain| !is_trivial(domain, kind));
                parts.extend(domains.map(Part::Number));
                None
            }
            Kind::Array => {
                let items = shape.items.as_deref().map(|own| pair.and_then(Pair::items).unwrap_or(own));
                parts.extend(items.map(|items| Part::Each(term(items))));
                if shape.unique_items {
                    parts.push(Part::Unique(Unique::Items));
                }
                if declared {
                    match shape.list_type {
                        ListType::Atomic => {}
                        ListType::Set => parts.push(Part::Unique(Unique::Items)),
                        ListType::Map => parts.push(Part::Unique(Unique::Keys(shape))),
                    }
                }
                Some(shape.item_count)
            }
            Kind::Object => {
                parts.extend(shape.required.iter().map(|name| Part::Required(Cow::Borrowed(name))));
                let property = |(name, child): (&'s String, &'s Shape)| Part::Property(Cow::Borrowed(name.as_str()), term(child));
                match pair {
                    _ if declared && holds => parts.push(Part::Properties(shape)),
                    Some(pair) => parts.extend(pair.children(shape).map(property)),
                    None => parts.extend(shape.properties.iter().map(|(name, child)| property((name, child)))),
                }
                match &shape.extra {
                    Extra::Refused => parts.push(Part::Closed(shape)),
                    Extra::Values(values) => {
                        let values = pair.map_or(&**values, |pair| pair.values(values));
                        parts.push(Part::Values(Some(shape), term(values)));
                    }
                    Extra::Any | Extra::Closed => {}
                }
                if declared && shape.embedded {
                    parts.push(Part::Embedded);
                }
                Some(shape.property_count)
            }
            Kind::Bool => None,
            Kind::Null => return Ok(parts),
        };
        if let Some(count) = counted {
            if count.min > 0 {
                parts.push(Part::MinSize(count.min));
            }
            parts.extend(count.max.map(Part::MaxSize));
        }
        parts.extend(shape.all_of.iter().map(|clause| Part::Term(Term::Clause(clause))));
        if !shape.any_of.is_empty() {
            parts.push(Part::AnyOf(&shape.any_of));
        }
        if !shape.one_of.is_empty() {
            parts.push(Part::OneOf(&shape.one_of));
        }
        parts.extend(shape.not.iter().map(|not| Part::Not(Term::Clause(not))));
        if declared {
            for rule in &shape.rules {
                match self.rules.formula(rule, shape) {
                    Some(formula) => parts.push(Part::Term(Term::Formula(formula))),
                    None => {
                        parts.push(Part::Opaque(Opaque { rule, shape, canonical: self.rules.canonical(rule, shape) }));
                        // It follows from the rule, so it changes nothing, but this much can be used.
                        parts.extend(self.rules.necessary(rule, shape).map(|formula| Part::Term(Term::Formula(formula))));
                    }
                }
            }
        }
        Ok(parts)
    }

    /// What a formula requires of a value of this kind; `Err` if it can't hold.
    pub(crate) fn of_formula(&self, formula: &Rc<Formula>, kind: Kind) -> Result<Option<Part<'s>>, Unsatisfiable> {
        let numeric = matches!(kind, Kind::Int | Kind::Float);
        let sized = matches!(kind, Kind::String | Kind::Array | Kind::Object);
        let object = kind == Kind::Object;
        let part = match &**formula {
            Formula::Const(true) => return Ok(None),
            Formula::All(_) => Part::AllFormulas(Rc::clone(formula)),
            Formula::Any(_) => Part::AnyFormula(Rc::clone(formula)),
            Formula::Not(inner) => Part::Not(Term::Formula(Rc::clone(inner))),
            Formula::Is(kinds) if kinds.has(kind) => return Ok(None),
            Formula::Equals(value) => match value {
                Value::Number(n) if numeric => {
                    let n = n.as_f64().filter(|n| kind == Kind::Float || n.fract() == 0.0).ok_or(Unsatisfiable)?;
                    Part::Number(numbers::exactly(n))
                }
                _ if Kind::of(value) == kind => Part::Is(value.clone()),
                _ => return Err(Unsatisfiable),
            },
            Formula::AtLeast { bound, strict } if numeric => Part::Number(numbers::at_least(kind, *bound, *strict)),
            Formula::AtMost { bound, strict } if numeric => Part::Number(numbers::at_most(kind, *bound, *strict)),
            Formula::Divisible(by) if kind == Kind::Int => Part::Number(numbers::divisible(*by)),
            Formula::MinSize(0) if sized => return Ok(None),
            Formula::MinSize(n) if sized => Part::MinSize(*n),
            Formula::MaxSize(n) if sized => Part::MaxSize(*n),
            Formula::Matches(pattern) if kind == Kind::String => Part::Pattern(Arc::clone(pattern)),
            Formula::Has(key) if object => Part::Has(Cow::Owned(key.as_ref().to_owned())),
            Formula::Key(key) if object => Part::Required(Cow::Owned(key.as_ref().to_owned())),
            Formula::Field(key, inner) if object => Part::Property(Cow::Owned(key.as_ref().to_owned()), Term::Formula(Rc::clone(inner))),
            Formula::Each(inner) if kind == Kind::Array => Part::Each(Term::Formula(Rc::clone(inner))),
            Formula::Each(inner) if object => Part::Values(None, Term::Formula(Rc::clone(inner))),
            Formula::Keys(inner) if object => Part::Keys(Rc::clone(inner)),
            _ => return Err(Unsatisfiable),
        };
        Ok(Some(part))
    }
}

/// Whether a domain contains every number of a kind.
fn is_trivial(domain: &NumberDomain, kind: Kind) -> bool {
    let free = NumberDomain { kind: domain.kind, ..NumberDomain::default() };
    let whole = kind == Kind::Float && domain.kind == crate::model::number::NumberKind::Integer;
    *domain == free && !whole
}

/// Whether two conditions on the same value are the same.
pub(crate) fn same_part(same: &mut Same, a: &Part<'_>, b: &Part<'_>) -> bool {
    match (a, b) {
        (Part::Enum(a), Part::Enum(b)) => a == b,
        (Part::Is(a), Part::Is(b)) => a == b,
        (Part::AnyOf(a), Part::AnyOf(b)) | (Part::OneOf(a), Part::OneOf(b)) => same.lists(a, b),
        (Part::Term(a), Part::Term(b)) | (Part::Not(a), Part::Not(b)) | (Part::Each(a), Part::Each(b)) => same_term(same, a, b),
        (Part::AllFormulas(a), Part::AllFormulas(b)) | (Part::AnyFormula(a), Part::AnyFormula(b)) => a == b,
        (Part::Opaque(a), Part::Opaque(b)) => a.says(b) && same.typed(a.shape, b.shape),
        (Part::Pattern(a), Part::Pattern(b)) => a == b,
        (Part::Format(a), Part::Format(b)) => a == b,
        (Part::Number(a), Part::Number(b)) => a == b,
        (Part::MinSize(a), Part::MinSize(b)) | (Part::MaxSize(a), Part::MaxSize(b)) => a == b,
        (Part::Unique(Unique::Items), Part::Unique(Unique::Items)) => true,
        (Part::Unique(Unique::Keys(a)), Part::Unique(Unique::Keys(b))) => a.map_keys == b.map_keys,
        (Part::Required(a), Part::Required(b)) | (Part::Has(a), Part::Has(b)) => a == b,
        (Part::Property(x, a), Part::Property(y, b)) => x == y && same_term(same, a, b),
        (Part::Closed(a), Part::Closed(b)) => a.properties.keys().eq(b.properties.keys()),
        (Part::Values(x, a), Part::Values(y, b)) => {
            let known = match (x, y) {
                (Some(x), Some(y)) => x.properties.keys().eq(y.properties.keys()),
                (None, None) => true,
                _ => false,
            };
            known && same_term(same, a, b)
        }
        (Part::Keys(a), Part::Keys(b)) => a == b,
        (Part::Embedded, Part::Embedded) => true,
        _ => false,
    }
}

pub(crate) fn same_term(same: &mut Same, a: &Term<'_>, b: &Term<'_>) -> bool {
    match (a, b) {
        (Term::Node(a), Term::Node(b)) | (Term::Clause(a), Term::Clause(b)) => same.shapes(a, b),
        (Term::Formula(a), Term::Formula(b)) => a == b,
        _ => false,
    }
}

/// The keys of an object that a condition depends on; `None` if it depends on more.
pub(crate) fn reads(part: &Part<'_>) -> Option<BTreeSet<String>> {
    let mut keys = BTreeSet::new();
    let all = match part {
        Part::Term(term) => term_reads(term, &mut keys),
        Part::AnyOf(clauses) | Part::OneOf(clauses) => clauses.iter().all(|clause| clause_reads(clause, &mut keys)),
        _ => false,
    };
    all.then_some(keys)
}

fn term_reads(term: &Term<'_>, keys: &mut BTreeSet<String>) -> bool {
    match term {
        Term::Clause(shape) => clause_reads(shape, keys),
        Term::Formula(formula) => formula_reads(formula, keys),
        Term::Node(_) => false,
    }
}

fn clause_reads(shape: &Shape, keys: &mut BTreeSet<String>) -> bool {
    keys.extend(shape.properties.keys().cloned());
    keys.extend(shape.required.iter().cloned());
    let clauses = shape.all_of.iter().chain(&shape.any_of).chain(&shape.one_of).chain(shape.not.as_deref());
    shape.enum_values.is_none()
        && shape.property_count == Default::default()
        && shape.extra == Extra::Closed
        && clauses.into_iter().all(|clause| clause_reads(clause, keys))
}

fn formula_reads(formula: &Formula, keys: &mut BTreeSet<String>) -> bool {
    match formula {
        Formula::Const(_) | Formula::Is(_) => true,
        Formula::All(parts) | Formula::Any(parts) => parts.iter().all(|part| formula_reads(part, keys)),
        Formula::Not(part) => formula_reads(part, keys),
        Formula::Has(key) | Formula::Key(key) | Formula::Field(key, _) => {
            keys.insert(key.as_ref().to_owned());
            true
        }
        // All views read anything but an object the same way.
        Formula::AtLeast { .. } | Formula::AtMost { .. } | Formula::Divisible(_) | Formula::Matches(_) => true,
        Formula::Equals(value) => !value.is_object(),
        Formula::MinSize(_) | Formula::MaxSize(_) | Formula::Each(_) | Formula::Keys(_) => false,
    }
}
