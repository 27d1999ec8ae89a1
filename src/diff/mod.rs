use crate::crd::Bundle;
use crate::fact::Fact;
#[derive(Default)]
pub struct Options {}
pub fn diff(_: &Bundle<'_>, _: &Bundle<'_>, _: &Options) -> Vec<Fact> {
    Vec::new()
}
