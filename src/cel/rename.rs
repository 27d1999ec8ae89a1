//! Rules follow a field that got another name or another place.
//!
//! What denotes the field is found in the syntax tree: selections, `has()`, optional selections and keys, through `self`, `oldSelf` and
//! the variables that stand for parts of them. String literals and fields of the same name elsewhere stay as they are. The text is then
//! edited at the places of those names, so everything else of the rule reads as before.

use std::collections::BTreeMap;
use std::ops::Range;

use super::ast::{ACCU, Call, Comprehension, Expr, Kind, Literal};
use super::lex::{Token, tokens};
use super::name;
use super::parse::read;
use crate::model::Step;

/// The rule after a field moved from `old` to `new`, both seen from the node of the rule. `None` where the rule can't be made to follow:
/// it reads the field in a way that isn't understood, or it reads as a whole an object that loses or gets the field.
pub fn rename(rule: &str, old: &[Step], new: &[Step]) -> Option<String> {
    let shared = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (gone, come) = (names(old.get(shared..)?), names(new.get(shared..)?));
    let expr = read(rule).ok()?;
    let found = Reader::of(&expr, old);
    let taken = Reader::of(&expr, new);
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
    let source = Source { rule, tokens: tokens(rule).ok()? };
    let mut edits = BTreeMap::new();
    for read in &found.found {
        let (range, text) = if gone.len() == 1 && come.len() == 1 {
            source.new_name(read, new.last()?)?
        } else {
            source.new_place(read, gone.len(), &come)?
        };
        edits.insert(range.start, (range, text));
    }
    let renamed = source.edited(edits.into_values())?;
    read(&renamed).is_ok().then_some(renamed)
}

/// Whether a rule reads a field, or an object or list around it as a whole. What can't be followed is taken to read it.
pub fn mentions(rule: &str, path: &[Step]) -> bool {
    read(rule).map_or(true, |expr| {
        let found = Reader::of(&expr, path);
        found.mentioned || found.lost || !found.whole.is_empty()
    })
}

/// The names of steps that are all names.
fn names(steps: &[Step]) -> Option<Vec<&str>> {
    steps.iter().map(|step| if let Step::Key(name) = step { Some(&**name) } else { None }).collect()
}

/// Where a value stands, seen from the path of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// That many steps down the path.
    On(usize),
    /// Beside the path, or no part of the object at all.
    Off,
    Unknown,
}

/// How a part of a value is asked for.
enum Part<'e> {
    Name(&'e str),
    Number,
    Computed,
}

/// Finds what an expression reads along a path.
struct Reader<'e, 'p> {
    path: &'p [Step],
    scope: Vec<(&'e str, Place)>,
    /// Expressions that are the field, by its name.
    found: Vec<&'e Expr>,
    /// Whether the field is read at all.
    mentioned: bool,
    /// Whether something may be the field, and it isn't known.
    lost: bool,
    /// Steps down to objects and lists around the field that are read as a whole.
    whole: Vec<usize>,
    /// Steps down to objects and lists around the field whose presence is tested.
    tested: Vec<usize>,
}

impl<'e, 'p> Reader<'e, 'p> {
    fn of(expr: &'e Expr, path: &'p [Step]) -> Self {
        let (found, whole, tested) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = Reader { path, scope: Vec::new(), found, mentioned: path.is_empty(), lost: false, whole, tested };
        reader.visit_whole(expr);
        reader
    }

    /// Whether the rule reads or tests one of the objects that many steps down.
    fn changes(&self, depths: Range<usize>) -> bool {
        self.whole.iter().chain(&self.tested).any(|depth| depths.contains(depth))
    }

    /// Reads an expression whose whole value counts.
    fn visit_whole(&mut self, expr: &'e Expr) -> Place {
        let place = self.visit(expr);
        if let Place::On(depth) = place
            && depth < self.path.len()
        {
            self.whole.push(depth);
        }
        place
    }

    fn visit(&mut self, expr: &'e Expr) -> Place {
        match &expr.kind {
            Kind::Literal(_) => Place::Off,
            Kind::Ident(ident) => self.variable(ident),
            Kind::Select(select) => {
                let operand = self.visit(&select.operand);
                let place = self.field(expr, operand, &select.field);
                if let Place::On(depth) = place
                    && select.test
                {
                    self.tested.push(depth);
                }
                if select.test { Place::Off } else { place }
            }
            Kind::Call(call) => self.call(expr, call),
            Kind::List(list) => self.together(list.items.iter()),
            Kind::Map(entries) => self.together(entries.iter().flat_map(|entry| [&entry.key, &entry.value])),
            Kind::Struct(made) => self.together(made.values.iter()),
            Kind::Comprehension(fold) => self.fold(fold),
        }
    }

