//! Decides what the server does with an explicit null before validation. Everything else uses this decision.
//!
//! Dropping nulls (`object/prune.rs`), applying defaults (`object/apply_defaults.rs`), comparing schemas and reporting changes all
//! use it.

/// Where the null is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullPosition {
    /// The value of a field or map key, which can be omitted.
    Key,
    /// An item of a list, which can't be omitted.
    Item,
}

/// What happens to a null before validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullFate {
    /// Validation sees it, and refuses it unless the schema allows null.
    Kept,
    /// Replaced by the default.
    Defaulted,
    /// Its key is removed.
    Dropped,
}

impl NullFate {
    pub(crate) fn of(is_nullable: bool, has_default: bool, position: NullPosition) -> Self {
        match position {
            _ if is_nullable => NullFate::Kept,
            _ if has_default => NullFate::Defaulted,
            NullPosition::Item => NullFate::Kept,
            NullPosition::Key => NullFate::Dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NullFate::{Defaulted, Dropped, Kept};
    use super::NullPosition::{Item, Key};
    use super::*;

    #[test]
    fn every_null_has_one_fate() {
        for (is_nullable, has_default, position, expected) in [
            (true, false, Key, Kept),
            (true, true, Key, Kept),
            (true, true, Item, Kept),
            (false, true, Key, Defaulted),
            (false, true, Item, Defaulted),
            (false, false, Key, Dropped),
            (false, false, Item, Kept),
        ] {
            assert_eq!(NullFate::of(is_nullable, has_default, position), expected, "{is_nullable} {has_default} {position:?}");
        }
    }
}
