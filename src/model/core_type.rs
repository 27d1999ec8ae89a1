//! Recognises Kubernetes core types that a CRD embeds, by their fields.
//!
//! A generated schema doesn't name the types it contains. A new release of `k8s.io/api` changes them wherever they are embedded,
//! and that should be reported as one change.

use std::sync::LazyLock;

use super::schema::Schema;

/// A type is recognised by fields that it always has, and by having few others: a spec that offers some fields of a pod isn't a
/// pod.
struct CoreType {
    name: &'static str,
    marks: Vec<&'static str>,
    fields: Vec<&'static str>,
}

static TYPES: LazyLock<Vec<CoreType>> = LazyLock::new(|| {
    let lines = include_str!("core_types.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(CoreType::read).collect()
});

impl CoreType {
    fn read(line: &'static str) -> Option<CoreType> {
        let (name, fields) = line.split_once(": ")?;
        let (marks, fields) = fields.split_once('|')?;
        Some(CoreType { name, marks: marks.split_whitespace().collect(), fields: fields.split_whitespace().collect() })
    }
}

/// One in this many fields may be unknown, because types grow and projects add to them.
const FIELDS_PER_UNKNOWN: usize = 4;

/// The Kubernetes core type that a schema embeds, if any.
pub fn core_type(schema: &Schema<'_>) -> Option<&'static str> {
    let count = schema.property_count();
    let has = |mark: &&str| schema.property(mark).is_some();
    let known = |core: &CoreType, name: &str| core.marks.contains(&name) || core.fields.contains(&name);
    let fits = |core: &&CoreType| {
        core.marks.len() <= count
            && core.marks.iter().all(has)
            && schema.properties().filter(|(entry, _)| !known(core, entry.name())).count() <= count / FIELDS_PER_UNKNOWN
    };
    TYPES.iter().find(fits).map(|core| core.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Documents;

    fn of(fields: &[&str]) -> Option<&'static str> {
        let properties: Vec<String> = fields.iter().map(|name| format!("{name}: {{type: string}}")).collect();
        let documents = Documents::of_text("schema.yaml", &format!("properties: {{{}}}\n", properties.join(", ")));
        let (_, document) = documents.documents.first()?;
        core_type(&Schema::new(document.tree.as_ref().ok()?.root()))
    }

    #[test]
    fn every_line_is_a_type() {
        assert_eq!(TYPES.len(), include_str!("core_types.txt").lines().filter(|line| !line.starts_with('#')).count());
        assert!(TYPES.iter().all(|core| core.marks.len() > 1));
    }

    #[test]
    fn a_type_may_grow_but_not_be_a_part_of_something_else() {
        let pod = ["containers", "restartPolicy", "nodeSelector", "tolerations", "volumes"];
        assert_eq!(of(&pod), Some("PodSpec"));
        assert_eq!(of(&[&pod[..], &["brandNew"]].concat()), Some("PodSpec"));
        assert_eq!(of(&[&pod[..], &["replicas", "retention", "remoteWrite", "shards"]].concat()), None);
        assert_eq!(of(&["limits", "requests", "claims"]), Some("ResourceRequirements"));
        assert_eq!(of(&["limits"]), None);
    }
}
