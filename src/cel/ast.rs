//! The syntax tree of an expression, with macros expanded.
//!
//! Every node has a number; checking and costing store their results under it. Parts that a macro repeats share a number, like in
//! cel-go.

use std::borrow::Cow;

/// A node of an expression.
#[derive(Clone, Debug)]
pub struct Expr {
    pub id: u32,
    /// Byte offset in the source.
    pub at: usize,
    pub kind: ExprKind,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Literal(Literal),
    Ident(String),
    Select(Select),
    Call(Call),
    List(List),
    Map(Vec<MapEntry>),
    Struct(Struct),
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

/// `operand.field`, or `has(operand.field)` when `test`.
#[derive(Clone, Debug)]
pub struct Select {
    pub operand: Box<Expr>,
    pub field: String,
    pub test: bool,
}

/// A function, method or operator (`_+_`, `_?._`, …).
#[derive(Clone, Debug)]
pub struct Call {
    /// Operators and functions called by macros are static strings.
    pub function: Cow<'static, str>,
    pub target: Option<Box<Expr>>,
    pub args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub struct List {
    pub items: Vec<Expr>,
    /// The indexes of items written `?item`.
    pub optional: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct MapEntry {
    pub key: Expr,
    pub value: Expr,
    pub optional: bool,
}

#[derive(Clone, Debug)]
pub struct Struct {
    pub type_name: String,
    pub values: Vec<Expr>,
}

/// The fold that macros such as `all` expand to.
#[derive(Clone, Debug)]
pub struct Comprehension {
    pub range: Expr,
    pub var: String,
    pub var2: Option<String>,
    pub accu: String,
    pub init: Expr,
    pub condition: Expr,
    pub step: Expr,
    pub result: Expr,
}

/// The macros that test a condition on the elements of a list or map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantifier {
    All,
    Exists,
    ExistsOne,
}

impl Comprehension {
    /// The quantifier that this was expanded from, with its condition.
    pub fn quantifier(&self) -> Option<(Quantifier, &Expr)> {
        let ExprKind::Call(step) = &self.step.kind else { return None };
        let is_accu = |expr: &Expr| matches!(&expr.kind, ExprKind::Ident(name) if *name == self.accu);
        match (&*step.function, step.args.as_slice(), self.init.literal()) {
            ("_&&_", [accu, condition], Some(Literal::Bool(true))) if is_accu(accu) && is_accu(&self.result) => {
                Some((Quantifier::All, condition))
            }
            ("_||_", [accu, condition], Some(Literal::Bool(false))) if is_accu(accu) && is_accu(&self.result) => {
                Some((Quantifier::Exists, condition))
            }
            ("_?_:_", [condition, _, accu], Some(Literal::Int(0))) if is_accu(accu) && !is_accu(&self.result) => {
                Some((Quantifier::ExistsOne, condition))
            }
            _ => None,
        }
    }

    /// The condition of the `filter` that this was expanded from.
    pub fn filter(&self) -> Option<&Expr> {
        let (ExprKind::Call(step), ExprKind::List(init)) = (&self.step.kind, &self.init.kind) else { return None };
        match (&*step.function, step.args.as_slice()) {
            ("_?_:_", [condition, ..]) if init.items.is_empty() => Some(condition),
            _ => None,
        }
    }
}

impl Call {
    /// Whether this is the expansion of `optFlatMap`: a conditional whose first branch binds a value. Nothing else that can be
    /// written has this form.
    pub fn is_opt_flat_map(&self) -> bool {
        let binds = |e: &Expr| {
            matches!(&e.kind, ExprKind::Comprehension(c)
                if matches!(&c.range.kind, ExprKind::List(list) if list.items.is_empty()) && c.condition.literal() == Some(&Literal::Bool(false)))
        };
        self.function == "_?_:_" && self.args.get(1).is_some_and(binds)
    }
}

/// Results for nodes, by their numbers.
#[derive(Clone, Debug)]
pub struct Learnt<T>(Vec<Option<T>>);

impl<T> Default for Learnt<T> {
    fn default() -> Self {
        Learnt(Vec::new())
    }
}

impl<T> Learnt<T> {
    /// Reserves space for the nodes of an expression.
    pub fn about(expr: &Expr) -> Self {
        // The last number is usually that of the outermost node.
        Learnt(Vec::with_capacity(expr.id as usize + 1))
    }

