//! The verdict on what two nodes accept as a whole.

use crate::schema::Schema;

use super::limits::Limits;
use super::relation::Relation;

#[derive(Debug, Clone)]
pub(super) struct Judgement {
    pub relation: Relation,
    pub reason: Option<String>,
}

/// What became of the values that a node accepts, its children on the spine left aside. `together` is what its parts say one by one.
pub(super) fn judge(_old: &Schema<'_>, _new: &Schema<'_>, before: &Limits<'_>, after: &Limits<'_>, together: Relation) -> Judgement {
    let relation = match (before.refuses_all(), after.refuses_all()) {
        (true, true) => Relation::Equal,
        (true, false) => Relation::Widened,
        (false, true) => Relation::Narrowed,
        (false, false) => together,
    };
    Judgement { relation, reason: None }
}
