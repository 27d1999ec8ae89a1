use super::*;
use crate::input::Text;

fn read(text: &str) -> Vec<Document> {
    parse(&Text::from(text), &YamlBudget::default())
}

fn one(text: &str) -> Arc<Tree> {
    let mut documents = read(text);
    assert_eq!(documents.len(), 1, "{documents:?}");
    documents.remove(0).tree.unwrap()
}

fn error(text: &str) -> Error {
    read(text).into_iter().find_map(|d| d.tree.err()).expect("an error")
}

#[test]
fn keys_and_values_keep_their_bytes() {
    let tree = one("a: 1\nb:\n  - \"x\\ty\"\n  - z\n");
    let b = tree.root().entry("b").unwrap();
    assert_eq!(b.key.source(), "b");
    let items: Vec<_> = b.value.items().collect();
    assert_eq!(items[0].as_str(), Some("x\ty"));
    assert_eq!(items[0].source(), "\"x\\ty\"");
    assert_eq!(items[1].source(), "z");
}

#[test]
fn scalars_are_typed_as_the_server_types_them() {
    let tree = one("[on, y, No, 0777, 0o17, 0x1F, 1_000, 1e3, 1.5, ~, '1', =, 12:30, 2001-01-01, 1., .5, +3, 9223372036854775808]");
    let got: Vec<_> = tree.root().items().map(|n| n.to_json().to_string()).collect();
    let want = [
        "true",
        "true",
        "false",
        "511",
        "15",
        "31",
        "1000",
        "1000",
        "1.5",
        "null",
        "\"1\"",
        "\"=\"",
        "\"12:30\"",
        "\"2001-01-01\"",
        "1",
        "0.5",
        "3",
        "9.223372036854776e+18",
    ];
    assert_eq!(got, want);
    assert_eq!(tree.ambiguous().map(|n| n.source()).collect::<Vec<_>>(), ["on", "y", "No", "0777", "0o17", "0x1F", "1_000"]);
}

#[test]
fn json_may_hold_control_characters_that_yaml_forbids() {
    let text = "{\"a\u{7f}\": \"x\u{7f}\u{80}\u{ffff}y\", \"b\": \"\\\\\\\"\u{7f}\\n\", \"c\": [1]}";
    let tree = one(text);
    let values: Vec<_> =
        tree.root().entries().map(|entry| (entry.name().to_owned(), entry.value.to_json(), entry.value.source())).collect();
    assert_eq!(values[0], ("a\u{7f}".to_owned(), "x\u{7f}\u{80}\u{ffff}y".into(), "\"x\u{7f}\u{80}\u{ffff}y\""));
    assert_eq!((&*values[1].0, &values[1].1), ("b", &"\\\"\u{7f}\n".into()));
    assert_eq!(values[2].2, "[1]");
    for broken in ["{\"a\": x\u{7f}}", "{\"a\": \"\u{1}\"}", "a: \"\u{7f}\""] {
        assert!(matches!(error(broken).kind, ErrorKind::Control(_)), "{broken:?}");
    }
}

#[test]
fn a_float_stays_a_float_in_json_only() {
    assert_eq!(one("{\"a\": 1.0}").root().to_json().to_string(), "{\"a\":1.0}");
    assert_eq!(one("a: 1.0").root().to_json().to_string(), "{\"a\":1}");
}

#[test]
fn documents_are_split_and_broken_ones_do_not_affect_others() {
    let documents = read("%YAML 1.1\n---\na: 1\n---\n# nothing\n---\nb: [\n---\nc: 3\n...\n");
    let good: Vec<_> = documents.iter().map(|d| d.tree.as_ref().map(|t| t.root().to_json().to_string()).ok()).collect();
    assert_eq!(good, [Some("{\"a\":1}".into()), None, Some("{\"c\":3}".into())]);
}

#[test]
fn a_key_given_twice_names_both_lines() {
    let found = error("a: 1\r\nb: 2\r\na: 3\r\n");
    assert_eq!(found.kind, ErrorKind::DuplicateKey { key: "a".into(), first: 1 });
    assert!(found.related.is_some());
    let many: String = (0..50).map(|i| format!("k{i}: 1\n")).chain(["k7: 2\n".into()]).collect();
    assert_eq!(error(&many).kind, ErrorKind::DuplicateKey { key: "k7".into(), first: 8 });
}

#[test]
fn every_key_of_a_wide_mapping_is_found() {
    let text: String =
        (0..300).map(|i| format!("k{}: {i}\n", i * 7919 % 1000)).chain(["inner: {a: 1}\n".into(), "1: 2\n".into()]).collect();
    let tree = one(&text);
    for entry in tree.root().entries() {
        assert_eq!(tree.root().entry(entry.name()).map(|found| found.key.id()), Some(entry.key.id()));
    }
    assert!(tree.root().entry("k").is_none() && tree.root().entry("").is_none() && tree.root().entry("zz").is_none());
    let merged =
        one(&format!("base: &b\n{}use:\n  <<: *b\n  k3: own\n", text.lines().map(|line| format!("  {line}\n")).collect::<String>()));
    let used = merged.root().get("use").unwrap();
    assert_eq!((used.get("k3").unwrap().as_str(), used.get("k919").unwrap().as_int()), (Some("own"), Some(1)));
}

#[test]
fn merge_keys_are_expanded() {
    let tree = one("base: &b {x: 1, z: 2}\nuse:\n  <<: *b\n  z: 3\n");
    assert_eq!(tree.root().get("use").unwrap().to_json(), serde_json::json!({"x": 1, "z": 3}));
    assert_eq!(error("a:\n  <<: 3\n").kind, ErrorKind::Merge);
}

