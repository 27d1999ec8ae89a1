//! Schemas with many or nested `allOf`, `anyOf`, `oneOf` and `not`.

use super::{Case, LINT, REVIEW, Side, case, of_fields, of_spec, sides, write};

pub const CASES: &[Case] = &[
    case("a tree of 4,096 `oneOf`", REVIEW, |dir| sides(dir, |side| strings(side, &|leaf| tree(4_096, &["oneOf"], leaf)))),
    case("a tree of 4,096 `oneOf` of integers", REVIEW, |dir| sides(dir, |side| integers(side, &|leaf| tree(4_096, &["oneOf"], leaf)))),
    case("a tree of 8,192 `not`", REVIEW, |dir| sides(dir, |side| strings(side, &|leaf| nots(8_192, leaf)))),
    case("8,192 `not` in `allOf`", REVIEW, |dir| {
        sides(dir, |side| strings(side, &|leaf| flat(8_192, "allOf", &|number| format!("{{not: {}}}", leaf(number)))));
    }),
    case("a tree of 16,384 `anyOf`", REVIEW, |dir| sides(dir, |side| strings(side, &|leaf| tree(16_384, &["anyOf"], leaf)))),
    case("16,384 `anyOf` in one list", REVIEW, |dir| sides(dir, |side| strings(side, &|leaf| flat(16_384, "anyOf", leaf)))),
    case("4,096 `oneOf` in one list", REVIEW, |dir| sides(dir, |side| strings(side, &|leaf| flat(4_096, "oneOf", leaf)))),
    case("a binary tree of `allOf` and `anyOf`, 8,192 leaves", REVIEW, |dir| {
        sides(dir, |side| strings(side, &|leaf| tree(8_192, &["allOf", "anyOf"], leaf)));
    }),
    case("a binary tree of `allOf`, `oneOf` and `not`, 4,096 leaves", REVIEW, |dir| {
        sides(dir, |side| strings(side, &|leaf| tree(4_096, &["allOf", "oneOf"], &|number| format!("{{not: {}}}", leaf(number)))));
    }),
    case("one of 2,000 fields is required", REVIEW, |dir| {
        sides(dir, |side| {
            let fields: Vec<String> = (0..2_000).map(|field| format!("f{field}: {{type: string}}")).collect();
            let branches = flat(side.of(2_000, 1_999), "oneOf", &|number| format!("{{required: [f{number}]}}"));
            of_spec(0, &format!("{{type: object, properties: {{{}}}, {}", fields.join(", "), &branches[1..]))
        });
    }),
    case("a binary tree of objects, 60 levels of `allOf` in each", LINT, |dir| {
        let chain = |number: usize| format!("{}{{minLength: {number}}}{}", "{allOf: [".repeat(60), "]}".repeat(60));
        write(
            dir,
            "new.yaml",
            of_fields(
                0,
                &(0..2_000).map(|field| format!("f{field}: {{type: string, allOf: [{}]}}", chain(field))).collect::<Vec<_>>().join(", "),
            ),
        );
    }),
];

/// Writes the schema of a leaf, by its number.
type Leaf<'l> = &'l dyn Fn(usize) -> String;

/// A field of strings whose values the leaves limit, with another limit in one leaf of the new side.
fn strings(side: Side, schema: &dyn Fn(Leaf<'_>) -> String) -> String {
    let text = schema(&|number| format!("{{maxLength: {}}}", number + if number == 7 { side.of(2, 1) } else { 2 }));
    of_fields(0, &format!("a: {{type: string, {}", &text[1..]))
}

fn integers(side: Side, schema: &dyn Fn(Leaf<'_>) -> String) -> String {
    let text = schema(&|number| format!("{{minimum: {}}}", number + if number == 7 { side.of(2, 1) } else { 2 }));
    of_fields(0, &format!("a: {{type: integer, {}", &text[1..]))
}

fn flat(count: usize, keyword: &str, leaf: Leaf<'_>) -> String {
    format!("{{{keyword}: [{}]}}", (0..count).map(leaf).collect::<Vec<_>>().join(", "))
}

/// A binary tree; its levels have these keywords in turn.
fn tree(leaves: usize, keywords: &[&str], leaf: Leaf<'_>) -> String {
    fn below(first: usize, leaves: usize, depth: usize, keywords: &[&str], leaf: Leaf<'_>, out: &mut String) {
        if leaves == 1 {
            out.push_str(&leaf(first));
            return;
        }
        out.push_str(&format!("{{{}: [", keywords[depth % keywords.len()]));
        below(first, leaves / 2, depth + 1, keywords, leaf, out);
        out.push_str(", ");
        below(first + leaves / 2, leaves - leaves / 2, depth + 1, keywords, leaf, out);
        out.push_str("]}");
    }
    let mut out = String::new();
    below(0, leaves, 0, keywords, leaf, &mut out);
    out
}

/// A binary tree of `allOf`, each of whose schemas is negated.
fn nots(leaves: usize, leaf: Leaf<'_>) -> String {
    tree(leaves, &["allOf"], leaf).replace("{allOf: [", "{not: {allOf: [").replace("]}", "]}}")
}