    fn variable(&self, ident: &str) -> Place {
        let bound = self.scope.iter().rev().find(|(name, _)| *name == ident);
        match (bound, ident) {
            (Some((_, place)), _) => *place,
            (None, "self" | "oldSelf" | ".self" | ".oldSelf") => Place::On(0),
            _ => Place::Off,
        }
    }

    /// Values that become part of something else.
    fn together(&mut self, parts: impl Iterator<Item = &'e Expr>) -> Place {
        parts.fold(Place::Off, |all, part| if self.visit_whole(part) == Place::Off { all } else { Place::Unknown })
    }

    fn call(&mut self, expr: &'e Expr, call: &'e Call) -> Place {
        match (&*call.function, call.target.as_deref(), call.args.as_slice()) {
            ("_?._", _, [operand, Expr { kind: Kind::Literal(Literal::String(field)), .. }]) => {
                let operand = self.visit(operand);
                self.field(expr, operand, field)
            }
            ("_[_]" | "_[?_]", _, [operand, index]) => {
                let operand = self.visit(operand);
                self.visit_whole(index);
                let part = match index.literal() {
                    Some(Literal::String(key)) => Part::Name(key),
                    Some(_) => Part::Number,
                    None => Part::Computed,
                };
                let named = matches!(part, Part::Name(_));
                let place = self.part(operand, &part);
                if place == Place::On(self.path.len()) && named {
                    self.found.push(expr);
                }
                place
            }
            ("size", Some(operand), []) | ("size", None, [operand]) => {
                self.visit(operand);
                Place::Off
            }
            ("hasValue", Some(operand), []) => {
                if let Place::On(depth) = self.visit(operand) {
                    self.tested.push(depth);
                }
                Place::Off
            }
            ("value", Some(operand), []) | ("dyn" | "optional.of" | "optional.ofNonZeroValue", None, [operand]) => self.visit(operand),
            ("or" | "orValue", Some(one), [other]) | ("_+_", None, [one, other]) => self.either(one, other),
            ("_?_:_", _, [condition, one, other]) => {
                self.visit_whole(condition);
                self.either(one, other)
            }
            (function, target, args) => {
                let place = self.together(target.into_iter().chain(args));
                // Operators other than those above give truths and numbers.
                let is_operator = function.starts_with(['_', '!', '-', '@']) && target.is_none();
                if is_operator { Place::Off } else { place }
            }
        }
    }

    /// A value that is the one or the other.
    fn either(&mut self, one: &'e Expr, other: &'e Expr) -> Place {
        match (self.visit(one), self.visit(other)) {
            (a, b) if a == b => a,
            (place, _) if is_plain(other) => place,
            (_, place) if is_plain(one) => place,
            _ => Place::Unknown,
        }
    }

    /// A field by the name that expressions have for it.
    fn field(&mut self, expr: &'e Expr, operand: Place, field: &str) -> Place {
        let name = name::unescape(field);
        let place = self.part(operand, &Part::Name(name.as_deref().unwrap_or(field)));
        if place == Place::On(self.path.len()) {
            self.found.push(expr);
        }
        place
    }

    fn part(&mut self, operand: Place, part: &Part<'_>) -> Place {
        let place = match (operand, part) {
            (Place::Off, _) => Place::Off,
            (Place::Unknown, part) => {
                let last = self.path.iter().rev().find_map(|step| if let Step::Key(name) = step { Some(&**name) } else { None });
                self.lost |= matches!(part, Part::Name(name) if last == Some(*name));
                Place::Unknown
            }
            (Place::On(depth), part) => match (self.path.get(depth), part) {
                (None, _) => Place::Off,
                (Some(Step::Items | Step::Values), _) => Place::On(depth + 1),
                (Some(Step::Key(key)), Part::Name(name)) if **key == **name => Place::On(depth + 1),
                (Some(Step::Key(_)), Part::Name(_) | Part::Number) => Place::Off,
                (Some(Step::Key(_)), Part::Computed) => {
                    self.lost = true;
                    Place::Unknown
                }
            },
        };
        self.mentioned |= place == Place::On(self.path.len());
        place
    }

