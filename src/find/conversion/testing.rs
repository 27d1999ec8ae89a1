//! Schemas and manifests for tests.

use serde_json::{Value, json};

use crate::model::schema::Shape;
use crate::model::{Bundle, Documents};

use super::catalogue::Conversions;
use super::convert::Converter;
use super::laws::{LawCheck, LawVerdict};
use super::manifest::Direction;
use super::schema_endpoint::SchemaEndpoint;

/// Builds an endpoint from the `properties` of `spec`; other keywords of `spec` go before a comma: `required: [a], {a: {type:
/// string}}`.
pub(super) fn endpoint(spec: &str, version: &str) -> SchemaEndpoint {
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
    SchemaEndpoint::new(shape, "shop.example.com", version, "Widget")
}

pub(super) fn conversions(steps: &str, rest: &str) -> Conversions {
    let steps = if steps.is_empty() { "steps: []".to_owned() } else { format!("steps:\n{steps}") };
    let text = format!(
        "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: widget}}\n\
         resource: {{group: shop.example.com, kind: Widget}}\nfrom: {{version: v1}}\nto: {{version: v2}}\n{rest}\n{steps}\n"
    );
    let conversions = Conversions::of_text("widget.yaml", &text);
    assert!(conversions.invalid().is_empty(), "{:?}", conversions.invalid());
    conversions
}

/// The manifest key that preserves lost values in an annotation.
pub(super) const PRESERVE: &str = "preserve: {annotation: shop.example.com/v1}";

pub(super) fn object(version: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("shop.example.com/{version}"), "kind": "Widget", "metadata": {"name": "w"}, "spec": spec})
}

/// Checks that converting `old` produces `new`, and converting that back produces `old`.
#[track_caller]
pub(super) fn both_ways(steps: &str, rest: &str, old: Value, new: Value) {
    let conversions = conversions(steps, rest);
    let there = Converter::new(&conversions.manifests[0], Direction::Forward).unwrap();
    let back = Converter::new(&conversions.manifests[0], Direction::Back).unwrap();
    let converted = there.converted(&object("v1", old.clone())).unwrap();
    let mut bare = converted.clone();
    if let Some(preserve) = &conversions.manifests[0].preserve {
        preserve.clear(&mut bare);
    }
    assert_eq!(bare, object("v2", new));
    assert_eq!(back.converted(&converted).unwrap(), object("v1", old));
    assert_eq!(there.converted(&converted).unwrap(), converted, "not idempotent");
}

pub(super) struct Laws {
    pub valid: LawVerdict,
    pub valid_back: LawVerdict,
    pub returns: LawVerdict,
    pub returns_back: LawVerdict,
    pub idempotent: LawVerdict,
    pub blind: LawVerdict,
}

pub(super) fn laws(old: &str, new: &str, steps: &str, rest: &str) -> Laws {
    let (old, new) = (endpoint(old, "v1"), endpoint(new, "v2"));
    let conversions = conversions(steps, rest);
    let law_check = LawCheck::new(&conversions.manifests[0], &old, &new);
    Laws {
        valid: law_check.validity(Direction::Forward),
        valid_back: law_check.validity(Direction::Back),
        returns: law_check.round_trip(Direction::Forward),
        returns_back: law_check.round_trip(Direction::Back),
        idempotent: law_check.idempotence(),
        blind: law_check.stored_version_independence(),
    }
}

/// The verdicts in the order of [`Laws`]: `p` proved, `t` tested, `x` broken, `-` undecided.
fn short(laws: &Laws) -> String {
    let letter = |verdict: &LawVerdict| match verdict {
        LawVerdict::Proved => 'p',
        LawVerdict::Tested { .. } => 't',
        LawVerdict::Broken(_) => 'x',
        LawVerdict::Undecided(_) => '-',
    };
    [&laws.valid, &laws.valid_back, &laws.returns, &laws.returns_back, &laws.idempotent, &laws.blind].map(letter).iter().collect()
}

pub(super) fn because(verdict: &LawVerdict) -> String {
    match verdict {
        LawVerdict::Broken(broken) => broken.because.clone(),
        other => format!("{other:?}"),
    }
}

#[track_caller]
pub(super) fn check_laws(old: &str, new: &str, steps: &str, rest: &str, expected: &str) -> Laws {
    let laws = laws(old, new, steps, rest);
    let reasons = [&laws.valid, &laws.valid_back, &laws.returns, &laws.returns_back, &laws.idempotent, &laws.blind].map(because);
    assert_eq!(short(&laws), expected, "{steps}\n{}", reasons.join("\n"));
    laws
}
