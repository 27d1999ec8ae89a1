//! Estimates the worst-case cost of a rule like the server.
//!
//! The server multiplies this estimate by how often the rule can run and compares it with its limits. Follows cel-go's
//! `checker/cost.go`, including its quirks.

mod calls;
mod estimate;
mod path;

use foldhash::{HashMap, HashMapExt};

use super::ast::{ACCU, Call, Comprehension, Expr, ExprKind, Learnt, Literal, MapEntry};
use super::check::CheckedExpr;
use super::decl::{Decl, DeclKind};
use super::types::CelType;
use crate::model::kubernetes::{Feature, Server};
use estimate::Estimate;
use path::Path;

/// The estimated worst case of one evaluation.
pub fn cost(checked: &CheckedExpr, decl: &Decl, kubernetes: Server) -> u64 {
    let mut coster = Coster {
        checked,
        kubernetes,
        decl,
        paths: Learnt::about(&checked.expr),
        scope: HashMap::new(),
        sizes: Learnt::default(),
        entries: Learnt::default(),
        known_elements: None,
    };
    coster.expr(&checked.expr).max
}

/// The sizes of the keys and values of a list or map.
#[derive(Clone, Copy)]
struct EntrySize {
    is_list: bool,
    key: Estimate,
    val: Estimate,
}

impl Local {
    /// The path of the variable's value.
    fn path(&self) -> Path {
        self.step.map_or_else(|| self.path.clone(), |step| self.path.append(step))
    }
}

impl EntrySize {
    fn union(a: Option<EntrySize>, b: Option<EntrySize>) -> Option<EntrySize> {
        let (a, b) = (a?, b?);
        Some(EntrySize { is_list: a.is_list, key: a.key.union(b.key), val: a.val.union(b.val) })
    }
}

#[derive(Clone)]
struct Local {
    path: Path,
    size: Option<Estimate>,
    entry: Option<EntrySize>,
    /// For servers that don't know elements: the step that is added each time the variable is read.
    step: Option<&'static str>,
}

/// A node as functions see it: the path of its value, and its known size.
struct Node<'e> {
    path: Path,
    expr: Option<&'e Expr>,
    size: Option<Estimate>,
    t: CelType,
}

struct CallCost {
    cost: Estimate,
    result: Option<Estimate>,
}

struct Coster<'e> {
    checked: &'e CheckedExpr,
    kubernetes: Server,
    decl: &'e Decl,
    /// By node: the path of its value.
    paths: Learnt<Path>,
    scope: HashMap<&'e str, Vec<Local>>,
    sizes: Learnt<Estimate>,
    entries: Learnt<EntrySize>,
    /// See [`Coster::knows_elements`].
    known_elements: Option<bool>,
}

const LIST_CREATION: u64 = 10;
const MAP_CREATION: u64 = 30;
const MESSAGE_CREATION: u64 = 40;

impl<'e> Coster<'e> {
    fn has(&self, feature: Feature) -> bool {
        self.kubernetes.has(feature)
    }

    /// Whether the server knows the elements of lists and maps, and the values of variables. Others only know elements of declared
    /// lists. Queried on first use, because most rules have no variables.
    fn knows_elements(&mut self) -> bool {
        match self.known_elements {
            Some(known) => known,
            None => *self.known_elements.insert(self.has(Feature::SizedElements)),
        }
    }

