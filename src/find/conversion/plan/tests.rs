use super::*;

/// Builds a version with these properties of `spec`.
fn version(name: &str, flags: &str, properties: &str) -> String {
    format!(
        "    - {{name: {name}, {flags}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{properties}}}}}}}}}}}}}\n"
    )
}

fn crd(versions: &[String]) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: widgets.shop.example.com}}\nspec:\n  \
         group: shop.example.com\n  names: {{plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}}\n  scope: \
         Namespaced\n  versions:\n{}",
        versions.concat()
    )
}

const SIZE: &str = "size: {type: string}";
const DIMENSION: &str = "dimension: {type: string}";
const BOTH: &str = "size: {type: string}, dimension: {type: string}";
const SERVED: &str = "served: true, storage: false";
const STORED: &str = "served: true, storage: true";
const DEPRECATED: &str = "served: true, deprecated: true, storage: false";
const HIDDEN: &str = "served: false, deprecated: true, storage: false";

fn manifest(from: &str, to: &str, steps: &str) -> String {
    format!(
        "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: m}}\nresource: {{group: shop.example.com, kind: Widget}}\n\
         from: {from}\nto: {to}\nsteps: [{steps}]\n"
    )
}

fn renames() -> String {
    manifest("{version: v1}", "{version: v2}", "{rename: {from: spec.size, to: spec.dimension}}")
}

fn in_place(steps: &str) -> String {
    manifest("{version: v1}", "{version: v1, bundle: next}", steps)
}

#[track_caller]
fn actions(old: &str, new: &str, manifests: &str) -> Vec<Action> {
    let documents = [old, new].map(|text| Documents::of_text("crd.yaml", text));
    let [old, new] = [&documents[0], &documents[1]].map(Bundle::read);
    let conversions = Conversions::of_text("m.yaml", manifests);
    assert!(conversions.invalid().is_empty(), "{:?}", conversions.invalid());
    let (plans, refusals) = plan(&old, &new, Some(&conversions));
    assert!(refusals.is_empty(), "{refusals:?}");
    plans[0].steps.iter().map(|step| step.action).collect()
}

/// Returns the refused step and the reason.
#[track_caller]
fn refused(sequence: &[String], manifests: &str) -> (usize, String) {
    let documents: Vec<Documents> = sequence.iter().map(|text| Documents::of_text("crd.yaml", text)).collect();
    let bundles: Vec<Bundle<'_>> = documents.iter().map(Bundle::read).collect();
    let conversions = Conversions::of_text("m.yaml", manifests);
    let refusals = check_sequence(&bundles.iter().collect::<Vec<_>>(), Some(&conversions));
    refusals.first().map(|refusal| (refusal.step, refusal.reason.clone())).unwrap_or_default()
}

#[test]
fn a_version_is_replaced_in_seven_steps() {
    use Action::*;
    let (old, new) = (crd(&[version("v1", STORED, SIZE)]), crd(&[version("v2", STORED, DIMENSION)]));
    let all = [Add, Deprecate, MoveStorage, Migrate, TrimStoredVersions, StopServing, CleanManagedFields, Finish];
    assert_eq!(actions(&old, &new, &renames()), all);
    let both = crd(&[version("v1", SERVED, SIZE), version("v2", STORED, DIMENSION)]);
    assert_eq!(actions(&old, &both, &renames()), [Add, MoveStorage, Migrate, TrimStoredVersions]);
    let added = crd(&[version("v1", STORED, SIZE), version("v2", SERVED, DIMENSION)]);
    assert_eq!(actions(&old, &added, &renames()), [Finish]);
}

#[test]
fn a_field_is_renamed_in_three_steps() {
    use Action::*;
    let (old, new) = (crd(&[version("v1", STORED, SIZE)]), crd(&[version("v1", STORED, DIMENSION)]));
    assert_eq!(actions(&old, &new, &in_place("{rename: {from: spec.size, to: spec.dimension}}")), [Add, Migrate, Finish]);
    let typed = crd(&[version("v1", STORED, "size: {type: integer}")]);
    let text = crd(&[version("v1", STORED, "size: {type: string}")]);
    assert_eq!(actions(&typed, &text, &in_place("{retype: {path: spec.size, was: integer, becomes: string}}")), [Add, Migrate, Finish]);
}

