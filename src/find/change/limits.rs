//! What one node accepts, with the clauses that always hold folded in: `allOf`, junctors of a single clause, double negation.
//!
//! Both sides of a comparison are brought into this form, so that a keyword that moved into an `allOf` is no change.

use std::collections::BTreeSet;

use crate::input::yaml::{Data, Node};
use crate::model::schema::{Keyword, Schema};

use super::number::{Bound, Held, Number, Numbers};
use super::wording::canonical;

/// JSON types that a node accepts; integers and fractions are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const OBJECT: Types = Types(1);
    pub(super) const ARRAY: Types = Types(2);
    pub(super) const STRING: Types = Types(4);
    pub(super) const INTEGER: Types = Types(8);
    pub(super) const FRACTION: Types = Types(16);
    pub(super) const BOOLEAN: Types = Types(32);
    pub(super) const ANY: Types = Types(63);

    const fn with(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub(super) fn of(schema: &Schema<'_>) -> Types {
        if schema.is_int_or_string() {
            return Types::INTEGER.with(Types::STRING);
        }
        match schema.ty() {
            Some("object") => Types::OBJECT,
            Some("array") => Types::ARRAY,
            Some("string") => Types::STRING,
            Some("integer") => Types::INTEGER,
            Some("number") => Types::INTEGER.with(Types::FRACTION),
            Some("boolean") => Types::BOOLEAN,
            _ => Types::ANY,
        }
    }

    pub(super) fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(super) fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn covers(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn held(self) -> Held {
        Held { integers: self.has(Types::INTEGER), fractions: self.has(Types::FRACTION) }
    }
}

/// The strongest of several counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub min: i64,
    pub max: Option<i64>,
}

impl Count {
    fn meet(&mut self, min: Option<i64>, max: Option<i64>) {
        self.min = self.min.max(min.unwrap_or(0));
        self.max = match (self.max, max) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

#[derive(Debug, Clone)]
pub(super) struct Limits<'t> {
    pub types: Types,
    /// Values that every `enum` names, by their canonical text.
    pub values: Option<BTreeSet<String>>,
    pub numbers: Numbers,
    /// A bound that no integer can be compared with, beside `type: integer`: no value passes.
    impossible: bool,
    pub length: Count,
    pub patterns: BTreeSet<&'t str>,
    pub formats: BTreeSet<String>,
    /// A format that means something else where it stands than at the node: in a clause, without a type, or beside bounds it can't hold.
    pub displaced: bool,
    pub items: Count,
    pub unique: bool,
    pub properties: Count,
    /// Names that must be there, by `required` of the node or of a clause that always holds.
    pub required: BTreeSet<&'t str>,
    /// Each `anyOf` that is left, as the set of its clauses.
    pub any_of: Vec<BTreeSet<String>>,
    pub one_of: BTreeSet<String>,
    pub not: BTreeSet<String>,
    /// What clauses that always hold say about children.
    pub nested: BTreeSet<String>,
}

impl<'t> Limits<'t> {
    pub(super) fn of(schema: &Schema<'t>) -> Self {
        let mut limits = Limits {
            types: Types::of(schema),
            values: None,
            numbers: Numbers::default(),
            impossible: false,
            length: Count::default(),
            patterns: BTreeSet::new(),
            formats: BTreeSet::new(),
            displaced: false,
            items: Count::default(),
            unique: false,
            properties: Count::default(),
            required: BTreeSet::new(),
            any_of: Vec::new(),
            one_of: BTreeSet::new(),
            not: BTreeSet::new(),
            nested: BTreeSet::new(),
        };
        limits.take(schema, true);
        limits
    }

    pub(super) fn only(self, types: Types) -> Self {
        Limits { types: self.types.and(types), ..self }
    }

    /// Adds what a node or a clause demands. Recursion is bounded by the depth of the tree.
    fn take(&mut self, schema: &Schema<'t>, own: bool) {
        self.take_values(schema);
        self.take_numbers(schema);
        self.length.meet(schema.count(Keyword::MinLength), schema.count(Keyword::MaxLength));
        self.items.meet(schema.count(Keyword::MinItems), schema.count(Keyword::MaxItems));
        self.properties.meet(schema.count(Keyword::MinProperties), schema.count(Keyword::MaxProperties));
        self.unique |= schema.flag(Keyword::UniqueItems);
        // Go matches anywhere in the text, so these two match everything.
        self.patterns.extend(schema.text(Keyword::Pattern).filter(|pattern| !matches!(*pattern, "" | ".*")));
        self.formats.extend(schema.text(Keyword::Format).and_then(|format| super::format::known(format, self.types)));
        let typed = own && (schema.ty().is_some() || schema.is_int_or_string());
        self.displaced |= schema.has(Keyword::Format) && (!typed || schema.has(Keyword::Minimum) || schema.has(Keyword::Maximum));
        self.required.extend(schema.names(Keyword::Required));
        if !own {
            self.take_children(schema);
        }
        self.take_clauses(schema);
    }