    pub fn get(&self, node: &Expr) -> Option<&T> {
        self.0.get(node.id as usize)?.as_ref()
    }

    pub fn insert(&mut self, id: u32, known: T) {
        let index = id as usize;
        if self.0.len() <= index {
            // Numbers are assigned in order, so there are about this many.
            self.0.resize_with(index + 1, || None);
        }
        if let Some(slot) = self.0.get_mut(index) {
            *slot = Some(known);
        }
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }
}

/// The name of the accumulator in macros; no expression can spell it.
pub const ACCU: &str = "@result";

impl Expr {
    /// The children, in source order.
    pub fn children(&self) -> Vec<&Expr> {
        let mut children = vec![];
        self.each_child(&mut |child| children.push(child));
        children
    }

    /// Calls `show` with each child, in source order.
    pub fn each_child<'e>(&'e self, show: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) => {}
            ExprKind::Select(s) => show(&s.operand),
            ExprKind::Call(c) => c.target.iter().map(|t| &**t).chain(&c.args).for_each(show),
            ExprKind::List(l) => l.items.iter().for_each(show),
            ExprKind::Map(entries) => entries.iter().flat_map(|e| [&e.key, &e.value]).for_each(show),
            ExprKind::Struct(s) => s.values.iter().for_each(show),
            ExprKind::Comprehension(c) => [&c.range, &c.init, &c.condition, &c.step, &c.result].into_iter().for_each(show),
        }
    }

    /// Whether it reads `oldSelf`, which makes a rule a transition rule.
    pub fn reads_old_self(&self) -> bool {
        self.descendants()
            .into_iter()
            .any(|part| matches!(&part.kind, ExprKind::Ident(name) if matches!(name.as_str(), "oldSelf" | ".oldSelf")))
    }

    /// This node and everything below it, parents first.
    pub fn descendants(&self) -> Vec<&Expr> {
        let mut out = vec![];
        let mut open = vec![self];
        while let Some(e) = open.pop() {
            out.push(e);
            let first = open.len();
            e.each_child(&mut |child| open.push(child));
            // The first child is visited next.
            if let Some(children) = open.get_mut(first..) {
                children.reverse();
            }
        }
        out
    }

    /// Whether the expression can be split into its cases without becoming too large.
    pub fn is_manageable(&self) -> bool {
        const MOST: u64 = 2_000;
        self.spread() <= MOST
    }

    /// The size of the expression with every conditional written out: conditions and comparisons of booleans count twice.
    fn spread(&self) -> u64 {
        let twice = |index: usize| match &self.kind {
            ExprKind::Call(call) => match &*call.function {
                "_?_:_" => index == 0,
                "_==_" | "_!=_" => true,
                _ => false,
            },
            _ => false,
        };
        let parts = self.children().into_iter().enumerate();
        parts.fold(1, |sum: u64, (index, part)| sum.saturating_add(part.spread().saturating_mul(1 + u64::from(twice(index)))))
    }

    /// `a.b.c` as one name, if the node is a chain of plain selections.
    pub fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            ExprKind::Ident(name) => Some(name.clone()),
            ExprKind::Select(s) if !s.test => {
                let prefix = s.operand.qualified_name()?;
                Some(format!("{prefix}.{}", s.field))
            }
            _ => None,
        }
    }

    /// The name at the start of a chain of plain selections: `a` in `a.b.c`.
    pub fn head(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Ident(name) => Some(name),
            ExprKind::Select(s) if !s.test => s.operand.head(),
            _ => None,
        }
    }

    pub fn literal(&self) -> Option<&Literal> {
        match &self.kind {
            ExprKind::Literal(l) => Some(l),
            _ => None,
        }
    }
}