    fn fold(&mut self, fold: &'e Comprehension) -> Place {
        let range = self.visit(&fold.range);
        let init = self.visit(&fold.init);
        let element = match range {
            Place::On(depth) => match (self.path.get(depth), &fold.var2) {
                (None, _) => Place::Off,
                // One variable over a map is its key.
                (Some(Step::Values), None) => Place::Off,
                (Some(Step::Items | Step::Values), _) => self.part(range, &Part::Computed),
                (Some(Step::Key(_)), _) => Place::Unknown,
            },
            other => other,
        };
        let open = self.scope.len();
        let is_binding = fold.accu != ACCU;
        self.scope.push((fold.accu.as_str(), if is_binding { init } else { Place::Off }));
        match &fold.var2 {
            Some(second) => self.scope.extend([(fold.var.as_str(), Place::Off), (second.as_str(), element)]),
            None => self.scope.push((fold.var.as_str(), element)),
        }
        let place = if is_binding {
            self.visit(&fold.result)
        } else if let Some(condition) = filter(fold) {
            self.visit_whole(condition);
            range
        } else {
            self.visit_whole(&fold.condition);
            let step = self.visit(&fold.step);
            self.visit(&fold.result);
            if step == Place::Off { Place::Off } else { Place::Unknown }
        };
        self.scope.truncate(open);
        place
    }
}

/// Whether a value has no fields at all.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Literal(_) => true,
        Kind::List(list) => list.items.is_empty(),
        Kind::Map(entries) => entries.is_empty(),
        Kind::Call(call) => call.function == "optional.none",
        _ => false,
    }
}

/// The condition of a `filter`, which keeps elements as they are.
fn filter(fold: &Comprehension) -> Option<&Expr> {
    let Kind::Call(step) = &fold.step.kind else { return None };
    let Kind::Call(longer) = &step.args.get(1)?.kind else { return None };
    let Kind::List(list) = &longer.args.get(1)?.kind else { return None };
    let keeps = matches!(list.items.as_slice(), [Expr { kind: Kind::Ident(name), .. }] if *name == fold.var);
    fold.filter().filter(|_| keeps && fold.var2.is_none())
}

/// The text of a rule and its tokens.
struct Source<'r> {
    rule: &'r str,
    tokens: Vec<(Token, usize)>,
}