    fn take_values(&mut self, schema: &Schema<'t>) {
        let Some(values) = schema.enum_values().filter(|values| values.len() > 0) else { return };
        let values: BTreeSet<String> = values.map(canonical).collect();
        self.values = Some(match self.values.take() {
            None => values,
            Some(before) => before.intersection(&values).cloned().collect(),
        });
    }

    fn take_numbers(&mut self, schema: &Schema<'t>) {
        let bound = |word, exclusive| {
            let value = number(schema.word(word)?)?;
            Some(Bound { value, exclusive: schema.flag(exclusive) })
        };
        self.numbers.lower.extend(bound(Keyword::Minimum, Keyword::ExclusiveMinimum));
        self.numbers.upper.extend(bound(Keyword::Maximum, Keyword::ExclusiveMaximum));
        self.numbers.multiples.extend(schema.number(Keyword::MultipleOf));
        // A clause has no type of its own, and compares with the bound cut to an integer.
        let integer = schema.ty() == Some("integer") && !schema.is_int_or_string();
        let words = [Keyword::Minimum, Keyword::Maximum, Keyword::MultipleOf];
        self.impossible |= integer && words.iter().filter_map(|&word| schema.number(word)).any(|number| number.fract() != 0.0);
    }

    fn take_children(&mut self, schema: &Schema<'t>) {
        for (entry, child) in schema.properties() {
            self.nested.insert(format!("{}.{}", entry.name(), canonical(child.node())));
        }
        for word in [Keyword::Items, Keyword::AdditionalProperties] {
            self.nested.extend(schema.word(word).map(|node| format!("{}:{}", word.name(), canonical(node))));
        }
    }

    fn take_clauses(&mut self, schema: &Schema<'t>) {
        for clause in schema.clauses(Keyword::AllOf) {
            self.take(&clause, false);
        }
        for word in [Keyword::AnyOf, Keyword::OneOf] {
            let clauses: Vec<Schema<'t>> = schema.clauses(word).collect();
            match clauses.as_slice() {
                [] => {}
                [only] => self.take(only, false),
                several => {
                    let texts: BTreeSet<String> = several.iter().map(|clause| canonical(clause.node())).collect();
                    if word == Keyword::OneOf {
                        // Twins of a clause matter here: a value that matches both is refused.
                        let mut texts: Vec<String> = several.iter().map(|clause| canonical(clause.node())).collect();
                        texts.sort();
                        self.one_of.insert(texts.join("|"));
                    } else if !self.is_int_or_string_idiom(&texts) {
                        self.any_of.push(texts);
                    }
                }
            }
        }
        if let Some(not) = schema.not() {
            match not.not().filter(|_| not.node().len() == 1) {
                Some(inner) => self.take(&inner, false),
                None => {
                    self.not.insert(canonical(not.node()));
                }
            }
        }
    }

    /// `anyOf: [{type: integer}, {type: string}]` says once more what int-or-string says.
    fn is_int_or_string_idiom(&self, clauses: &BTreeSet<String>) -> bool {
        self.types == Types::INTEGER.with(Types::STRING)
            && clauses.len() == 2
            && clauses.contains("{\"type\":\"integer\",}")
            && clauses.contains("{\"type\":\"string\",}")
    }

    /// Whether bounds differ that floats can't tell apart.
    pub(super) fn is_beyond_floats(&self, other: &Limits<'_>) -> bool {
        let beyond =
            |limits: &Limits<'_>| limits.numbers.lower.iter().chain(&limits.numbers.upper).any(|bound| bound.value.is_beyond_floats());
        beyond(self) || beyond(other)
    }

    /// Whether no value at all passes, because an integer node has a fractional bound.
    pub(super) fn refuses_all(&self) -> bool {
        self.types == Types::INTEGER && self.impossible
    }
}

fn number(node: Node<'_>) -> Option<Number> {
    match node.data() {
        Data::Int(int) => Some(Number::Int(int)),
        Data::Float(float) => Some(Number::Float(float)),
        _ => None,
    }
}
