use serde_json::json;

use super::*;
use crate::input::Text;
use crate::input::yaml::{self, YamlBudget};

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("{value} is not an object") };
    map
}

#[track_caller]
fn check(before: &str, target: Value, renames: &[(&str, &str)], after: &str) {
    let text: Text = before.into();
    let documents = yaml::parse(&text, &YamlBudget::default());
    let tree = documents[0].tree.as_ref().unwrap();
    let renames: Renames = renames.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let rewritten = rewrite(&text, tree.root(), object(target), &renames, None);
    assert_eq!(rewritten.text.trim_end(), after.trim_end(), "reformatted: {}", rewritten.reformatted);
    assert!(!rewritten.reformatted);
}

#[test]
fn comments_and_order_survive() {
    check(
        "# head\nkind: K # the kind\nspec:\n  # about z\n  z: 1 # one\n  # about b\n  b: x\n  a: [1, 2]\n",
        json!({"kind": "K", "spec": {"z": 1, "c": "x", "a": [1, 2], "new": {"q": "on", "p": [{"k": 1}]}}}),
        &[("b", "c")],
        "kind: K # the kind\nspec:\n  # about z\n  z: 1 # one\n  # about b\n  c: x\n  a: [1, 2]\n  new:\n    p:\n    - k: 1\n    q: \"on\"\n",
    );
}

#[test]
fn removed_keys_take_their_comments_along() {
    check(
        "spec:\n  a: 1\n  # about b\n  b:\n    deep: x\n  # about c\n  c: 2\n",
        json!({"spec": {"a": 1, "c": 3}}),
        &[],
        "spec:\n  a: 1\n  # about c\n  c: 3\n",
    );
    check("l:\n- gone: 1\n  # about kept\n  kept: 2\n", json!({"l": [{"kept": 2}]}), &[], "l:\n- kept: 2\n");
}

#[test]
fn a_mapping_becomes_the_one_item_of_a_list_and_back() {
    check(
        "spec:\n  ref:\n    name: x\n    # which\n    kind: K # kind\n  other: 1\n",
        json!({"spec": {"refs": [{"name": "x", "kind": "K"}], "other": 1}}),
        &[("ref", "refs")],
        "spec:\n  refs:\n    - name: x\n      # which\n      kind: K # kind\n  other: 1\n",
    );
    check(
        "spec:\n  refs:\n  - name: x\n    # which\n    kind: K # kind\n  - name: y\n  other: 1\n",
        json!({"spec": {"ref": {"name": "x", "kind": "K"}, "other": 1}}),
        &[("refs", "ref")],
        "spec:\n  ref:\n    name: x\n    # which\n    kind: K # kind\n  other: 1\n",
    );
}

#[test]
fn scalars_and_flow_collections_are_replaced_in_place() {
    check(
        "spec: {a: 1, b: 2} # flow\nx: old # c\nw: |\n  several\n  lines\nz: 1\n",
        json!({"spec": {"a": 1}, "x": ["m"], "w": "s", "z": 1}),
        &[],
        "spec: {a: 1} # flow\nx:\n- m\nw: s\nz: 1\n",
    );
}

#[test]
fn values_that_can_not_be_patched_are_reformatted() {
    let text: Text = "spec:\n  list:\n  - a: 1 # one\n  - a: 2\n".into();
    let documents = yaml::parse(&text, &YamlBudget::default());
    let tree = documents[0].tree.as_ref().unwrap();
    let rewritten = rewrite(&text, tree.root(), object(json!({"b": [[{"a": 1}, 2], []]})), &Renames::new(), None);
    assert!(rewritten.reformatted);
    assert_eq!(rewritten.text, "b:\n- - a: 1\n  - 2\n- []");
}

#[test]
fn reformatted_keys_keep_their_order() {
    let text: Text = "kind: K\nspec: {ref: {group: \"\", kind: Service, name: web}}\n".into();
    let documents = yaml::parse(&text, &YamlBudget::default());
    let tree = documents[0].tree.as_ref().unwrap();
    let target = json!({"kind": "K", "spec": {"refs": [{"group": "", "kind": "Service", "name": "web"}]}});
    let rewritten = rewrite(&text, tree.root(), object(target), &vec![("ref".into(), "refs".into())], None);
    assert_eq!(rewritten.text.trim(), "kind: K\nspec: {refs: [{group: \"\", kind: Service, name: web}]}");
    // A key missing in one item doesn't change the order of the others.
    let target = json!({"kind": "K", "spec": {"refs": [{"group": "", "kind": "Service"}]}});
    let rewritten = rewrite(&text, tree.root(), object(target), &vec![("ref".into(), "refs".into())], None);
    assert_eq!(rewritten.text.trim(), "kind: K\nspec: {refs: [{group: \"\", kind: Service}]}");
}

#[test]
fn keys_removed_from_a_mapping_that_becomes_an_item_leave_no_lines() {
    let text: Text = "spec:\n  ref:\n    kind: S # service\n    opts:\n      x: 1\n      y: 2\n    ns: m\n  k: 1\n".into();
    let documents = yaml::parse(&text, &YamlBudget::default());
    let tree = documents[0].tree.as_ref().unwrap();
    let target = json!({"spec": {"refs": [{"kind": "S"}], "k": 1}});
    let rewritten = rewrite(&text, tree.root(), object(target), &vec![("ref".into(), "refs".into())], None);
    assert!(!rewritten.reformatted);
    assert_eq!(rewritten.text.trim_end(), "spec:\n  refs:\n    - kind: S # service\n  k: 1");
}

#[test]
fn json_stays_json() {
    let text: Text = "{\"kind\": \"K\", \"spec\": {\"b\": 1, \"a\": 2}}".into();
    let documents = yaml::parse(&text, &YamlBudget::default());
    let tree = documents[0].tree.as_ref().unwrap();
    let rewritten =
        rewrite(&text, tree.root(), object(json!({"kind": "K", "spec": {"c": 1, "a": 2}})), &vec![("b".into(), "c".into())], None);
    assert_eq!(rewritten.text, "{\n  \"kind\": \"K\",\n  \"spec\": {\n    \"c\": 1,\n    \"a\": 2\n  }\n}");
}

#[test]
fn generated_objects_are_parsed_back_unchanged() {
    let object = serde_json::json!({
        "kind": "A", "apiVersion": "b/v1", "spec": {
            "Yes": "No", "on": "off", "y": "1_000", "n": ["~", "null", "0x1", "0777", "1e3", ".inf", "-", "?", "a: b", " #c", "x\ny\n", ""],
            "nested": [[1, 2], [{"a": {}}, []], {"b": [], "c": null, "d": 0.5}], "true": "2001-01-01", "=": "=", "{}": "{{ x }}"
        }
    });
    let text = as_yaml(&object);
    assert!(text.starts_with("apiVersion: b/v1\nkind: A\nspec:\n"), "{text}");
    let documents = yaml::parse(&text.as_str().into(), &YamlBudget::default());
    assert_eq!(documents.first().unwrap().tree.as_ref().unwrap().root().to_json(), object, "{text}");
}
