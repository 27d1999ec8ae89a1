use crate::crd::Bundle;
use crate::fact::Fact;
pub fn inspect(_: &Bundle<'_>) -> Vec<Fact> {
    Vec::new()
}
pub fn review(_: &Bundle<'_>, _: &Bundle<'_>) -> Vec<Fact> {
    Vec::new()
}
