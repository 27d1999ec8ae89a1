//! When an expression is true and when it is false, as two formulas.

use std::rc::Rc;

use super::Kinds;
use super::formula::Formula;

/// When an expression is true, and when it is false; otherwise it is an error.
pub(super) struct Truth {
    pub(super) holds: Rc<Formula>,
    pub(super) fails: Rc<Formula>,
}

pub(super) fn constant(b: bool) -> Rc<Formula> {
    Rc::new(Formula::Const(b))
}

impl Truth {
    pub(super) fn constant(b: bool) -> Truth {
        Truth { holds: constant(b), fails: constant(!b) }
    }

    /// True or false, for values of these kinds at this path.
    pub(super) fn at(path: &[Rc<str>], kinds: Kinds, atom: Formula) -> Truth {
        let atom = Rc::new(atom);
        let guard = Rc::new(Formula::Is(kinds));
        Truth {
            holds: at(path, Formula::all([Rc::clone(&guard), Rc::clone(&atom)])),
            fails: at(path, Formula::all([guard, atom.negated()])),
        }
    }

    pub(super) fn not(self) -> Truth {
        Truth { holds: self.fails, fails: self.holds }
    }

    pub(super) fn and(self, other: Truth) -> Truth {
        Truth { holds: Formula::all([self.holds, other.holds]), fails: Formula::any([self.fails, other.fails]) }
    }

    pub(super) fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }

    pub(super) fn choice(condition: &Truth, yes: Truth, no: Truth) -> Truth {
        let join = |a, b| {
            let yes = Formula::all([Rc::clone(&condition.holds), a]);
            Formula::any([yes, Formula::all([Rc::clone(&condition.fails), b])])
        };
        Truth { holds: join(yes.holds, no.holds), fails: join(yes.fails, no.fails) }
    }

    pub(super) fn same(self, other: Truth) -> Truth {
        let both = |a: &Rc<Formula>, b: &Rc<Formula>| Formula::all([Rc::clone(a), Rc::clone(b)]);
        Truth {
            holds: Formula::any([both(&self.holds, &other.holds), both(&self.fails, &other.fails)]),
            fails: Formula::any([both(&self.holds, &other.fails), both(&self.fails, &other.holds)]),
        }
    }
}

/// A condition on the value at a path; the expression is an error if the path ends early.
pub(super) fn at(path: &[Rc<str>], formula: Rc<Formula>) -> Rc<Formula> {
    path.iter()
        .rev()
        .fold(formula, |inner, key| Formula::all([Rc::new(Formula::Has(Rc::clone(key))), Rc::new(Formula::Field(Rc::clone(key), inner))]))
}