    fn expr(&mut self, e: &'e Expr) -> Estimate {
        match &e.kind {
            ExprKind::Literal(_) => Estimate::ZERO,
            ExprKind::Ident(name) => {
                let path = self.local(name).map_or_else(|| Path::new(name), Local::path);
                self.paths.insert(e.id, path);
                Estimate::fixed(1)
            }
            ExprKind::Select(select) => {
                let mut sum = self.expr(&select.operand);
                if select.test {
                    let own = if self.has(Feature::FreePresenceTests) { 0 } else { 1 };
                    return sum.add(Estimate::fixed(own));
                }
                if matches!(self.checked.type_of(&select.operand), CelType::Map(..) | CelType::Struct(_)) {
                    sum = sum.add(Estimate::fixed(1));
                }
                let path = self.path(&select.operand).append(&select.field);
                self.paths.insert(e.id, path);
                sum
            }
            ExprKind::Call(call) => self.call(e, call),
            ExprKind::List(list) => {
                let mut sum = Estimate::ZERO;
                let mut items = if list.items.is_empty() { Estimate::ZERO } else { Estimate::NONE };
                for item in &list.items {
                    sum = sum.add(self.expr(item));
                    items = items.union(self.size_or_unknown(item));
                }
                self.entries.insert(e.id, EntrySize { is_list: true, key: Estimate::fixed(1), val: items });
                sum.add(Estimate::fixed(LIST_CREATION))
            }
            ExprKind::Map(entries) => self.map(e, entries),
            ExprKind::Struct(message) => {
                let sum = message.values.iter().fold(Estimate::ZERO, |sum, value| sum.add(self.expr(value)));
                sum.add(Estimate::fixed(MESSAGE_CREATION))
            }
            ExprKind::Comprehension(c) if is_bind(c) && self.knows_elements() => self.bind(e, c),
            ExprKind::Comprehension(c) => self.comprehension(e, c),
        }
    }

    fn map(&mut self, e: &'e Expr, entries: &'e [MapEntry]) -> Estimate {
        let mut sum = Estimate::ZERO;
        let start = if entries.is_empty() { Estimate::ZERO } else { Estimate::NONE };
        let (mut keys, mut values) = (start, start);
        for entry in entries {
            sum = sum.add(self.expr(&entry.key));
            sum = sum.add(self.expr(&entry.value));
            keys = keys.union(self.size_or_unknown(&entry.key));
            values = values.union(self.size_or_unknown(&entry.value));
        }
        self.entries.insert(e.id, EntrySize { is_list: false, key: keys, val: values });
        sum.add(Estimate::fixed(MAP_CREATION))
    }

    fn call(&mut self, e: &'e Expr, call: &'e Call) -> Estimate {
        if call.function == "dyn" && self.knows_elements() {
            let Some(arg) = call.args.first() else { return Estimate::fixed(1) };
            let cost = self.expr(arg);
            self.copy_sizes(e, arg);
            return cost.add(Estimate::fixed(1));
        }
        let mut arg_costs = vec![];
        let mut args = vec![];
        for arg in &call.args {
            arg_costs.push(self.expr(arg));
            args.push(self.node(arg));
        }
        let mut sum = Estimate::ZERO;
        let target = call.target.as_deref().map(|target| {
            sum = self.expr(target);
            self.node(target)
        });
        let overloads = self.checked.overloads_of(e);
        if overloads.is_empty() || call.function == "_?._" && !self.has(Feature::CountedOptionalReads) {
            return Estimate::ZERO;
        }
        let mut cost = Estimate::NONE;
        let mut result = None;
        for overload in overloads {
            let this = self.overload(e, &call.function, overload, target.as_ref(), &args, &arg_costs);
            cost = cost.union(this.cost);
            result = match (result, this.result) {
                (Some(a), Some(b)) => Some(Estimate::union(a, b)),
                (a, b) => a.or(b),
            };
            let step = match *overload {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(step), Some(of)) = (step, call.args.first()) {
                if self.entry_size(of).is_some() || result.is_some() {
                    result = self.entry_size(of).map(|entry| entry.val).filter(|_| self.knows_elements());
                }
                let path = self.path(of).append(step);
                self.paths.insert(e.id, path);
            }
            if result.is_none() {
                result = self.size(e);
            }
        }
        self.set_size(e, result);
        sum.add(cost)
    }