#[test]
fn aliases_are_counted_as_if_written_out() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let refs = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
    }
    assert_eq!(error(&bomb).kind, ErrorKind::Nodes(YamlBudget::default().nodes));
    assert_eq!(error("&a [*a]").kind, ErrorKind::SelfReference("a".into()));
}

#[test]
fn depth_is_refused_before_a_tree_exists() {
    let deep = [
        "[".repeat(20_000),
        (0..20_000).map(|i| format!("{}a:\n", " ".repeat(i.min(3000)))).collect::<String>(),
        "- ".repeat(4_000),
        "{\"properties\":{\"a\":".repeat(5_000),
    ];
    for text in deep {
        assert_eq!(error(&text).kind, ErrorKind::Depth(YamlBudget::default().depth), "{}", &text[..20]);
    }
}

#[test]
fn known_causes_are_explained() {
    assert_eq!(error("a:\n\tb: 1\n").kind, ErrorKind::Tab);
    assert_eq!(error("a: 1\n<<<<<<< HEAD\nb: 2\n=======\n").kind, ErrorKind::Conflict);
    assert_eq!(error("a: {{ .Values.x }}\nb: {{- if }}: x\n").kind, ErrorKind::Template);
    assert_eq!(error("a: \"x\u{1}\"\nb: [\n").kind, ErrorKind::Control(1));
    assert_eq!(error("a: !!binary aGk=\n").kind, ErrorKind::Tag("!!binary".into()));
    assert_eq!(error("a: .nan\n").kind, ErrorKind::Number(".nan".into()));
    assert_eq!(error("? [a]\n: b\n").kind, ErrorKind::ComplexKey);
    assert!(matches!(error("a: 'x\n").kind, ErrorKind::Syntax(_)));
}

/// As converters to JSON write them, by YAML 1.1.
#[test]
fn keys_that_are_no_strings_are_written_as_in_json() {
    let tree = one("n: 1\ntrue: 2\n16: 3\n\"y\": 4\n");
    let keys: Vec<&str> = tree.root().entries().map(|entry| entry.name()).collect();
    assert_eq!(keys, ["false", "true", "16", "y"]);
}

#[test]
fn braces_in_text_are_fine() {
    let tree = one("description: \"use {{ x }} here\"\nother: |\n  {{ y }}\n");
    assert_eq!(tree.root().len(), 2);
}

#[test]
fn budgets_hold() {
    let budget = YamlBudget { documents: 3, scalar: 10, ..YamlBudget::default() };
    let text: Text = "a: 1\n---\n".repeat(9).into();
    assert_eq!(parse(&text, &budget)[0].tree.as_ref().unwrap_err().kind, ErrorKind::Documents(3));
    let text: Text = "a: 01234567890123\n".into();
    assert_eq!(parse(&text, &budget)[0].tree.as_ref().unwrap_err().kind, ErrorKind::Scalar(10));
}

#[test]
fn key_order_does_not_matter_for_equality() {
    assert!(one("{a: 1, b: [x]}").root().same(one("b: [x]\na: 1").root()));
    assert!(!one("{a: 1, b: [x]}").root().same(one("b: [y]\na: 1").root()));
}

#[test]
fn equal_bytes_mean_equal_data() {
    let tree = |text: &str| parse(&text.into(), &YamlBudget::default()).remove(0).tree.unwrap();
    let same = tree("a: {x: [1, 2]}\nb: {x: [1, 2]}\nc: {x: [1, 3]}\n");
    let [a, b, c] = ["a", "b", "c"].map(|key| same.root().get(key).unwrap());
    assert!(a.get("x").unwrap().same_text(b.get("x").unwrap()));
    assert!(!a.same_text(c) && !a.same(c));
    // The column decides how much of a block scalar is indentation.
    let shifted = tree("a:\n  t: |2\n       x\nb:\n    t: |2\n       x\n");
    let [a, b] = ["a", "b"].map(|key| shifted.root().get(key).unwrap());
    assert_eq!(a.source(), b.source());
    assert!(!a.same_text(b) && !a.same(b));
    // The header before a scalar is part of it.
    let headed = tree("a: |\n  x\nb: |-\n  x\nc: 1\nd: !!str 1\n");
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|key| headed.root().get(key).unwrap());
    assert!(!a.same(b) && !c.same(d));
    // An alias repeats something written elsewhere.
    let (one, two) = (tree("x: &x 1\nv: {z: *x}\n"), tree("x: &x 2\nv: {z: *x}\n"));
    let [a, b] = [&one, &two].map(|tree| tree.root().get("v").unwrap());
    assert_eq!(a.source(), b.source());
    assert!(!a.same_text(b) && !a.same(b));
}

#[test]
fn an_error_underlines_a_whole_character() {
    let text = "LINT: 1 error\n\n✗ `b` is required\n  c\n";
    assert_eq!(&text[error(text).span.range()], "✗");
}

#[test]
fn every_string_of_a_long_list_is_found_where_it_is_first() {
    let tree = one(&format!("[{}, 5, {{a: 1}}, n7]", (0..200).map(|i| format!("n{}", i * 7919 % 1000)).collect::<Vec<_>>().join(", ")));
    let list = tree.root();
    for item in list.items().filter_map(|item| item.as_str()) {
        let first = list.items().find(|other| other.as_str() == Some(item)).unwrap();
        assert_eq!(list.item_with_text(item).map(|found| found.id()), Some(first.id()));
    }
    assert!(list.item_with_text("n").is_none() && list.item_with_text("5").is_none() && list.item_with_text("zz").is_none());
}
