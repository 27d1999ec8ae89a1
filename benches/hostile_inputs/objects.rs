//! Objects, suites, and conversions of objects.

use std::path::Path;

use super::{Case, case, list, of_fields, of_spec, sides, write};

pub const CASES: &[Case] = &[
    case(
        "3,600 objects with 200 errors each",
        &[
            "validate objects.yaml --crd new.yaml",
            "validate objects.yaml --crd new.yaml --format json",
            "validate objects.yaml --crd new.yaml --format sarif",
            "validate objects.yaml --crd new.yaml --format junit",
            "validate objects.yaml --crd new.yaml --format github",
            "validate objects.yaml --crd new.yaml --old old.yaml",
            "validate objects.yaml --crd new.yaml --previous objects.yaml",
            "review old.yaml new.yaml --objects objects.yaml",
        ],
        |dir| {
            sides(dir, |side| of_fields(0, &list(200, |field| format!("f{field}: {{type: string, maxLength: {}}}", side.of(9, 2)))));
            let fields = list(200, |field| format!("f{field}: abc"));
            objects(dir, 3_600, &format!("{{{fields}}}"));
        },
    ),
    case(
        "60,000 objects",
        &[
            "validate objects.yaml --crd new.yaml",
            "validate objects.yaml --crd new.yaml --previous objects.yaml",
            "review old.yaml new.yaml --objects objects.yaml",
        ],
        |dir| {
            sides(dir, |side| of_fields(0, &format!("a: {{type: string, maxLength: {}}}", side.of(9, 2))));
            objects(dir, 60_000, "{a: abc}");
        },
    ),
    case(
        "lists of 20,000 items without duplicates",
        &["validate objects.yaml --crd new.yaml", "validate objects.yaml --crd new.yaml --previous objects.yaml"],
        |dir| {
            let lists = "a: {type: array, x-kubernetes-list-type: set, items: {type: string}}, \
             b: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}}}}, \
             c: {type: array, uniqueItems: false, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}";
            write(dir, "new.yaml", of_fields(0, lists));
            let fields = format!(
                "{{a: [{}], b: [{}], c: [{}]}}",
                list(20_000, |item| format!("i{item}")),
                list(20_000, |item| format!("{{name: i{item}}}")),
                list(20_000, |item| format!("{{i: {item}}}"))
            );
            objects(dir, 5, &fields);
        },
    ),
    case("a rule that compares all items", &["validate objects.yaml --crd new.yaml"], |dir| {
        let rule = "self.a.all(x, self.a.exists_one(y, x == y))";
        write(
            dir,
            "new.yaml",
            of_spec(
                0,
                &format!(
                    "{{type: object, x-kubernetes-validations: [{{rule: '{rule}'}}], properties: {{a: {{type: array, maxItems: 5000, items: {{type: string, maxLength: 9}}}}}}}}"
                ),
            ),
        );
        objects(dir, 100, &format!("{{a: [{}]}}", list(5_000, |item| format!("i{item}"))));
    }),
    case("10,000 cases", &["test suites", "test suites --format json", "test suites --coverage"], |dir| {
        write(dir, "suites/crd.yaml", of_fields(0, &list(100, |field| format!("f{field}: {{type: string, maxLength: 9}}"))));
        let case = |number: usize| {
            format!(
                "- {{name: case {number}, create: {{spec: {{f{}: {}}}}}, accepts: {}}}\n",
                number % 100,
                "a".repeat(number % 20),
                number.is_multiple_of(2)
            )
        };
        let cases: String = (0..10_000).map(case).collect();
        write(dir, "suites/all.crdtest.yaml", format!("crd: routes0.shop.example.com\ncases:\n{cases}"));
    }),
    case(
        "60,000 objects to convert",
        &["convert objects.yaml --to v2 --conversions conversions --check", "convert objects.yaml --to v2 --conversions conversions"],
        |dir| {
            write(
                dir,
                "conversions/all.yaml",
                "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {name: a}\nresource: {group: shop.example.com, kind: Route0}\nfrom: {version: v1}\nto: {version: v2}\nsteps:\n- rename: {from: spec.a, to: spec.b}\nreverse: auto\n",
            );
            objects(dir, 60_000, "{a: abc}");
        },
    ),
    case("one object with 100,000 fields to convert", &["convert objects.yaml --to v2 --conversions conversions"], |dir| {
        let steps: String = (0..500).map(|step| format!("- rename: {{from: spec.f{step}, to: spec.g{step}}}\n")).collect();
        write(
            dir,
            "conversions/all.yaml",
            format!(
                "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: a}}\nresource: {{group: shop.example.com, kind: Route0}}\nfrom: {{version: v1}}\nto: {{version: v2}}\nsteps:\n{steps}reverse: auto\n"
            ),
        );
        objects(dir, 1, &format!("{{{}}}", list(100_000, |field| format!("f{field}: a"))));
    }),
];

/// Objects in `objects.yaml`, which may be more documents than a file may have otherwise.
fn objects(dir: &Path, count: usize, spec: &str) {
    let object = |number: usize| {
        format!("- {{apiVersion: shop.example.com/v1, kind: Route0, metadata: {{name: a{number}, namespace: b}}, spec: {spec}}}\n")
    };
    write(dir, "objects.yaml", format!("apiVersion: v1\nkind: List\nitems:\n{}", (0..count).map(object).collect::<String>()));
}
