//! Fills in the version of manifests that convert to the next release.

use semver::Version;

use crate::input::yaml::{self, Node, YamlBudget};
use crate::input::{Text, edited};

use super::manifest::BundleVersion;
use super::read_manifest::is_manifest;

/// A file whose pending manifests were given a version.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pinned {
    pub text: String,
    /// How many manifests were pending.
    pub manifests: usize,
}

/// Replaces the next release with a version in every manifest of a file, and changes nothing else.
pub fn pin(text: &Text, version: &Version) -> Pinned {
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for document in yaml::parse(text, &YamlBudget::default()) {
        let Ok(tree) = &document.tree else { continue };
        if is_manifest(tree.root()) {
            edits.extend(edit(text, tree.root(), version));
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let manifests = edits.len();
    Pinned { text: edited(text, edits.into_iter()).unwrap_or_else(|| text.to_string()), manifests }
}

/// The edit to make in a manifest, if it converts to the next release.
fn edit(text: &str, root: Node<'_>, version: &Version) -> Option<(std::ops::Range<usize>, String)> {
    let (from, to) = (root.get("from")?, root.get("to")?);
    if let Some(bundle) = to.get("bundle") {
        return (bundle.as_str() == Some(BundleVersion::NEXT)).then(|| (bundle.span().range(), version.to_string()));
    }
    // If source and target have the same API version, a target without a release means the next release.
    let same = |key: &str| from.text(key) == to.text(key);
    if from.get("bundle").is_none() || !same("version") || !same("channel") {
        return None;
    }
    let last = to.entries().next_back()?;
    let end = last.value.span().range().end;
    let flow = text.get(to.span().range().start..)?.starts_with('{');
    let line = text.get(..last.key.span().range().start)?.rfind('\n').map_or(0, |at| at + 1);
    let indent = text.get(line..last.key.span().range().start)?;
    Some((end..end, if flow { format!(", bundle: {version}") } else { format!("\n{indent}bundle: {version}") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_named_in_place() {
        let head = "# A\napiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nfrom: {version: v1, bundle: 1.0.0}\n";
        let named = |to: &str| pin(&format!("{head}{to}# Z\n").into(), &Version::new(1, 1, 0));
        let expected = |to: &str| Pinned { text: format!("{head}{to}# Z\n"), manifests: 1 };
        assert_eq!(named("to: {version: v1, bundle: next} # b\n"), expected("to: {version: v1, bundle: 1.1.0} # b\n"));
        assert_eq!(named("to: {version: v1}\n"), expected("to: {version: v1, bundle: 1.1.0}\n"));
        assert_eq!(named("to:\n  version: v1 # b\n"), expected("to:\n  version: v1\n  bundle: 1.1.0 # b\n"));
        assert_eq!(named("to: {version: v1, bundle: 1.2.0}\n").manifests, 0);
        assert_eq!(named("to: {version: v2}\n").manifests, 0);
    }
}
