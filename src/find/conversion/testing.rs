//! Schemas and manifests for tests.

use crate::model::schema::Shape;
use crate::model::{Bundle, Documents};

use super::catalogue::Conversions;
use super::schema_endpoint::Ground;

/// `properties` of `spec`, with other keywords of `spec` before a comma: `required: [a], {a: {type: string}}`.
pub(super) fn ground(spec: &str, version: &str) -> Ground {
    let (keywords, properties) = spec.split_at(spec.find('{').unwrap());
    let text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: widgets.shop.example.com}}\nspec:\n  \
         group: shop.example.com\n  names: {{plural: widgets, kind: Widget}}\n  scope: Namespaced\n  versions:\n  - name: {version}\n    \
         served: true\n    storage: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, {keywords} properties: {properties}}}}}}}}}\n"
    );
    let documents = Documents::of_text("crd.yaml", &text);
    let bundle = Bundle::read(&documents);
    assert!(bundle.problems.is_empty(), "{:?}\n{text}", bundle.problems);
    let shape = Shape::of(bundle.crds[0].versions[0].schema.as_ref().unwrap());
    Ground::new(shape, "shop.example.com", version, "Widget")
}

pub(super) fn conversions(steps: &str, rest: &str) -> Conversions {
    let steps = if steps.is_empty() { "steps: []".to_owned() } else { format!("steps:\n{steps}") };
    let text = format!(
        "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: widget}}\n\
         resource: {{group: shop.example.com, kind: Widget}}\nfrom: {{version: v1}}\nto: {{version: v2}}\n{rest}\n{steps}\n"
    );
    let conversions = Conversions::of_text("widget.yaml", &text);
    assert!(conversions.unusable.is_empty(), "{:?}", conversions.unusable);
    conversions
}
