//! How the fields of a step overlap with the field of a change.

use crate::model::FieldPath;
use crate::model::fact::{Aspect, Effect, Fact};

/// How the fields of a step overlap with the field of a change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overlap {
    /// The step reads the changed field.
    pub reads: bool,
    /// The step writes the changed field, under its new name if it was renamed.
    pub writes: bool,
    /// The step reads or writes a field inside the changed one, or the changed one itself.
    pub inside: bool,
    /// The field wasn't renamed, or the step writes its new name.
    pub writes_new_name: bool,
}

impl Overlap {
    /// `reads` are the step's fields with their names in the old version, `writes` with those in the new one.
    pub fn new(change: &Fact, reads: &[FieldPath], writes: &[FieldPath]) -> Overlap {
        let (old, new) = (&change.path, change.to.as_ref().unwrap_or(&change.path));
        Overlap {
            reads: reads.contains(old),
            writes: writes.contains(new),
            inside: reads.iter().any(|read| read.starts_with(old)) || writes.iter().any(|write| write.starts_with(new)),
            writes_new_name: change.to.is_none() || writes.contains(new),
        }
    }

    /// Whether a step with this overlap covers a change, unless its kind decides otherwise.
    pub fn covers_by_default(&self, change: &Fact) -> bool {
        match (change.aspect, change.effect) {
            (Aspect::Presence | Aspect::Required, Effect::Added) => self.writes,
            (Aspect::Required | Aspect::Default | Aspect::Nullable | Aspect::Meaning, _) => self.reads || self.writes,
            // A condition on an object is covered by steps for its fields.
            (
                Aspect::CelRule
                | Aspect::CelTransition
                | Aspect::AllOf
                | Aspect::AnyOf
                | Aspect::OneOf
                | Aspect::Not
                | Aspect::Accepted
                | Aspect::MinProperties
                | Aspect::MaxProperties
                | Aspect::PreserveUnknown
                | Aspect::AdditionalProperties
                | Aspect::Items
                | Aspect::EmbeddedResource,
                _,
            ) => self.inside,
            _ => self.reads,
        }
    }
}
