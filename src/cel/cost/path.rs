//! The fields that lead from a variable to a value, with the memory behaviour of a Go slice.
//!
//! cel-go keeps such paths in slices and appends to them. Two paths that extend the same one share its array while there is
//! capacity, so the second overwrites the last step of the first, and sizes are then looked up in the wrong place. Cost verdicts
//! depend on that, so it is reproduced here.

use std::cell::RefCell;
use std::rc::Rc;

type Step = Rc<str>;

#[derive(Clone, Debug, Default)]
pub struct Path {
    array: Rc<RefCell<Vec<Step>>>,
    len: usize,
    capacity: usize,
}

impl Path {
    /// A path of one step.
    pub fn new(first: &str) -> Path {
        Path { array: Rc::new(RefCell::new(vec![first.into()])), len: 1, capacity: 1 }
    }

    /// Whether it starts with this variable.
    pub fn starts_at(&self, name: &str) -> bool {
        self.len > 0 && self.array.borrow().first().is_some_and(|first| &**first == name)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn steps(&self) -> Vec<Step> {
        self.array.borrow().iter().take(self.len).cloned().collect()
    }

    /// Like Go's `append`: in place while there is capacity, otherwise into an array of twice the size.
    pub fn append(&self, step: &str) -> Path {
        if self.len < self.capacity {
            let mut array = self.array.borrow_mut();
            match array.get_mut(self.len) {
                Some(slot) => *slot = step.into(),
                None => array.push(step.into()),
            }
            drop(array);
            return Path { array: self.array.clone(), len: self.len + 1, capacity: self.capacity };
        }
        Path { capacity: (self.capacity * 2).max(1), ..self.extended(step) }
    }

    /// An independent copy, one step longer.
    pub fn extended(&self, step: &str) -> Path {
        let mut steps = self.steps();
        steps.push(step.into());
        let len = steps.len();
        Path { array: Rc::new(RefCell::new(steps)), len, capacity: len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &Path) -> String {
        path.steps().join(".")
    }

    #[test]
    fn siblings_overwrite_each_other_while_there_is_capacity() {
        let item = Path::new("self").append("a").append("@items");
        let (b, c) = (item.append("b"), item.append("c"));
        assert_eq!((shown(&b).as_str(), shown(&c).as_str()), ("self.a.@items.c", "self.a.@items.c"));
        let list = Path::new("self").append("a");
        let (b, c) = (list.append("b"), list.append("c"));
        assert_eq!((shown(&b).as_str(), shown(&c).as_str()), ("self.a.b", "self.a.c"));
    }
}