    fn comprehension(&mut self, e: &'e Expr, c: &'e Comprehension) -> Estimate {
        if !self.knows_elements() {
            return self.plain_comprehension(e, c);
        }
        let mut sum = self.expr(&c.range).add(self.expr(&c.init));
        let accu = Local { path: self.path(&c.init), entry: self.entry_size(&c.init), size: self.size(&c.init), step: None };
        self.push(&c.accu, accu);
        let entry = self.entry_size(&c.range);
        let is_list = entry.map_or_else(|| matches!(self.checked.type_of(&c.range), CelType::List(_)), |entry| entry.is_list);
        let key = |entry: EntrySize| entry.key;
        let val = |entry: EntrySize| entry.val;
        if let Some(var2) = &c.var2 {
            let path = self.path(&c.range).append(if is_list { "@indices" } else { "@keys" });
            self.push(&c.var, Local { path, size: entry.map(key), entry: None, step: None });
            let path = self.path(&c.range).append(if is_list { "@items" } else { "@values" });
            self.push(var2, Local { path, size: entry.map(val), entry: None, step: None });
        } else {
            let (step, size) = if is_list { ("@items", entry.map(val)) } else { ("@keys", entry.map(key)) };
            let path = self.path(&c.range).append(step);
            self.push(&c.var, Local { path, size, entry: None, step: None });
        }
        let condition = self.expr(&c.condition);
        let step = self.expr(&c.step);
        self.pop(&c.var);
        if let Some(var2) = &c.var2 {
            self.pop(var2);
        }
        sum = sum.add(self.expr(&c.result));
        self.pop(&c.accu);
        let times = self.size_or_unknown(&c.range);
        sum = sum.add(times.multiply(step.add(condition)));
        match &c.init.kind {
            ExprKind::Literal(_) => {
                let size = self.size(&c.init);
                self.set_size(e, size);
            }
            ExprKind::List(_) | ExprKind::Map(_) => {
                self.set_size(e, Some(times));
                if let Some(entry) = self.entry_size(&c.step) {
                    self.entries.insert(e.id, entry);
                }
            }
            _ => {}
        }
        sum
    }

    /// A comprehension for a server that follows one variable, and only to its declaration.
    fn plain_comprehension(&mut self, e: &'e Expr, c: &'e Comprehension) -> Estimate {
        let mut sum = self.expr(&c.range).add(self.expr(&c.init));
        let step = match self.checked.type_of(&c.range) {
            CelType::List(_) => Some("@items"),
            CelType::Map(..) => Some("@keys"),
            _ => None,
        };
        let path = if step.is_some() { self.paths.get(&c.range).cloned().unwrap_or_default() } else { Path::default() };
        self.push(&c.var, Local { path, step, size: None, entry: None });
        let each = self.expr(&c.condition).add(self.expr(&c.step));
        self.pop(&c.var);
        sum = sum.add(self.expr(&c.result));
        let times = self.size_or_unknown(&c.range);
        if self.has(Feature::SizedComprehensions) {
            self.set_size(e, Some(times));
        }
        sum.add(times.multiply(each))
    }

    fn bind(&mut self, e: &'e Expr, c: &'e Comprehension) -> Estimate {
        let mut sum = self.expr(&c.range).add(self.expr(&c.init));
        let local = Local { path: self.path(&c.init), entry: self.entry_size(&c.init), size: self.size(&c.init), step: None };
        self.push(&c.accu, local);
        sum = sum.add(self.expr(&c.result));
        self.pop(&c.accu);
        self.copy_sizes(e, &c.result);
        sum
    }

    fn push(&mut self, name: &'e str, local: Local) {
        self.scope.entry(name).or_default().push(local);
    }

