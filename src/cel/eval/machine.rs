//! Evaluates an expression by walking its tree.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::access::{field, index, insert, optional, optional_index};
use super::value::{Key, ListValue, Map, Val};
use super::{EvalError, Fuel, STEP_BYTES, convert, kubernetes, lists, operators, strings, time};
use crate::cel::ast::{ACCU, Call, Comprehension, Expr, ExprKind, Literal, MapEntry, Select};
use crate::cel::check::CheckedExpr;
use crate::cel::library;
use crate::go::quantity::Quantity;
use crate::go::regexp::{Pattern, PatternError};
use crate::model::kubernetes::{Environment, Feature};

type Evaluated<'a> = Result<Val<'a>, EvalError>;

/// The size of a list element, in bytes of text.
const ELEMENT_BYTES: usize = 16;
/// The longest list of numbers that is created.
const MAX_RANGE: i64 = 1_000_000;

pub struct Machine<'a> {
    checked: &'a CheckedExpr,
    environment: Environment,
    /// Variables, innermost last. A variable can hold an error, which counts only if the variable is read.
    scope: Vec<(&'a str, Evaluated<'a>)>,
    pub(super) fuel: Fuel,
    /// Patterns of the program, and those compiled during evaluation.
    known: &'a HashMap<String, Pattern>,
    made: HashMap<String, Pattern>,
    /// The last call that had no overload for its argument types.
    mismatch: Option<String>,
}

/// A literal as a value.
pub fn constant(literal: &Literal) -> Val<'_> {
    match literal {
        Literal::Null => Val::Null,
        Literal::Bool(b) => Val::Bool(*b),
        Literal::Int(i) => Val::Int(*i),
        Literal::Uint(u) => Val::Uint(*u),
        Literal::Double(d) => Val::Double(*d),
        Literal::String(text) => Val::text(text),
        Literal::Bytes(bytes) => Val::Bytes(bytes.as_slice().into()),
    }
}

impl<'a> Machine<'a> {
    pub fn new(
        checked: &'a CheckedExpr,
        environment: Environment,
        known: &'a HashMap<String, Pattern>,
        variables: Vec<(&'a str, Evaluated<'a>)>,
    ) -> Self {
        Machine { checked, environment, scope: variables, fuel: Fuel::full(environment), known, made: HashMap::new(), mismatch: None }
    }

