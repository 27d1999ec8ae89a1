//! The fields that the scale subresource reads: replica counts must fit it, the selector must be a string.

use serde_json::Value;

use crate::crd::Version;
use crate::yaml::Node;

use super::error::{Error, Kind, Naming, Reason};
use super::path::ObjectPath;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Replicas,
    Selector,
}

/// Paths of the scale subresource of one version.
#[derive(Debug, Default)]
pub(super) struct Scale {
    paths: Vec<(String, Reads)>,
}

impl Scale {
    pub fn of(version: &Version<'_>) -> Self {
        let Some(node) = version.scale_subresource() else { return Scale::default() };
        let fields =
            [("specReplicasPath", Reads::Replicas), ("statusReplicasPath", Reads::Replicas), ("labelSelectorPath", Reads::Selector)];
        let paths = fields.into_iter().filter_map(|(key, reads)| Some((node.get(key).and_then(Node::as_str)?.to_owned(), reads))).collect();
        Scale { paths }
    }

    pub fn check(&self, object: &Value, errors: &mut Vec<Error>) {
        for (text, reads) in &self.paths {
            let path = text.trim_start_matches('.').split('.').fold(ObjectPath::root(), |path, name| path.key(name));
            let Some(value) = path.get(object) else { continue };
            let words = match (reads, value.as_i64()) {
                (Reads::Selector, _) if !value.is_string() => "must be a string",
                (Reads::Selector, _) => continue,
                (Reads::Replicas, None) => "must be an integer",
                (Reads::Replicas, Some(count)) if count < 0 => "should be a non-negative integer",
                (Reads::Replicas, Some(count)) if count > i64::from(i32::MAX) => "should be less than or equal to 2147483647",
                (Reads::Replicas, Some(_)) => continue,
            };
            let mut error = Error::new(path, Naming::Dotted, Kind::Scale, Reason::Invalid, Some(value), words);
            error.field.clone_from(text);
            errors.push(error);
        }
    }
}
