//! Tests of the groups that changes between two bundles form.

use super::*;
use crate::input::yaml::Span;
use crate::judge::finding::Status;
use crate::judge::policy::Policy;
use crate::judge::report::Report;
use crate::judge::review::{Judgement, Side, review};
use crate::judge::rule::Book;
use crate::judge::waiver::{Waiver, Waivers};
use crate::model::Documents;
use crate::testing::HEAD;

/// A CRD whose `spec` has these properties, in these versions.
fn crd(versions: &[&str], spec: &str) -> String {
    let mut text = format!("{HEAD}  versions:\n");
    for (index, version) in versions.iter().enumerate() {
        let storage = index == 0;
        text.push_str(&format!("    - name: {version}\n      served: true\n      storage: {storage}\n"));
        text.push_str(&format!("      schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, {spec}}}}}}}}}\n"));
    }
    text
}

fn report(old: &str, new: &str) -> Report {
    let (old, new) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
    let policy = Policy::find("recommended").unwrap();
    review(&Side::new("old", &old), &Side::new("new", &new), &Judgement::new(Book::builtin(), &policy))
}

fn said(report: &Report) -> Vec<String> {
    let place = |group: &Group<'_>| group.reach().map(|reach| format!(" {reach}")).unwrap_or_default();
    report.overview(false).groups.iter().map(|group| format!("{}{}", group.headline(), place(group))).collect()
}

#[test]
fn one_required_field_is_one_group_with_its_consequences() {
    let old = crd(&["v1", "v1beta1"], "properties: {size: {type: integer}}");
    let new = crd(&["v1", "v1beta1"], "required: [size], properties: {size: {type: integer}}");
    let report = report(&old, &new);
    assert_eq!(said(&report), ["`spec.size` became required in v1 and v1beta1"]);
    let overview = report.overview(false);
    let follows: Vec<&str> = overview.groups[0].consequences.iter().map(|group| &*group.lead.rule).collect();
    assert!(follows.contains(&"conversion-undefined"), "{follows:?}");
    assert!(overview.shared.is_empty());
    assert_eq!(report.summary.breaking_text(), "1 breaking change in 2 places");
}

#[test]
fn the_same_rename_in_several_objects_names_both_names() {
    let field = |name: &str| format!("{{type: object, properties: {{{name}: {{type: string, description: The text to be shown}}}}}}");
    let fields = |name: &str| format!("properties: {{a: {}, b: {}}}", field(name), field(name));
    let report = report(&crd(&["v1"], &fields("content")), &crd(&["v1"], &fields("contents")));
    assert_eq!(said(&report), ["`content` was renamed to `contents` in 2 fields"]);
}

#[test]
fn the_same_limit_in_several_fields_is_one_group() {
    let fields = |limit: &str| format!("properties: {{a: {{type: string{limit}}}, b: {{type: string{limit}}}, c: {{type: string}}}}");
    let report = report(&crd(&["v1"], &fields("")), &crd(&["v1"], &fields(", minLength: 1")));
    assert_eq!(said(&report), ["minLength unset → 1 in 2 fields"]);
    let overview = report.overview(false);
    assert_eq!(overview.groups[0].values(), Some(("unset", "1")));
    assert_eq!(overview.groups[0].paths(), ["spec.a", "spec.b"]);
    assert!(overview.groups[0].effect().is_some_and(|effect| effect.starts_with("requests with values")));
}

#[test]
fn fields_that_became_required_are_several_changes() {
    let fields = "properties: {a: {type: string}, b: {type: string}}";
    let report = report(&crd(&["v1"], fields), &crd(&["v1"], &format!("required: [a, b], {fields}")));
    assert_eq!(said(&report), ["`spec.a` became required", "`spec.b` became required"]);
}

#[test]
fn data_loss_comes_before_rejection_and_additions_come_last() {
    let old = "properties: {gone: {type: string}, a: {type: string, maxLength: 9}, m: {type: string, default: x}}";
    let new = "properties: {a: {type: string, maxLength: 8}, m: {type: string, default: z}, come: {type: string}}";
    let said = said(&report(&crd(&["v1"], old), &crd(&["v1"], new)));
    let expected =
        ["`spec.gone` was removed", "`spec.a`: maxLength 9 → 8", "`spec.m`: default \"x\" → \"z\"", "`spec.come` (string) was added"];
    assert_eq!(said, expected);
}

#[test]
fn an_embedded_type_is_one_group_with_its_name() {
    let fields = |more: &str| {
        let container = format!(
            "{{type: object, properties: {{image: {{type: string}}, command: {{type: string}}, imagePullPolicy: {{type: string}}, \
             volumeMounts: {{type: string}}, args: {{type: string}}, env: {{type: string}}, name: {{type: string}}{more}}}}}"
        );
        format!("properties: {{main: {container}, sidecar: {container}}}")
    };
    let report = report(&crd(&["v1"], &fields("")), &crd(&["v1"], &fields(", stdin: {type: string}, tty: {type: string}")));
    assert_eq!(said(&report), ["embedded Container: 2 fields added in 4 places of 1 CRD"]);
    assert_eq!(report.summary.compatible, super::counts::Count { changes: 1, places: 4 });
    let overview = report.overview(false);
    assert_eq!(overview.groups[0].edits().iter().map(|edit| edit.places).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn one_fingerprint_accepts_a_change_in_all_its_places() {
    let fields = |limit: &str| format!("properties: {{a: {{type: string{limit}}}, b: {{type: string{limit}}}, c: {{type: string}}}}");
    let (old, new) = (crd(&["v1"], &fields("")), crd(&["v1"], &fields(", minLength: 1")));
    let first = report(&old, &new);
    let fingerprint = first.overview(false).groups[0].fingerprint().unwrap().to_owned();
    let waiver = Waiver {
        fingerprint: Some(fingerprint),
        rule: None,
        crd: None,
        version: None,
        path: None,
        reason: "nobody leaves them empty".to_owned(),
        link: None,
        until: None,
        span: Span::default(),
    };
    let (old, new) = (Documents::of_text("old.yaml", &old), Documents::of_text("new.yaml", &new));
    let policy = Policy::find("recommended").unwrap();
    let waivers = Waivers { list: &[waiver], ..Waivers::default() };
    let report =
        review(&Side::new("old", &old), &Side::new("new", &new), &Judgement { waivers, ..Judgement::new(Book::builtin(), &policy) });
    let waived = report.findings.iter().filter(|finding| finding.status == Status::Waived && finding.rule == "bound-narrowed");
    assert_eq!(waived.map(|finding| &*finding.path).collect::<Vec<_>>(), ["spec.a", "spec.b"]);
    assert_eq!(report.summary.breaking, super::counts::Count { changes: 1, places: 2 });
}