    pub fn run(&mut self) -> Evaluated<'a> {
        let checked = self.checked;
        self.expr(&checked.expr)
    }

    /// Explains an error in more detail than the server, which doesn't say which call has no such overload.
    pub fn explain(&mut self, error: EvalError) -> EvalError {
        match self.mismatch.take() {
            Some(mismatch) if error == EvalError::no_such_overload() => EvalError::Failed(mismatch),
            _ => error,
        }
    }

    /// Counts the work for `bytes` of text (or an equivalent amount of a list).
    pub fn charge(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.fuel.burn(bytes)
    }

    /// A pattern, compiled once per run.
    pub fn pattern(&mut self, text: &str) -> Result<Pattern, EvalError> {
        if let Some(pattern) = self.known.get(text).or_else(|| self.made.get(text)) {
            return Ok(pattern.clone());
        }
        self.charge(text.len().saturating_mul(STEP_BYTES))?;
        let pattern = Pattern::new(text).map_err(|e| match e {
            PatternError::GoRefuses { .. } => EvalError::failed(e.to_string()),
            PatternError::NotAnalysed { .. } => EvalError::unsupported("this pattern"),
        })?;
        self.made.insert(text.to_string(), pattern.clone());
        Ok(pattern)
    }

    fn expr(&mut self, e: &'a Expr) -> Evaluated<'a> {
        self.charge(0)?;
        match &e.kind {
            ExprKind::Literal(literal) => Ok(constant(literal)),
            ExprKind::Ident(name) => self.ident(name),
            ExprKind::Select(select) => self.select(select),
            ExprKind::Call(call) => self.call(e, call),
            ExprKind::List(list) => {
                let mut items = Vec::with_capacity(list.items.len());
                for (i, item) in list.items.iter().enumerate() {
                    let val = self.expr(item)?;
                    if list.optional.binary_search(&i).is_err() {
                        items.push(val);
                    } else if let Some(val) = unwrap(val)? {
                        items.push(val);
                    }
                }
                Ok(Val::list(items))
            }
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct(_) => Err(EvalError::unsupported("a message")),
            ExprKind::Comprehension(c) => self.comprehension(c),
        }
    }

    fn ident(&self, name: &str) -> Evaluated<'a> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if let Some((_, val)) = self.scope.iter().rev().find(|(n, _)| *n == name) {
            return val.clone();
        }
        let types = [
            "bool",
            "bytes",
            "double",
            "int",
            "uint",
            "string",
            "null_type",
            "list",
            "map",
            "type",
            "optional_type",
            "google.protobuf.Duration",
            "google.protobuf.Timestamp",
            "net.IP",
            "net.CIDR",
        ];
        match types.iter().find(|t| **t == name && library::type_name(name).is_some()) {
            Some(known) => Ok(Val::Type(known)),
            None => Err(EvalError::failed(format!("no such attribute: {name}"))),
        }
    }

    fn select(&mut self, select: &'a Select) -> Evaluated<'a> {
        let operand = self.expr(&select.operand)?;
        if let Val::Optional(inner) = operand {
            let found = match inner {
                Some(inner) => field(&inner, &select.field)?,
                None => None,
            };
            let present = found.is_some();
            return Ok(if select.test { Val::Bool(present) } else { found.map_or(Val::Optional(None), Val::some) });
        }
        let found = field(&operand, &select.field)?;
        if select.test {
            return Ok(Val::Bool(found.is_some()));
        }
        found.ok_or_else(|| EvalError::failed(format!("no such key: {}", select.field)))
    }

    fn map(&mut self, entries: &'a [MapEntry]) -> Evaluated<'a> {
        let mut map = BTreeMap::new();
        for entry in entries {
            let key = self.expr(&entry.key)?;
            let key = Key::of(&key).ok_or_else(|| EvalError::failed("unsupported key type"))?;
            let val = self.expr(&entry.value)?;
            let val = if entry.optional { unwrap(val)? } else { Some(val) };
            if let Some(val) = val {
                map.insert(key, val);
            }
        }
        Ok(Val::Map(Map::Made(Rc::new(map))))
    }

    fn call(&mut self, e: &'a Expr, call: &'a Call) -> Evaluated<'a> {
        match (&*call.function, call.args.as_slice()) {
            ("_&&_", [a, b]) => self.logical(a, b, false),
            ("_||_", [a, b]) => self.logical(a, b, true),
            ("_?_:_", [condition, yes, no]) => match self.expr(condition)? {
                Val::Bool(true) => self.expr(yes),
                Val::Bool(false) => self.expr(no),
                _ => Err(EvalError::no_such_overload()),
            },
            ("@not_strictly_false", [a]) => match self.expr(a) {
                Err(EvalError::Limit) => Err(EvalError::Limit),
                Ok(Val::Bool(false)) => Ok(Val::Bool(false)),
                _ => Ok(Val::Bool(true)),
            },
            ("or" | "orValue", [alternative]) if call.target.is_some() => self.alternative(call, alternative),
            ("_+_", [accu, more]) if is_accu(accu) => self.append(accu, more),
            _ => {
                let mut vals = Vec::with_capacity(call.args.len() + 1);
                if let Some(target) = &call.target {
                    vals.push(self.expr(target)?);
                }
                for arg in &call.args {
                    vals.push(self.expr(arg)?);
                }
                let result = self.apply(e, &call.function, call.target.is_some(), &vals);
                self.overwrite(call, &vals, &result);
                if matches!(&result, Err(error) if *error == EvalError::no_such_overload()) {
                    let types: Vec<&str> = vals.iter().map(Val::type_name).collect();
                    self.mismatch = Some(format!("found no matching overload for '{}' applied to '({})'", call.function, types.join(", ")));
                }
                result
            }
        }
    }

    /// Reproduces a bug of older servers: adding to a long quantity modifies it, including the variable that holds it.
    fn overwrite(&mut self, call: &Call, vals: &[Val<'a>], result: &Evaluated<'a>) {
        if let ("add" | "sub", Some(target), [Val::Quantity(Quantity::Long { .. }), ..]) = (&*call.function, &call.target, vals)
            && let (ExprKind::Ident(name), Ok(Val::Quantity(_))) = (&target.kind, result)
            && let Some((_, held)) = self.scope.iter_mut().rev().find(|(own, _)| own == name)
            && !self.environment.has(Feature::QuantitiesCopied)
        {
            *held = result.clone();
        }
    }

    /// `a && b` (or `||`, if `decides` is true): an error counts only if the other side doesn't decide.
    fn logical(&mut self, a: &'a Expr, b: &'a Expr, decides: bool) -> Evaluated<'a> {
        let first = self.truth(a);
        if first == Ok(decides) || first == Err(EvalError::Limit) {
            return first.map(Val::Bool);
        }
        let second = self.truth(b);
        match (first, second) {
            (_, Ok(b)) if b == decides => Ok(Val::Bool(decides)),
            (Ok(_), second) => second.map(Val::Bool),
            (Err(e), Ok(_)) => Err(e),
            // The first failure is reported. Something unsupported might have decided the result, so it takes precedence.
            (Err(first), Err(EvalError::Failed(_))) => Err(first),
            (Err(_), Err(second)) => Err(second),
        }
    }

    fn truth(&mut self, e: &'a Expr) -> Result<bool, EvalError> {
        match self.expr(e)? {
            Val::Bool(b) => Ok(b),
            _ => Err(EvalError::no_such_overload()),
        }
    }

    fn alternative(&mut self, call: &'a Call, alternative: &'a Expr) -> Evaluated<'a> {
        let Some(target) = &call.target else { return Err(EvalError::no_such_overload()) };
        match self.expr(target)? {
            Val::Optional(Some(val)) if call.function == "orValue" => Ok((*val).clone()),
            some @ Val::Optional(Some(_)) => Ok(some),
            Val::Optional(None) => self.expr(alternative),
            other => Ok(other),
        }
    }

    /// `accu + more` if nothing else refers to the list: appends in place, so that a fold stays linear.
    fn append(&mut self, accu: &'a Expr, more: &'a Expr) -> Evaluated<'a> {
        let more = self.expr(more)?;
        let slot = self.scope.iter_mut().rev().find(|(name, _)| *name == ACCU);
        let held = slot.map(|(_, val)| std::mem::replace(val, Ok(Val::Null)));
        match (held, more) {
            (Some(Ok(Val::List(ListValue::Made(mut items, None)))), Val::List(more)) => {
                let added = more.items().collect::<Result<Vec<_>, _>>()?;
                self.charge(added.len())?;
                Rc::make_mut(&mut items).extend(added);
                Ok(Val::List(ListValue::Made(items, None)))
            }
            (Some(held), more) => operators::arithmetic("_+_", &held?, &more, &mut self.fuel),
            (None, _) => self.expr(accu),
        }
    }

    fn comprehension(&mut self, c: &'a Comprehension) -> Evaluated<'a> {
        let range = self.expr(&c.range)?;
        self.charge(size(&range))?;
        let init = self.expr(&c.init);
        let depth = self.scope.len();
        self.scope.push((&c.accu, init));
        let pairs: Vec<(Evaluated<'a>, Evaluated<'a>)> = match &range {
            Val::List(list) => list.items().enumerate().map(|(i, item)| (Ok(Val::Int(i as i64)), item)).collect(),
            Val::Map(map) => map
                .keys()
                .into_iter()
                .map(|key| {
                    let val = map.find(&key).and_then(|v| v.ok_or_else(|| EvalError::failed("no such key")));
                    (Ok(key), val)
                })
                .collect(),
            _ => return Err(EvalError::no_such_overload()),
        };
        let over_keys = matches!(range, Val::Map(_));
        for (key, val) in pairs {
            match &c.var2 {
                Some(var2) => {
                    self.scope.push((&c.var, key));
                    self.scope.push((var2, val));
                }
                None => self.scope.push((&c.var, if over_keys { key } else { val })),
            }
            let go_on = self.expr(&c.condition);
            if matches!(go_on, Err(EvalError::Limit) | Ok(Val::Bool(false))) {
                self.scope.truncate(depth + 1);
                go_on?;
                break;
            }
            let step = self.expr(&c.step);
            self.scope.truncate(depth);
            if matches!(step, Err(EvalError::Limit)) {
                return step;
            }
            self.scope.push((&c.accu, step));
        }
        let result = self.expr(&c.result);
        self.scope.truncate(depth);
        result
    }

    /// Calls a function on values.
    fn apply(&mut self, e: &Expr, name: &str, member: bool, vals: &[Val<'a>]) -> Evaluated<'a> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if let ([a, b], false) = (vals, member)
            && let Some(result) = self.binary(name, a, b)
        {
            return result;
        }
        if let Some((target, rest)) = vals.split_first()
            && member
        {
            return self.method(e, name, target, rest);
        }
        match (name, vals) {
            ("!_", [Val::Bool(b)]) => Ok(Val::Bool(!b)),
            ("-_", [a]) => operators::negate(a),
            ("size", [a]) => self.method(e, "size", a, &[]),
            ("matches", [Val::Text(text), pattern]) => strings::call(self, "matches", text, std::slice::from_ref(pattern)),
            ("strings.quote", [Val::Text(text)]) => Ok(strings::quote(text)),
            ("optional.none", []) => Ok(Val::Optional(None)),
            ("optional.of", [a]) => Ok(Val::some(a.clone())),
            ("optional.ofNonZeroValue", [a]) => Ok(if a.is_zero() { Val::Optional(None) } else { Val::some(a.clone()) }),
            ("optional.unwrap", [Val::List(list)]) => lists::unwrap_all(list),
            ("lists.range", [Val::Int(n)]) if *n <= MAX_RANGE => {
                self.charge(usize::try_from(*n).unwrap_or(0).saturating_mul(8))?;
                Ok(Val::list((0..*n).map(Val::Int).collect()))
            }
            ("lists.range", [Val::Int(_)]) => Err(EvalError::Limit),
            ("cel.@mapInsert", [Val::Map(map), ..]) if self.charge(map.len().saturating_mul(STEP_BYTES)).is_err() => Err(EvalError::Limit),
            ("cel.@mapInsert", [Val::Map(map), key, val]) => insert(map, vec![(key.clone(), val.clone())]),
            ("cel.@mapInsert", [Val::Map(map), Val::Map(more)]) => {
                let pairs = more.keys().into_iter().map(|key| Ok((key.clone(), more.find(&key)?.unwrap_or(Val::Null))));
                insert(map, pairs.collect::<Result<_, EvalError>>()?)
            }
            ("dyn" | "type" | "int" | "uint" | "double" | "string" | "bool" | "bytes" | "duration" | "timestamp", [a]) => {
                convert::convert(name, a.clone())
            }
            (_, args) => kubernetes::function(name, args).unwrap_or_else(|| Err(EvalError::no_such_overload())),
        }
    }

    /// Applies a binary operator.
    fn binary(&mut self, name: &str, a: &Val<'a>, b: &Val<'a>) -> Option<Evaluated<'a>> {
        Some(match name {
            "_==_" | "_!=_" => a.equals(b, &mut self.fuel).map(|equal| Val::Bool(equal == (name == "_==_"))),
            "_<_" | "_<=_" | "_>_" | "_>=_" => operators::relate(name, a, b),
            "_+_" | "_-_" | "_*_" | "_/_" | "_%_" => self.sum(name, a, b),
            "@in" => match b {
                Val::List(list) => lists::contains(list, a, &mut self.fuel).map(Val::Bool),
                Val::Map(map) => map.find(a).map(|found| Val::Bool(found.is_some())),
                _ => Err(EvalError::no_such_overload()),
            },
            "_[_]" => index(a, b),
            "_[?_]" => optional_index(a, b),
            "_?._" => match (a, b) {
                (Val::Optional(None), _) => Ok(Val::Optional(None)),
                (Val::Optional(Some(inner)), Val::Text(name)) => field(inner, name).map(optional),
                (operand, Val::Text(name)) => field(operand, name).map(optional),
                _ => Err(EvalError::no_such_overload()),
            },
            "sets.contains" | "sets.equivalent" | "sets.intersects" => match (a, b) {
                (Val::List(a), Val::List(b)) => lists::sets(self, name, a, b),
                _ => Err(EvalError::no_such_overload()),
            },
            _ => return None,
        })
    }

    fn sum(&mut self, name: &str, a: &Val<'a>, b: &Val<'a>) -> Evaluated<'a> {
        self.charge(size(a).saturating_add(size(b)))?;
        operators::arithmetic(name, a, b, &mut self.fuel)
    }

    fn method(&mut self, e: &Expr, name: &str, target: &Val<'a>, args: &[Val<'a>]) -> Evaluated<'a> {
        match (target, name, args) {
            (Val::List(list), "includes", [item]) => lists::contains(list, item, &mut self.fuel).map(Val::Bool),
            (target, "includes", [item]) => target.equals(item, &mut self.fuel).map(Val::Bool),
            (Val::Text(text), ..) => strings::call(self, name, text, args),
            (Val::List(list), ..) => {
                let overloads = self.checked.overloads_of(e);
                lists::call(self, name, list, args, overloads)
            }
            (Val::Map(map), "size", []) => Ok(Val::Int(map.len() as i64)),
            (Val::Bytes(bytes), "size", []) => Ok(Val::Int(bytes.len() as i64)),
            (Val::Optional(inner), "hasValue", []) => Ok(Val::Bool(inner.is_some())),
            (Val::Optional(Some(val)), "value", []) => Ok((**val).clone()),
            (Val::Optional(None), "value", []) => Err(EvalError::failed("optional.none() dereference")),
            (Val::Timestamp(t), _, []) => time::field(*t, name, 0).map(Val::Int).ok_or_else(EvalError::no_such_overload),
            (Val::Timestamp(t), _, [Val::Text(zone)]) => match time::zone(zone) {
                time::Zone::Offset(east) => time::field(*t, name, east).map(Val::Int).ok_or_else(EvalError::no_such_overload),
                time::Zone::Named => Err(EvalError::unsupported("a time zone by name")),
                time::Zone::Wrong => Err(EvalError::failed(format!("no time zone: {}", &**zone))),
            },
            (Val::Duration(d), _, []) => match name {
                "getHours" => Ok(Val::Int(d.nanos() / 3_600_000_000_000)),
                "getMinutes" => Ok(Val::Int(d.nanos() / 60_000_000_000)),
                "getSeconds" => Ok(Val::Int(d.nanos() / 1_000_000_000)),
                "getMilliseconds" => Ok(Val::Int(d.nanos() / 1_000_000)),
                _ => Err(EvalError::no_such_overload()),
            },
            _ => kubernetes::method(name, target, args, self.environment).unwrap_or_else(|| Err(EvalError::no_such_overload())),
        }
    }
}

/// The work to traverse a value, in bytes.
fn size(val: &Val<'_>) -> usize {
    match val {
        Val::Text(text) => text.len(),
        Val::Bytes(bytes) => bytes.len(),
        Val::List(list) => list.len().saturating_mul(ELEMENT_BYTES),
        Val::Map(map) => map.len().saturating_mul(ELEMENT_BYTES),
        _ => 0,
    }
}

fn is_accu(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Ident(name) if name == ACCU)
}

fn unwrap(val: Val<'_>) -> Result<Option<Val<'_>>, EvalError> {
    match val {
        Val::Optional(inner) => Ok(inner.map(|inner| (*inner).clone())),
        _ => Err(EvalError::failed("cannot initialize optional entry from non-optional value")),
    }
}
