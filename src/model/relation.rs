//! The two answers that every domain of values gives: one value with stated properties, and how two domains compare.

/// The answer to "is there a value such that …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Find<T> {
    /// Such a value.
    Found(T),
    /// Proved: there is none.
    None,
    /// Neither found nor excluded within the stated budget.
    Undecided(String),
}

/// How the set on the left compares with the set on the right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order<T> {
    Equal,
    /// Everything on the left is on the right too.
    Narrower {
        only_right: T,
    },
    /// Everything on the right is on the left too.
    Wider {
        only_left: T,
    },
    Incomparable {
        only_left: T,
        only_right: T,
    },
    /// At least one direction is open; a witness of the other may still be known.
    Undecided {
        reason: String,
        only_left: Option<T>,
        only_right: Option<T>,
    },
}

impl<T> Order<T> {
    /// Joins the searches for a value that only one side has.
    pub fn of(only_left: Find<T>, only_right: Find<T>) -> Self {
        match (only_left, only_right) {
            (Find::None, Find::None) => Order::Equal,
            (Find::None, Find::Found(only_right)) => Order::Narrower { only_right },
            (Find::Found(only_left), Find::None) => Order::Wider { only_left },
            (Find::Found(only_left), Find::Found(only_right)) => Order::Incomparable { only_left, only_right },
            (Find::Undecided(reason), right) => Order::Undecided { reason, only_left: None, only_right: right.found() },
            (left, Find::Undecided(reason)) => Order::Undecided { reason, only_left: left.found(), only_right: None },
        }
    }
}

impl<T> Find<T> {
    pub fn found(self) -> Option<T> {
        match self {
            Find::Found(value) => Some(value),
            Find::None | Find::Undecided(_) => None,
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Find<U> {
        match self {
            Find::Found(value) => Find::Found(f(value)),
            Find::None => Find::None,
            Find::Undecided(reason) => Find::Undecided(reason),
        }
    }

    /// The first of several searches that succeeds; `None` only if all of them prove absence.
    pub fn any(searches: impl IntoIterator<Item = Find<T>>) -> Find<T> {
        let mut open = None;
        for search in searches {
            match search {
                Find::Found(value) => return Find::Found(value),
                Find::None => {}
                Find::Undecided(reason) => open = open.or(Some(reason)),
            }
        }
        open.map_or(Find::None, Find::Undecided)
    }
}