#[test]
fn the_right_order_passes() {
    let right = [
        crd(&[version("v1", STORED, SIZE)]),
        crd(&[version("v1", STORED, SIZE), version("v2", SERVED, DIMENSION)]),
        crd(&[version("v1", DEPRECATED, SIZE), version("v2", STORED, DIMENSION)]),
        crd(&[version("v1", HIDDEN, SIZE), version("v2", STORED, DIMENSION)]),
        crd(&[version("v2", STORED, DIMENSION)]),
    ];
    assert_eq!(refused(&right, &renames()), (0, String::new()));
    let fields = [crd(&[version("v1", STORED, SIZE)]), crd(&[version("v1", STORED, BOTH)]), crd(&[version("v1", STORED, DIMENSION)])];
    assert_eq!(refused(&fields, &in_place("{rename: {from: spec.size, to: spec.dimension}}")), (0, String::new()));
}

#[test]
fn wrong_orders_are_refused_with_the_reason() {
    let old = || crd(&[version("v1", STORED, SIZE)]);
    let both = |v1: &str, v2: &str| crd(&[version("v1", v1, SIZE), version("v2", v2, DIMENSION)]);
    let new = || crd(&[version("v2", STORED, DIMENSION)]);
    let rename = in_place("{rename: {from: spec.size, to: spec.dimension}}");
    let required = "required: [owner], properties: {owner: {type: string}}";
    let owner = crd(&[version("v1", STORED, SIZE)]).replace(&format!("properties: {{{SIZE}}}"), required);
    let webhook =
        "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}}}}\n";
    let cases: Vec<(&str, Vec<String>, &str, usize, &str)> = vec![
        ("removed at once", vec![old(), new()], "", 1, "the API server rejects the update: status.storedVersions[0]"),
        (
            "removed while served",
            vec![old(), both(STORED, SERVED), both(SERVED, STORED), new()],
            "",
            3,
            "v1 is removed while clients can use it",
        ),
        ("hidden without a warning", vec![both(SERVED, STORED), both(HIDDEN, STORED), new()], "", 1, "deprecate it in an earlier step"),
        ("added as storage", vec![old(), both(DEPRECATED, STORED)], "", 1, "v2 becomes the storage version in the step that adds it"),
        (
            "hidden while stored",
            vec![
                both("served: true, deprecated: true, storage: true", SERVED),
                both("served: false, deprecated: true, storage: true", SERVED),
            ],
            "",
            1,
            "objects are still stored at it",
        ),
        (
            "field removed before its replacement exists",
            vec![old(), crd(&[version("v1", STORED, "colour: {type: string}")]), crd(&[version("v1", STORED, DIMENSION)])],
            &rename,
            1,
            "`spec.size` can't be read after the CRD is upgraded",
        ),
        (
            "field replaced at once",
            vec![old(), crd(&[version("v1", STORED, DIMENSION)])],
            &rename,
            1,
            "and the objects can't be converted before: `spec.dimension` can't be read",
        ),
        ("required before anybody sets it", vec![old(), owner], "", 1, "no manifest converts Widget from the old form to the new one"),
        (
            "webhook removed first",
            vec![format!("{}{webhook}", both(SERVED, STORED)), both(SERVED, STORED)],
            "",
            1,
            "the conversion webhook is removed while versions with different schemas remain",
        ),
        ("backwards", vec![new(), both(SERVED, STORED), old()], "", 2, "the API server rejects the update"),
    ];
    for (name, sequence, manifests, step, reason) in cases {
        let (at, said) = refused(&sequence, manifests);
        assert!(at == step && said.contains(reason), "{name}: {at} {said}");
    }
}
