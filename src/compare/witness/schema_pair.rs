//! Two schemas with the server's answers for both.

use std::sync::Arc;

use crate::model::schema::Shape;
use crate::server::object::Compiled;

/// Two schemas to compare, and what answers requests to them.
#[derive(Clone)]
pub struct SchemaPair<'s> {
    pub(super) old: &'s Shape,
    pub(super) new: &'s Shape,
    pub(super) before: Arc<Compiled>,
    pub(super) after: Arc<Compiled>,
}

impl<'s> SchemaPair<'s> {
    pub fn new(old: &'s Shape, new: &'s Shape) -> Self {
        SchemaPair::answered_by((old, new), (old, new))
    }

    /// Sends objects to other schemas, while the search may know more about what they accept.
    pub fn answered_by((old, new): (&'s Shape, &'s Shape), (before, after): (&Shape, &Shape)) -> Self {
        let before = Compiled::new(before);
        let after = Arc::new(Compiled::beside(after, &before));
        SchemaPair { old, new, before: Arc::new(before), after }
    }

    /// With a new schema that is already compiled.
    pub fn against(old: &'s Shape, (new, after): (&'s Shape, &Arc<Compiled>)) -> Self {
        SchemaPair { old, new, before: Arc::new(Compiled::beside(old, after)), after: Arc::clone(after) }
    }

    pub(super) fn reversed(&self) -> Self {
        SchemaPair { old: self.new, new: self.old, before: Arc::clone(&self.after), after: Arc::clone(&self.before) }
    }
}
