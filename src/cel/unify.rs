//! Type parameters and the types that replace them: cel-go's assignability, with an undo log instead of copies.

use std::sync::Arc;

use super::types::Type;

/// What is known about type parameters so far.
#[derive(Default)]
pub struct Substitution {
    bound: Vec<Option<Type>>,
    /// Earlier values of what was bound, newest last, for [`Substitution::undo`].
    log: Vec<(usize, Option<Type>)>,
}

/// A state to come back to.
#[derive(Clone, Copy)]
pub struct Mark(usize);

impl Substitution {
    /// A parameter that nothing is known about.
    pub fn fresh(&mut self) -> Type {
        self.bound.push(None);
        Type::Param(self.bound.len() - 1)
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

    fn find(&self, t: &Type) -> Option<&Type> {
        match t {
            Type::Param(n) => self.bound.get(*n)?.as_ref(),
            _ => None,
        }
    }

    fn bind(&mut self, param: &Type, to: Type) {
        let Type::Param(n) = param else { return };
        if let Some(slot) = self.bound.get_mut(*n) {
            self.log.push((*n, slot.replace(to)));
        }
    }

    /// `t` with what is known filled in; what isn't becomes `dyn` if `to_dyn`.
    pub fn apply(&self, t: &Type, to_dyn: bool) -> Type {
        if t.is_plain() {
            return t.clone();
        }
        if let Some(bound) = self.find(t) {
            return self.apply(bound, to_dyn);
        }
        let inner = |t: &Arc<Type>| Arc::new(self.apply(t, to_dyn));
        match t {
            Type::Param(_) if to_dyn => Type::Dyn,
            Type::List(item) => Type::List(inner(item)),
            Type::Map(key, value) => Type::Map(inner(key), inner(value)),
            Type::Optional(of) => Type::Optional(inner(of)),
            Type::Type(Some(of)) => Type::Type(Some(inner(of))),
            other => other.clone(),
        }
    }

    /// Whether each of `from` fits the one of `to` beside it; what that teaches is kept only if all fit.
    pub fn assignable_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        let mark = self.mark();
        let fits = from.len() == to.len() && from.iter().zip(to).all(|(a, b)| self.fits(a, b));
        if !fits {
            self.undo(mark);
        }
        fits
    }

    pub fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        self.assignable_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    fn fits(&mut self, a: &Type, b: &Type) -> bool {
        if matches!(b, Type::Param(_)) {
            let (valid, known) = self.substitute(a, b);
            if valid || known {
                return valid;
            }
        }
        if matches!(a, Type::Param(_)) {
            return self.substitute(b, a).0;
        }
        if a.is_dyn_or_error() || b.is_dyn_or_error() {
            return true;
        }
        match (a, b) {
            (Type::Null, other) | (other, Type::Null) => nullable(other),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(x), Type::List(y)) | (Type::Optional(x), Type::Optional(y)) => self.fits(x, y),
            (Type::Map(k, v), Type::Map(l, w)) => self.fits(k, l) && self.fits(v, w),
            _ => a == b,
        }
    }

    /// Whether the parameter `param` can stand for `t`, and whether something was known about it before.
    fn substitute(&mut self, t: &Type, param: &Type) -> (bool, bool) {
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
    fn occurs(&self, param: &Type, t: &Type) -> bool {
        if param == t {
            return true;
        }
        if let Type::Param(_) = t {
            return self.find(t).is_some_and(|bound| self.occurs(param, bound));
        }
        // `type(T)` is not looked into: cel-go doesn't either.
        !matches!(t, Type::Type(_)) && t.parameters().iter().any(|p| self.occurs(param, p))
    }

    /// The type of elements of which some have type `a` and some `b`, or `None` if they don't mix.
    pub fn join(&mut self, a: Option<Type>, b: Type) -> Option<Type> {
        let Some(a) = a else { return Some(b) };
        if self.assignable(&a, &b) { Some(if less_specific(&a, &b) { a } else { b }) } else { None }
    }
}

fn nullable(t: &Type) -> bool {
    matches!(t, Type::Null | Type::Struct(_) | Type::Opaque(_) | Type::Optional(_) | Type::Duration | Type::Timestamp)
}

/// Whether `a` says the same as `b`, or less.
fn less_specific(a: &Type, b: &Type) -> bool {
    if matches!(a, Type::Dyn | Type::Param(_)) {
        return true;
    }
    match (a, b) {
        (_, Type::Dyn | Type::Param(_)) => false,
        (Type::Type(_), Type::Type(_)) => true,
        (Type::List(x), Type::List(y)) | (Type::Optional(x), Type::Optional(y)) => less_specific(x, y),
        (Type::Map(k, v), Type::Map(l, w)) => less_specific(k, l) && less_specific(v, w),
        _ => a == b,
    }
}
