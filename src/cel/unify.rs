//! Type inference: cel-go's assignability, with an undo log instead of copies.

use std::sync::Arc;

use super::types::CelType;

/// What is known about type parameters so far.
#[derive(Default)]
pub struct Substitution {
    bound: Vec<Option<CelType>>,
    /// Earlier values of bound parameters, newest last, for [`Substitution::undo`].
    log: Vec<(usize, Option<CelType>)>,
}

/// A state to return to.
#[derive(Clone, Copy)]
pub struct Mark(usize);

impl Substitution {
    /// A new type parameter.
    pub fn fresh(&mut self) -> CelType {
        self.bound.push(None);
        CelType::Param(self.bound.len() - 1)
    }

    pub fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    pub fn undo(&mut self, mark: Mark) {
        while self.log.len() > mark.0 {
            let Some((param, before)) = self.log.pop() else { return };
            if let Some(slot) = self.bound.get_mut(param) {
                *slot = before;
            }
        }
    }

    fn find(&self, t: &CelType) -> Option<&CelType> {
        match t {
            CelType::Param(n) => self.bound.get(*n)?.as_ref(),
            _ => None,
        }
    }

    fn bind(&mut self, param: &CelType, to: CelType) {
        let CelType::Param(n) = param else { return };
        if let Some(slot) = self.bound.get_mut(*n) {
            self.log.push((*n, slot.replace(to)));
        }
    }

    /// `t` with known parameters replaced; unknown ones become `dyn` if `to_dyn`.
    pub fn apply(&self, t: &CelType, to_dyn: bool) -> CelType {
        if t.is_plain() {
            return t.clone();
        }
        if let Some(bound) = self.find(t) {
            return self.apply(bound, to_dyn);
        }
        let inner = |t: &Arc<CelType>| Arc::new(self.apply(t, to_dyn));
        match t {
            CelType::Param(_) if to_dyn => CelType::Dyn,
            CelType::List(item) => CelType::List(inner(item)),
            CelType::Map(key, value) => CelType::Map(inner(key), inner(value)),
            CelType::Optional(of) => CelType::Optional(inner(of)),
            CelType::Type(Some(of)) => CelType::Type(Some(inner(of))),
            other => other.clone(),
        }
    }

    /// Whether each type of `from` is assignable to the corresponding one of `to`; inferred types are kept only if all are.
    pub fn assignable_all(&mut self, from: &[CelType], to: &[CelType]) -> bool {
        let mark = self.mark();
        let fits = from.len() == to.len() && from.iter().zip(to).all(|(a, b)| self.fits(a, b));
        if !fits {
            self.undo(mark);
        }
        fits
    }

    pub fn assignable(&mut self, from: &CelType, to: &CelType) -> bool {
        self.assignable_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    fn fits(&mut self, a: &CelType, b: &CelType) -> bool {
        if matches!(b, CelType::Param(_)) {
            let (valid, known) = self.substitute(a, b);
            if valid || known {
                return valid;
            }
        }
        if matches!(a, CelType::Param(_)) {
            return self.substitute(b, a).0;
        }
        if a.is_dyn_or_error() || b.is_dyn_or_error() {
            return true;
        }
        match (a, b) {
            (CelType::Null, other) | (other, CelType::Null) => nullable(other),
            (CelType::Type(_), CelType::Type(_)) => true,
            (CelType::List(x), CelType::List(y)) | (CelType::Optional(x), CelType::Optional(y)) => self.fits(x, y),
            (CelType::Map(k, v), CelType::Map(l, w)) => self.fits(k, l) && self.fits(v, w),
            _ => a == b,
        }
    }

    /// Whether `t` can be substituted for the parameter `param`, and whether something was known about it before.
    fn substitute(&mut self, t: &CelType, param: &CelType) -> (bool, bool) {
        if t == param {
            return (true, true);
        }
        if let Some(bound) = self.find(param).cloned() {
            if *t == bound {
                return (true, true);
            }
            if !self.fits(t, &bound) {
                return (false, true);
            }
            let general = if less_specific(t, &bound) { t.clone() } else { bound };
            if !self.occurs(param, &general) {
                self.bind(param, general);
            }
            return (true, true);
        }
        if self.occurs(param, t) {
            return (false, false);
        }
        self.bind(param, t.clone());
        (true, false)
    }

    /// Whether `param` is part of `t`.
    fn occurs(&self, param: &CelType, t: &CelType) -> bool {
        if param == t {
            return true;
        }
        if let CelType::Param(_) = t {
            return self.find(t).is_some_and(|bound| self.occurs(param, bound));
        }
        // `type(T)` isn't searched, like in cel-go.
        !matches!(t, CelType::Type(_)) && t.parameters().iter().any(|p| self.occurs(param, p))
    }

    /// The common type of elements of type `a` and `b`, or `None` if they don't mix.
    pub fn join(&mut self, a: Option<CelType>, b: CelType) -> Option<CelType> {
        let Some(a) = a else { return Some(b) };
        if self.assignable(&a, &b) { Some(if less_specific(&a, &b) { a } else { b }) } else { None }
    }
}

fn nullable(t: &CelType) -> bool {
    matches!(t, CelType::Null | CelType::Struct(_) | CelType::Opaque(_) | CelType::Optional(_) | CelType::Duration | CelType::Timestamp)
}

/// Whether `a` is equally or less specific than `b`.
fn less_specific(a: &CelType, b: &CelType) -> bool {
    if matches!(a, CelType::Dyn | CelType::Param(_)) {
        return true;
    }
    match (a, b) {
        (_, CelType::Dyn | CelType::Param(_)) => false,
        (CelType::Type(_), CelType::Type(_)) => true,
        (CelType::List(x), CelType::List(y)) | (CelType::Optional(x), CelType::Optional(y)) => less_specific(x, y),
        (CelType::Map(k, v), CelType::Map(l, w)) => less_specific(k, l) && less_specific(v, w),
        _ => a == b,
    }
}