impl Source<'_> {
    fn token(&self, index: usize) -> Option<&Token> {
        self.tokens.get(index).map(|(token, _)| token)
    }

    fn start(&self, index: usize) -> Option<usize> {
        self.tokens.get(index).map(|(_, at)| *at)
    }

    fn index_at(&self, at: usize) -> Option<usize> {
        self.tokens.binary_search_by_key(&at, |(_, at)| *at).ok()
    }

    fn is(&self, index: usize, sign: &str) -> bool {
        matches!(self.token(index), Some(Token::Sign(found)) if *found == sign)
    }

    /// The bytes of a name.
    fn name(&self, index: usize) -> Option<Range<usize>> {
        let Some(Token::Ident(name)) = self.token(index) else { return None };
        let start = self.start(index)?;
        Some(start..start + name.len())
    }

    /// The token of the name that a selection ends with.
    fn selected(&self, expr: &Expr) -> Option<usize> {
        let index = self.index_at(expr.at)?;
        if !matches!(&expr.kind, Kind::Select(select) if select.test) {
            return Some(if self.is(index + 1, "?") { index + 2 } else { index + 1 });
        }
        let mut last = self.closing(index)?.checked_sub(1)?;
        while self.is(last, ")") {
            last = last.checked_sub(1)?;
        }
        Some(last)
    }

    /// The parenthesis that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for index in open..self.tokens.len() {
            if self.is(index, "(") {
                depth += 1;
            } else if self.is(index, ")") {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
        }
        None
    }

    /// The edit that gives a field another name where it is.
    fn new_name(&self, read: &Expr, new: &Step) -> Option<(Range<usize>, String)> {
        let Step::Key(new) = new else { return None };
        let Kind::Call(Call { function, args, .. }) = &read.kind else {
            return Some((self.name(self.selected(read)?)?, name::escape(new)?));
        };
        if function == "_?._" {
            return Some((self.name(self.selected(read)?)?, name::escape(new)?));
        }
        // A key is written as it is, in quotes.
        let index = self.index_at(args.get(1)?.at)?;
        let start = self.start(index)?;
        let literal = self.rule.get(start..self.start(index + 1)?)?.trim_end();
        let is_quoted = matches!(self.token(index), Some(Token::String(_))) && literal.ends_with(['\'', '"']);
        let is_simple = !new.contains(['\'', '\\', '\n', '\r']);
        (is_quoted && is_simple).then(|| (start..start + literal.len(), format!("'{new}'")))
    }

    /// The edit that replaces the last `gone` names of a selection by others.
    fn new_place(&self, read: &Expr, gone: usize, come: &[String]) -> Option<(Range<usize>, String)> {
        let is_test = matches!(&read.kind, Kind::Select(select) if select.test);
        let (mut base, mut first, mut optional) = (read, 0, false);
        for _ in 0..gone {
            first = self.selected(base)?;
            base = match &base.kind {
                Kind::Select(select) => &select.operand,
                Kind::Call(call) if call.function == "_?._" => {
                    optional = true;
                    call.args.first()?
                }
                _ => return None,
            };
        }
        let last = self.selected(read)?;
        let dot = if self.is(first.checked_sub(1)?, "?") { first.checked_sub(2)? } else { first.checked_sub(1)? };
        let only_names = (dot..=last).all(|index| self.is(index, ".") || self.is(index, "?") || self.name(index).is_some());
        if !only_names || !self.is(dot, ".") {
            return None;
        }
        if is_test && come.len() > 1 {
            return self.new_test(read, base, (dot, last), come);
        }
        let sign = if optional { ".?" } else { "." };
        let text = come.iter().map(|name| format!("{sign}{name}")).collect();
        Some((self.start(dot)?..self.name(last)?.end, text))
    }

    /// `has(self.a)` → `(has(self.x) && has(self.x.a))`: to ask for a part of what isn't there is an error.
    fn new_test(&self, read: &Expr, base: &Expr, (dot, last): (usize, usize), come: &[String]) -> Option<(Range<usize>, String)> {
        let Kind::Ident(variable) = &base.kind else { return None };
        let open = self.index_at(read.at)?;
        let close = self.closing(open)?;
        let has = self.name(open.checked_sub(1)?)?;
        if dot != open + 2 || last + 1 != close {
            return None;
        }
        let mut path = variable.clone();
        let tests = come.iter().map(|name| {
            path = format!("{path}.{name}");
            format!("has({path})")
        });
        Some((has.start..self.start(close)? + 1, format!("({})", tests.collect::<Vec<_>>().join(" && "))))
    }

    /// The rule with edits made, which are in order and must not overlap.
    fn edited(&self, edits: impl Iterator<Item = (Range<usize>, String)>) -> Option<String> {
        let mut out = String::with_capacity(self.rule.len());
        let mut done = 0;
        for (range, text) in edits {
            out.push_str(self.rule.get(done..range.start)?);
            out.push_str(&text);
            done = range.end;
        }
        out.push_str(self.rule.get(done..)?);
        Some(out)
    }
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
    fn what_denotes_the_field_gets_its_new_name() {
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
    fn variables_stand_for_parts_of_the_object() {
        follows("[].a", "[].b", "self.all(x, x.a > 1 && self[0].a != x.c)", "self.all(x, x.b > 1 && self[0].b != x.c)");
        follows("l[].a", "l[].b", "self.l.filter(x, has(x.a)).all(y, y.a > 1)", "self.l.filter(x, has(x.b)).all(y, y.b > 1)");
        follows("l[].a", "l[].b", "self.l.all(x, self.k.all(y, y.a == x.a))", "self.l.all(x, self.k.all(y, y.a == x.b))");
        follows("l[].a", "l[].b", "self.l.map(x, x.c).all(y, y > 1)", "self.l.map(x, x.c).all(y, y > 1)");
        follows("l[].a", "l[].b", "self.l.all(x, x == oldSelf.l[0])", "self.l.all(x, x == oldSelf.l[0])");
        // A variable that hides `self` isn't it.
        follows("a", "b", "self.l.all(self, self.a > 1)", "self.l.all(self, self.a > 1)");
    }

    #[test]
    fn texts_stay() {
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
    fn what_can_not_be_followed_is_said() {
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
    fn mentions_are_reads_of_the_field_or_of_all_around_it() {
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
