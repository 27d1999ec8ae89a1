//! Links versions of one release that have the same schema: the server converts between them by changing the `apiVersion`, so no
//! manifest is needed.

use crate::input::yaml::Span;
use crate::model::{Bundle, Crd, Priority, Version};

use super::catalogue::{Conversions, FIRST_FILE};
use super::graph::Graph;
use super::manifest::{Manifest, ManifestEndpoint, Reverse};
use super::manifest_endpoints::fits;

/// Returns manifests without steps that link the newest versions of a kind where nothing else does.
pub(super) fn links(conversions: &Conversions, bundle: &Bundle<'_>) -> Vec<Manifest> {
    let mut links: Vec<Manifest> = Vec::new();
    for (group, kind) in conversions.kinds() {
        let graph = conversions.graph(group, kind);
        let mut newest: Vec<&ManifestEndpoint> =
            ends(&graph).filter_map(|end| graph.nodes.get(end)).filter(|end| end.version.is_some()).collect();
        newest.sort_by_key(|end| end.version.as_deref().map(Priority::of));
        let of_kind: Vec<&Crd<'_>> = bundle.crds.iter().filter(|crd| crd.group() == group && crd.kind() == kind).collect();
        for pair in newest.windows(2) {
            if let [from, to] = pair
                && (&from.bundle, &from.channel) == (&to.bundle, &to.channel)
                && of_kind.iter().any(|crd| fits(to, crd) && are_same(crd, from, to))
            {
                links.push(link(group, kind, from, to));
            }
        }
    }
    links
}

/// The nodes that no manifest converts from.
pub(super) fn ends(graph: &Graph<'_>) -> impl Iterator<Item = usize> {
    (0..graph.nodes.len()).filter(|node| !graph.edges.iter().any(|edge| edge.from == *node))
}

/// Whether the server converts between two versions of a CRD without changing anything.
fn are_same(crd: &Crd<'_>, a: &ManifestEndpoint, b: &ManifestEndpoint) -> bool {
    let version = |end: &ManifestEndpoint| end.version.as_deref().and_then(|name| crd.version(name));
    let schema = |version: Option<&Version<'_>>| version.and_then(|version| version.schema.as_ref().map(|schema| schema.node().to_json()));
    let (a, b) = (schema(version(a)), schema(version(b)));
    !crd.conversion.is_webhook() && a.is_some() && a == b
}

fn link(group: &str, kind: &str, from: &ManifestEndpoint, to: &ManifestEndpoint) -> Manifest {
    let name = |end: &ManifestEndpoint| end.version.clone().unwrap_or_default();
    Manifest {
        name: format!("{}-{}-{}", kind.to_ascii_lowercase(), name(from), name(to)),
        file: FIRST_FILE,
        span: Span::default(),
        group: group.to_owned(),
        kind: kind.to_owned(),
        from: from.clone(),
        to: to.clone(),
        steps: Vec::new(),
        earlier_steps: 0,
        reverse: Reverse::Auto,
        reverse_span: Span::default(),
        preserve: None,
        preserve_span: Span::default(),
        examples: Vec::new(),
        tombstones: Vec::new(),
        meaning_changed: Vec::new(),
        webhook: false,
        directed_steps: Default::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Documents;

    fn manifests() -> String {
        let one = |version: &str| {
            format!(
                "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: {version}}}\nresource: {{group: g.example, kind: W}}\n\
                 from: {{version: {version}, bundle: 1.0.0}}\nto: {{version: {version}, bundle: next}}\nsteps: []\n"
            )
        };
        [one("v1beta1"), one("v1")].join("---\n")
    }

    fn linked(schema: &str) -> Vec<(String, String)> {
        let version = |name: &str, schema: &str| {
            format!("  - {{name: {name}, served: true, storage: false, schema: {{openAPIV3Schema: {schema}}}}}\n")
        };
        let text = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: ws.g.example}}\nspec:\n  group: g.example\n  \
             names: {{plural: ws, kind: W}}\n  scope: Namespaced\n  versions:\n{}{}",
            version("v1", "{type: object}"),
            version("v1beta1", schema)
        );
        let documents = Documents::of_text("crd.yaml", &text);
        let conversions = Conversions::of_text("m.yaml", &manifests());
        assert!(conversions.invalid().is_empty(), "{:?}", conversions.invalid());
        let found = links(&conversions, &Bundle::read(&documents));
        found.iter().map(|link| (link.from.argument(), link.to.argument())).collect()
    }

    #[test]
    fn the_same_schema_needs_no_manifest() {
        assert_eq!(linked("{type: object}"), [("v1beta1@next".to_owned(), "v1@next".to_owned())]);
        assert_eq!(linked("{type: object, properties: {a: {type: string}}}"), []);
    }
}
