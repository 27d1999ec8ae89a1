//! Finds what an expression reads of its object, so that other parts of the schema can change without affecting it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Expr, ExprKind};
use super::name::unescape;
use super::parse::read;
use crate::go::bounded_cache::BoundedCache;

/// How many bytes of expressions a thread caches.
const REMEMBERED: usize = 1 << 16;

thread_local! {
    static KNOWN: BoundedCache<String, Arc<Need>> = BoundedCache::new(REMEMBERED);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    Whole,
    /// Only these fields, by their names in the schema, each as far as its own need goes.
    Fields(BTreeMap<String, Need>),
}

impl Need {
    pub fn nothing() -> Self {
        Need::Fields(BTreeMap::new())
    }

    /// What an expression reads of `self` and `oldSelf`.
    pub fn of(source: &str) -> Arc<Need> {
        KNOWN.with(|known| known.get(source, |_| source.len(), || Arc::new(Self::read(source))))
    }

    fn read(source: &str) -> Need {
        let mut need = Need::nothing();
        match read(source) {
            Ok(expr) => need.expr(&expr),
            Err(_) => return Need::Whole,
        }
        need
    }

    fn expr(&mut self, expr: &Expr) {
        let mut names = Vec::new();
        // Testing whether a field exists doesn't read its content.
        let last = if matches!(&expr.kind, ExprKind::Select(select) if select.test) { Need::nothing() } else { Need::Whole };
        let mut chain = expr;
        while let ExprKind::Select(select) = &chain.kind {
            names.push(select.field.as_str());
            chain = &select.operand;
        }
        match &chain.kind {
            ExprKind::Ident(name) if matches!(name.as_str(), "self" | "oldSelf" | ".self" | ".oldSelf") => {
                names.reverse();
                self.path(&names, last);
            }
            _ => chain.each_child(&mut |child| self.expr(child)),
        }
    }

    fn path(&mut self, names: &[&str], last: Need) {
        match (names.split_first(), &mut *self) {
            (None, _) => *self = std::mem::replace(self, Need::Whole).and(&last),
            (Some((first, rest)), Need::Fields(fields)) => {
                let name = unescape(first).unwrap_or_else(|| (*first).to_owned());
                fields.entry(name).or_insert_with(Need::nothing).path(rest, last);
            }
            (Some(_), Need::Whole) => {}
        }
    }

    /// Combines the needs of two expressions.
    pub fn and(self, other: &Need) -> Need {
        match (self, other) {
            (Need::Fields(mut fields), Need::Fields(more)) => {
                for (name, need) in more {
                    let known = fields.remove(name).unwrap_or_else(Need::nothing);
                    fields.insert(name.clone(), known.and(need));
                }
                Need::Fields(fields)
            }
            _ => Need::Whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields<const N: usize>(list: [(&str, Need); N]) -> Need {
        Need::Fields(list.into_iter().map(|(name, need)| (name.to_owned(), need)).collect())
    }

    #[test]
    fn the_fields_that_are_read_are_found() {
        assert_eq!(*Need::of("self.a.b > 1"), fields([("a", fields([("b", Need::Whole)]))]));
        assert_eq!(*Need::of("has(self.a) && has(self.a.b)"), fields([("a", fields([("b", Need::nothing())]))]));
        assert_eq!(*Need::of("self.a__dash__b == oldSelf.c"), fields([("a-b", Need::Whole), ("c", Need::Whole)]));
        assert_eq!(*Need::of("self.l.all(x, x.y > self.z)"), fields([("l", Need::Whole), ("z", Need::Whole)]));
        assert_eq!(*Need::of("has(self.a) || self.a == self.b"), fields([("a", Need::Whole), ("b", Need::Whole)]));
    }

    #[test]
    fn reading_the_object_itself_reads_everything() {
        for whole in
            ["self == oldSelf", "size(self) > 1", "[self].all(x, has(x.a))", "self[?'a'].hasValue()", "self.?a.hasValue()", "self."]
        {
            assert_eq!(*Need::of(whole), Need::Whole, "{whole}");
        }
    }
}