    fn pop(&mut self, name: &str) {
        if let Some(stack) = self.scope.get_mut(name) {
            stack.pop();
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.scope.get(name)?.last()
    }

    fn path(&self, e: &Expr) -> Path {
        if let ExprKind::Ident(name) = &e.kind
            && let Some(local) = self.local(name).filter(|local| local.step.is_none())
        {
            return local.path.clone();
        }
        self.paths.get(e).filter(|path| !path.starts_at(ACCU)).cloned().unwrap_or_default()
    }

    fn node(&mut self, e: &'e Expr) -> Node<'e> {
        Node { path: self.path(e), expr: Some(e), size: self.size(e), t: self.checked.type_of(e) }
    }

    /// The node of a list's elements, from its type and path alone.
    fn element(&self, list: &Node<'e>) -> Option<Node<'e>> {
        let t = (*list.t.parameters().first()?).clone();
        let path = if list.path.is_empty() { Path::default() } else { list.path.extended("@items") };
        Some(Node { path, expr: None, size: None, t })
    }

    fn set_size(&mut self, e: &Expr, size: Option<Estimate>) {
        if let Some(size) = size {
            self.sizes.insert(e.id, size);
        }
    }

    fn copy_sizes(&mut self, to: &'e Expr, from: &'e Expr) {
        let size = self.size(from);
        self.set_size(to, size);
        if let Some(entry) = self.entry_size(from) {
            self.entries.insert(to.id, entry);
        }
    }

    fn size(&mut self, e: &'e Expr) -> Option<Estimate> {
        if let Some(size) = self.sizes.get(e) {
            return Some(*size);
        }
        if let Some(size) = written_size(e) {
            return Some(Estimate::fixed(size));
        }
        if let Some(size) = self.declared_size(&self.path(e)) {
            self.sizes.insert(e.id, size);
            return Some(size);
        }
        if is_scalar(&self.checked.type_of(e)) {
            return Some(Estimate::fixed(1));
        }
        match &e.kind {
            ExprKind::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    fn size_or_unknown(&mut self, e: &'e Expr) -> Estimate {
        self.size(e).unwrap_or(Estimate::UNKNOWN)
    }

    fn entry_size(&self, e: &Expr) -> Option<EntrySize> {
        if let Some(entry) = self.entries.get(e) {
            return Some(*entry);
        }
        match &e.kind {
            ExprKind::Ident(name) => self.local(name)?.entry,
            _ => None,
        }
    }

    /// The maximum size that the schema allows for the value at a path. Any variable counts as `self`.
    fn declared_size(&self, path: &Path) -> Option<Estimate> {
        if path.is_empty() {
            return None;
        }
        let mut node = self.decl;
        for (i, step) in path.steps().iter().enumerate().skip(1) {
            node = match (&**step, &node.kind) {
                ("@items" | "@values", DeclKind::List { item, .. }) => item,
                ("@items" | "@values", DeclKind::Map { value }) => value,
                // Keys of maps have no declared length, which counts as zero.
                ("@keys", DeclKind::Map { .. }) if i + 1 == path.len() => return Some(Estimate::ZERO),
                (field, DeclKind::Object(object)) => object.field(field)?.1,
                _ => return None,
            };
        }
        Some(Estimate { min: 0, max: node.max_size })
    }
}

/// The size of a literal in the expression.
fn written_size(e: &Expr) -> Option<u64> {
    Some(match &e.kind {
        ExprKind::Literal(Literal::String(text)) => text.chars().count() as u64,
        ExprKind::Literal(Literal::Bytes(bytes)) => bytes.len() as u64,
        ExprKind::Literal(_) => 1,
        ExprKind::List(list) => list.items.len() as u64,
        ExprKind::Map(entries) => entries.len() as u64,
        _ => return None,
    })
}

fn is_scalar(t: &CelType) -> bool {
    match t {
        CelType::Bool | CelType::Double | CelType::Duration | CelType::Int | CelType::Timestamp | CelType::Uint => true,
        CelType::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}

/// Whether a fold is over an empty list and never steps: how `optMap` and `sortBy` bind a value.
fn is_bind(c: &Comprehension) -> bool {
    let nothing = matches!(&c.range.kind, ExprKind::List(list) if list.items.is_empty());
    nothing && matches!(c.condition.literal(), Some(Literal::Bool(false)))
}

#[cfg(test)]
mod tests;
