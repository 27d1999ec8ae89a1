//! Files of objects checked against bundles: what is found, and where it is reported.

use crate::input::yaml::YamlBudget;
use crate::input::{File, Origin};
use crate::model::{Bundle, Documents};
use crate::server::object::{ObjectReport, ObjectVerdict, Upgrade, check_objects};

fn documents(files: &[(&str, &str)]) -> Documents {
    let members = files.iter().map(|(name, text)| File::new(*name, *text, Origin::Stdin)).collect();
    Documents::parse(members, &YamlBudget::default())
}

fn crd(properties: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.shop.example.com
spec:
  group: shop.example.com
  names: {{plural: widgets, kind: Widget}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {{scale: {{specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{type: object, properties: {properties}}}
  - name: v1alpha1
    served: false
    storage: false
    schema: {{openAPIV3Schema: {{type: object}}}}
"
    )
}

const NEW: &str = "{size: {type: integer, maximum: 5}, colour: {type: string, default: red}, replicas: {type: integer}, tags: {type: array, items: {type: object, properties: {k: {type: string}}}}}";
const OLD: &str = "{size: {type: integer}, colour: {type: string}, shape: {type: string}, replicas: {type: integer}, tags: {type: array, items: {type: object, properties: {k: {type: string}}}}}";

const OBJECTS: &str = "apiVersion: shop.example.com/v1
kind: Widget
metadata:
  name: fine
spec:
  size: 3
  colour: blue
---
apiVersion: v1
kind: List
items:
- apiVersion: shop.example.com/v1
  kind: Widget
  metadata: {name: broken}
  spec:
    size: 9
    shape: round
    replicas: -1
    tags:
    - k: 1
- apiVersion: shop.example.com/v1
  kind: Widget
  metadata: {name: loses}
  spec:
    shape: round
    colour: blue
- apiVersion: shop.example.com/v1
  kind: Widget
  metadata: {name: gains}
  spec: {}
---
apiVersion: shop.example.com/v1alpha1
kind: Widget
metadata: {name: a}
---
apiVersion: shop.example.com/v7
kind: Widget
metadata: {name: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: shop.example.com/v1
kind: Widget
spec: {size: [}
";

fn line_of(text: &str, report: &crate::model::Place) -> usize {
    text[..report.span.start as usize].matches('\n').count() + 1
}

fn by_name<'r>(reports: &'r [ObjectReport], name: &str) -> &'r ObjectReport {
    reports.iter().find(|report| report.name == name).unwrap()
}

#[test]
fn every_object_gets_its_verdict_with_places() {
    let (objects, crds, old) = (documents(&[("o.yaml", OBJECTS)]), crd(NEW), crd(OLD));
    let (crds, old) = (documents(&[("new.yaml", &crds)]), documents(&[("old.yaml", &old)]));
    let reports = check_objects(&objects, &Bundle::read(&crds), Some(&Bundle::read(&old)));
    assert_eq!(reports.len(), 8);

    let fine = by_name(&reports, "fine");
    assert!(fine.is_clean() && fine.upgrade == Some(Upgrade::Unchanged), "{fine:?}");

    let broken = by_name(&reports, "broken");
    let ObjectVerdict::Checked(checked) = &broken.verdict else { panic!("{broken:?}") };
    let told: Vec<_> = checked
        .errors
        .iter()
        .map(|error| (error.what.path.to_string(), line_of(OBJECTS, &error.place), error.what.message.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("spec.size".to_owned(), 16, "Invalid value: 9: spec.size in body should be less than or equal to 5"),
            ("spec.tags[0].k".to_owned(), 20, "Invalid value: \"integer\": spec.tags[0].k in body must be of type string: \"integer\""),
            ("spec.replicas".to_owned(), 18, "Invalid value: -1: should be a non-negative integer"),
        ]
    );
    assert_eq!((checked.pruned[0].what.to_string(), line_of(OBJECTS, &checked.pruned[0].place)), ("spec.shape".to_owned(), 17));
    assert_eq!(broken.upgrade, Some(Upgrade::AlreadyBroken), "the old CRD has the same scale subresource");

    let loses = by_name(&reports, "loses");
    assert!(matches!(&loses.upgrade, Some(Upgrade::Pruned(paths)) if paths[0].to_string() == "spec.shape"), "{loses:?}");
    let gains = by_name(&reports, "gains");
    assert!(matches!(&gains.upgrade, Some(Upgrade::Changed(paths)) if paths[0].to_string() == "spec.colour"), "{gains:?}");
    let ObjectVerdict::Checked(checked) = &gains.verdict else { panic!("{gains:?}") };
    assert_eq!((checked.defaulted[0].what.0.to_string(), line_of(OBJECTS, &checked.defaulted[0].place)), ("spec.colour".to_owned(), 30));

    assert!(matches!(by_name(&reports, "a").verdict, ObjectVerdict::NotServed));
    assert!(matches!(&by_name(&reports, "b").verdict, ObjectVerdict::UnknownVersion(known) if known == &["v1", "v1alpha1"]));
    assert!(matches!(by_name(&reports, "c").verdict, ObjectVerdict::OtherGroup));
    assert!(matches!(reports[7].verdict, ObjectVerdict::Unreadable(_)));
}

#[test]
fn removing_a_kind_breaks_its_objects() {
    let (objects, crds, old) = (documents(&[("o.yaml", OBJECTS)]), documents(&[]), crd(OLD));
    let old = documents(&[("old.yaml", &old)]);
    let reports = check_objects(&objects, &Bundle::read(&crds), Some(&Bundle::read(&old)));
    assert_eq!(by_name(&reports, "fine").upgrade, Some(Upgrade::Gone));
    assert_eq!(by_name(&reports, "c").upgrade, None);
}

#[test]
fn only_objects_of_a_known_group_are_judged() {
    let objects = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n---\napiVersion: shop.example.com/v1\nkind: Gadget\nmetadata: \
                   {name: kind}\n---\nmetadata: {name: nothing}\n";
    let (objects, crds) = (documents(&[("o.yaml", objects)]), documents(&[("new.yaml", &crd(NEW))]));
    let reports = check_objects(&objects, &Bundle::read(&crds), None);
    assert!(matches!(by_name(&reports, "other").verdict, ObjectVerdict::OtherGroup));
    assert!(matches!(by_name(&reports, "kind").verdict, ObjectVerdict::UnknownKind));
    assert!(matches!(by_name(&reports, "nothing").verdict, ObjectVerdict::UnknownKind));
}

#[test]
fn a_create_drops_the_status_that_has_a_subresource() {
    let text = crd("{size: {type: integer}}").replace(
        "type: object\n        properties:",
        "type: object\n        required: [status]\n        properties:\n          status: {type: object, properties: {count: {type: integer}}}",
    );
    assert!(text.contains("required: [status]"));
    let with = text.replace(
        "subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}",
        "subresources: {status: {}}",
    );
    let object = |status: &str| format!("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {{name: a}}\nstatus: {status}\n");
    let errors = |crd: &str, status: &str, stored: bool| -> Vec<String> {
        let (objects, crds) = (documents(&[("o.yaml", &object(status))]), documents(&[("crd.yaml", crd)]));
        let bundle = Bundle::read(&crds);
        let reports = check_objects(&objects, &bundle, stored.then_some(&bundle));
        let ObjectVerdict::Checked(checked) = &reports[0].verdict else { panic!("{reports:?}") };
        checked.errors.iter().map(|error| format!("{}: {}", error.what.field, error.what.message)).collect()
    };
    // Without the subresource, a status is an ordinary field.
    assert!(errors(&text, "{count: 1}", false).is_empty());
    assert_eq!(errors(&with, "{count: 1}", false), ["status: Required value (a create drops `status`)"]);
    assert!(errors(&with, "{count: 1}", true).is_empty(), "what is stored has its status");
    let free = with.replace("required: [status]", "description: free");
    assert!(errors(&free, "{count: 1}", false).is_empty());
    let [error] = errors(&free, "{count: x}", false).try_into().unwrap();
    assert!(error.starts_with("status.count: ") && error.ends_with("(refused by the status subresource)"), "{error}");
}

#[test]
fn an_update_belongs_to_the_object_it_replaces() {
    use crate::server::object::{Request, Subresource, Tolerance, check_updates};
    let crds = documents(&[("new.yaml", &crd(NEW))]);
    let bundle = Bundle::read(&crds);
    let object =
        |name: &str, spec: &str| format!("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {{name: {name}}}\nspec: {spec}\n");
    let old = format!("{}---\n{}", object("a", "{size: 9}"), object("b", "{size: 1}"));
    let new = format!("{}---\n{}---\n{}", object("a", "{size: 9, colour: blue}"), object("b", "{size: 9}"), object("c", "{szie: 1}"));
    let (old, new) = (documents(&[("old.yaml", &old)]), documents(&[("new.yaml", &new)]));
    let updates = check_updates(&new, &old, &bundle, None);
    let checked = |name: &str| match &by_name(&updates.reports, name).verdict {
        ObjectVerdict::Checked(checked) => checked,
        other => panic!("{other:?}"),
    };
    assert!(checked("a").errors.is_empty());
    let tolerated = &checked("a").tolerated[0].what;
    assert!(matches!(&tolerated.because, Tolerance::Unchanged(path) if path.to_string() == "spec.size"), "{tolerated:?}");
    assert_eq!(checked("b").errors.len(), 1, "the value changed");
    assert_eq!(by_name(&updates.reports, "c").request, Request::Create);
    assert_eq!(checked("c").similar, [" (did you mean `size`?)"]);
    assert!(updates.unused.is_empty() && updates.unreadable.is_empty());
    let status = check_updates(&new, &old, &bundle, Some(Subresource::Status));
    assert!(matches!(by_name(&status.reports, "a").verdict, ObjectVerdict::NoSubresource(Subresource::Status)));
    assert!(matches!(by_name(&status.reports, "c").verdict, ObjectVerdict::NoPrevious));
}

#[test]
fn a_single_object_updates_the_single_one_of_its_kind_whatever_its_name() {
    use crate::server::object::{Subresource, check_updates};
    let crds = documents(&[("new.yaml", &crd(NEW))]);
    let bundle = Bundle::read(&crds);
    let old = documents(&[("o.yaml", "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {replicas: 1}\n")]);
    let messages = |text: &str, subresource| {
        let new = documents(&[("n.yaml", text)]);
        let updates = check_updates(&new, &old, &bundle, subresource);
        let ObjectVerdict::Checked(checked) = &updates.reports[0].verdict else { panic!("{updates:?}") };
        checked.errors.iter().map(|error| format!("{}: {}", error.what.field, error.what.message)).collect::<Vec<_>>()
    };
    let renamed = "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: b}\nspec: {replicas: 1}\n";
    assert_eq!(messages(renamed, None), ["metadata.name: Invalid value: \"b\": field is immutable"]);
    let scale =
        |replicas: &str| format!("apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {{name: a}}\nspec: {{replicas: {replicas}}}\n");
    assert!(messages(&scale("3"), Some(Subresource::Scale)).is_empty());
    assert_eq!(messages(&scale("-3"), Some(Subresource::Scale)), ["spec.replicas: Invalid value: -3: must be greater than or equal to 0"]);
}

#[test]
fn objects_of_other_kinds_do_not_count_when_a_single_one_is_renamed() {
    use crate::server::object::{Request, check_updates};
    let crds = documents(&[("new.yaml", &crd(NEW))]);
    let bundle = Bundle::read(&crds);
    let widget =
        |name: &str| format!("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {{name: {name}}}\nspec: {{size: 1}}\n---\n");
    let other = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n---\n");
    let requests = |old: &str, new: &str| {
        let (old, new) = (documents(&[("o.yaml", old)]), documents(&[("n.yaml", new)]));
        let reports = check_updates(&new, &old, &bundle, None).reports;
        reports.iter().filter(|report| report.kind == "Widget").map(|report| report.request).collect::<Vec<_>>()
    };
    let others = other("x") + &other("y");
    assert_eq!(requests(&(widget("a") + &others), &(widget("b") + &others)), [Request::Update(None)]);
    // Which of several it was is unknown.
    assert_eq!(requests(&widget("a"), &(widget("b") + &widget("c"))), [Request::Create; 2]);
    assert_eq!(requests(&(widget("a") + &widget("b")), &widget("c")), [Request::Create]);
}

#[test]
fn errors_of_many_objects_are_listed_up_to_a_limit() {
    let fields: String = (0..200).map(|number| format!("f{number}: {{type: integer}}, ")).collect();
    let wrong: String = (0..200).map(|number| format!("  f{number}: x\n")).collect();
    let object =
        |number: usize| format!("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {{name: o{number}}}\nspec:\n{wrong}---\n");
    let objects: String = (0..1_100).map(object).collect();
    let (crds, objects) = (documents(&[("crd.yaml", &crd(&format!("{{{fields}}}")))]), documents(&[("objects.yaml", &objects)]));
    let reports = check_objects(&objects, &Bundle::read(&crds), None);
    let counts: Vec<(usize, usize)> = reports
        .iter()
        .filter_map(|report| match &report.verdict {
            ObjectVerdict::Checked(checked) => Some((checked.errors.len(), checked.left_out)),
            _ => None,
        })
        .collect();
    assert_eq!(counts.len(), 1_100);
    assert!(counts.iter().all(|(errors, left_out)| errors + left_out == 200 && *errors > 0), "{counts:?}");
    assert_eq!((counts[0], counts[1_099]), ((200, 0), (1, 199)));
}
