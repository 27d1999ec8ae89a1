//! The route of objects of one kind and version to the target, prepared once for all objects of a file.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::address::ListKeys;
use super::super::convert::{ConvertError, Converter};
use super::super::graph::Leg;
use super::super::manifest::{Manifest, Reverse};
use super::super::step::Step;
use super::super::text::{Renames, rename_pairs};
use crate::model::{FieldPath, PathStep};

pub(super) struct Route<'m> {
    pub legs: Vec<(Leg<'m>, Converter<'m>)>,
    pub renames: Renames,
    /// The top-level fields that a step reads or writes; `None` if it could be any. All others are neither read nor changed.
    pub fields: Option<BTreeSet<&'m str>>,
}

impl<'m> Route<'m> {
    /// `keys` are the declared list keys. `whole`: results are validated, so every field is needed.
    pub fn new(legs: Vec<Leg<'m>>, keys: Option<&Arc<ListKeys>>, whole: bool) -> Result<Route<'m>, ConvertError> {
        let renames = rename_pairs(&legs);
        let mut fields = Some(BTreeSet::from(["apiVersion", "kind"])).filter(|_| !whole);
        let mut prepared = Vec::new();
        for leg in legs {
            let converter = Converter::new(leg.manifest, leg.direction)?;
            prepared.push((leg, keys.map_or(converter.clone(), |keys| converter.with_keys(keys))));
            fields = fields.and_then(|mut fields| {
                fields.extend(touched(leg.manifest)?);
                Some(fields)
            });
        }
        Ok(Route { legs: prepared, renames, fields })
    }
}

/// The top-level fields that a manifest reads or writes in either direction; `None` if a step applies to the object as a whole.
fn touched<'m>(manifest: &'m Manifest) -> Option<BTreeSet<&'m str>> {
    let reverse: &[Step] = if let Reverse::Steps(steps) = &manifest.reverse { steps } else { &[] };
    let paths = manifest.steps.iter().chain(reverse).flat_map(|step| step.op.paths());
    let first = |path: &'m FieldPath| match path.steps().first() {
        Some(PathStep::Key(name)) => Some(&**name),
        _ => None,
    };
    let mut found = paths.map(first).collect::<Option<BTreeSet<&'m str>>>()?;
    found.extend(manifest.preserve.as_ref().map(|preserve| preserve.top_level()));
    Some(found)
}
