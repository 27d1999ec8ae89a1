//! Many CRDs, versions and fields.

use std::path::Path;

use super::{
    CONVERSIONS, Case, EVERYTHING, FORMATS, LINT, ONE_SIDE, REVIEW, Side, case, crd, list, of_fields, of_spec, sides, version, write,
};

pub const CASES: &[Case] = &[
    case("12,500 changed CRDs", FORMATS, |dir| {
        sides(dir, |side| many(12_500, |number| of_fields(number, &format!("a: {{type: string, maxLength: {}}}", side.of(9, 8)))));
    }),
    case("15,000 CRDs", &["lint new.yaml", "baseline write new.yaml"], |dir| {
        write(dir, "new.yaml", many(15_000, |number| of_fields(number, "a: {type: string}")));
    }),
    case("5,000 CRDs", &["fixtures write new.yaml --dir fixtures", "test generate new.yaml --dir suites"], |dir| {
        write(dir, "new.yaml", many(5_000, |number| of_fields(number, "a: {type: string, maxLength: 9}")));
    }),
    case("12,500 added and 12,500 removed CRDs", REVIEW, |dir| {
        sides(dir, |side| many(12_500, |number| of_fields(number + side.of(0, 20_000), "a: {type: string}")));
    }),
    case("5,000 copies of one CRD", REVIEW, |dir| {
        sides(dir, |side| many(5_000, |number| of_fields(0, &format!("a: {{type: string, maxLength: {}}}", number + side.of(1, 2)))));
    }),
    case("60 CRDs with 1,000 changed types", REVIEW, |dir| {
        sides(dir, |side| {
            many(60, |number| of_fields(number, &list(1_000, |field| format!("f{field}: {{type: {}}}", side.of("string", "integer")))))
        });
    }),
    case("60 CRDs with 1,000 changed limits", FORMATS, |dir| {
        sides(dir, |side| {
            many(60, |number| {
                of_fields(number, &list(1_000, |field| format!("f{field}: {{type: string, maxLength: {}}}", side.of(90, 80) + field)))
            })
        });
    }),
    case("300 CRDs with 100 fields", ONE_SIDE, |dir| {
        write(dir, "new.yaml", many(300, |number| of_fields(number, &limited(100))));
    }),
    case("400 CRDs with 50 renamed fields", CONVERSIONS, |dir| {
        sides(dir, |side| many(400, |number| of_fields(number, &renamed(side, 50))));
        let manifests = |number| format!("---\n{}", manifest(number, 50));
        write(dir, "conversions/all.yaml", many(400, manifests));
    }),
    case("1,000 fields", ONE_SIDE, |dir| write(dir, "new.yaml", of_fields(0, &limited(1_000)))),
    case("5,000 fields", ONE_SIDE, |dir| write(dir, "new.yaml", of_fields(0, &limited(5_000)))),
    case("20,000 fields", ONE_SIDE, |dir| write(dir, "new.yaml", of_fields(0, &limited(20_000)))),
    case("5,000 renamed fields", CONVERSIONS, |dir| conversion(dir, 5_000)),
    case("20,000 renamed fields", CONVERSIONS, |dir| conversion(dir, 20_000)),
    case("20,000 renamed fields, review", REVIEW, |dir| sides(dir, |side| of_fields(0, &renamed(side, 20_000)))),
    case("60,000 removed fields", REVIEW, |dir| {
        sides(dir, |side| of_fields(0, &list(side.of(60_000, 1), |field| format!("field{field}: {{type: string}}"))));
    }),
    case("60,000 added fields", REVIEW, |dir| {
        sides(dir, |side| of_fields(0, &list(side.of(1, 60_000), |field| format!("field{field}: {{type: string}}"))));
    }),
    case("50,000 changed fields in one line of JSON", FORMATS, |dir| {
        sides(dir, |side| {
            let text = list(50_000, |field| format!(r#""f{field}":{{"type":"string","maxLength":{}}}"#, side.of(90, 80)));
            format!(
                "{{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{{\"name\":\"routes.shop.example.com\"}},\"spec\":{{\"group\":\"shop.example.com\",\"names\":{{\"plural\":\"routes\",\"singular\":\"route\",\"kind\":\"Route\",\"listKind\":\"RouteList\"}},\"scope\":\"Namespaced\",\"versions\":[{{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{{\"openAPIV3Schema\":{{\"type\":\"object\",\"properties\":{{\"spec\":{{\"type\":\"object\",\"properties\":{{{text}}}}}}}}}}}}}]}}}}"
            )
        });
    }),
    case("300 fields in 100 versions", EVERYTHING, |dir| {
        sides(dir, |side| versions(side, 100, 300));
    }),
    case("100 fields in 200 versions", REVIEW, |dir| sides(dir, |side| versions(side, 200, 100))),
    case("40 CRDs with 200 versions", LINT, |dir| {
        write(
            dir,
            "new.yaml",
            many(40, |number| crd(number, &(0..200).map(|version| schema(version, "a: {type: string}")).collect::<Vec<_>>())),
        );
    }),
    case(
        "1,000 waivers with several wildcards, 20,000 findings",
        &["review old.yaml new.yaml", "baseline write new.yaml --against old.yaml"],
        |dir| {
            waivers(dir, "s*e*.*f*9*");
        },
    ),
    case("1,000 waivers with one wildcard, 20,000 findings", &["review old.yaml new.yaml"], |dir| waivers(dir, "spec.f1*")),
    case("2,000 custom pages, 20,000 changes", &["review old.yaml new.yaml --rules rules", "explain field-removed --rules rules"], |dir| {
        sides(dir, |side| of_fields(0, &list(20_000, |field| format!("f{field}: {{type: string, maxLength: {}}}", side.of(90, 80)))));
        for page in 0..2_000 {
            let text = format!(
                "---\nid: own-{page}\ntitle: An own rule\nfamily: change\nmatch: {{subject: field, aspect: max-length, effect: narrowed}}\n\
                 when: \"fact.path.contains('f{page}x')\"\nkind: tighten\nmessage: \"`{{{{ path }}}}` was changed\"\nhelp: \"do something\"\n---\nA page.\n"
            );
            write(dir, &format!("rules/own-{page}.md"), text);
        }
    }),
    case("20,000 accepted findings", &["review old.yaml new.yaml --baseline crdwise-baseline.json"], |dir| {
        sides(dir, |side| of_fields(0, &list(20_000, |field| format!("f{field}: {{type: string, maxLength: {}}}", side.of(90, 80)))));
        let entries = list(20_000, |entry| format!("{{\"rule\": \"bound-narrowed\", \"fingerprint\": \"{entry:016x}\"}}"));
        write(dir, "crdwise-baseline.json", format!("{{\"schema\": \"crdwise.baseline/v1\", \"findings\": [{entries}]}}"));
    }),
    case("an archive of 200 MB", &["lint crds.tar.gz"], |dir| {
        let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        let text = format!("{}# {}\n", of_spec(0, "{type: object}"), " ".repeat(3_000_000));
        for number in 0..66 {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, format!("crds/{number}.yaml"), text.as_bytes()).expect("an archive");
        }
        let compressed = archive.into_inner().and_then(flate2::write::GzEncoder::finish).expect("an archive");
        write(dir, "crds.tar.gz", compressed);
    }),
    case("10,000 files", &["lint crds"], |dir| {
        for number in 0..10_000 {
            write(dir, &format!("crds/{number}.yaml"), of_fields(number, "a: {type: string}"));
        }
    }),
];

fn many(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

fn limited(fields: usize) -> String {
    list(fields, |field| match field % 4 {
        0 => format!("f{field}: {{type: string, maxLength: {}}}", field + 1),
        1 => format!("f{field}: {{type: integer, minimum: 1, maximum: {}}}", field + 1),
        2 => format!("f{field}: {{type: string, enum: [A, B{field}]}}"),
        _ => format!("f{field}: {{type: array, maxItems: {}, items: {{type: string}}}}", field % 50 + 1),
    })
}

/// Each field has its own type, so that one field looks like another.
fn renamed(side: Side, fields: usize) -> String {
    list(fields, |field| format!("{}{field}: {{type: string, maxLength: {}}}", side.of("old", "new"), field + 1))
}

fn conversion(dir: &Path, fields: usize) {
    sides(dir, |side| {
        let old = version("v1", side == Side::Old, &format!("{{type: object, properties: {{{}}}}}", renamed(Side::Old, fields)));
        let new = version("v2", true, &format!("{{type: object, properties: {{{}}}}}", renamed(Side::New, fields)));
        if side == Side::Old { crd(0, &[old]) } else { crd(0, &[old, new]) }
    });
    write(dir, "conversions/all.yaml", manifest(0, fields));
}

/// A manifest for as many of the fields as one may have steps.
fn manifest(number: usize, fields: usize) -> String {
    let steps: String = (0..fields.min(500)).map(|field| format!("- rename: {{from: spec.old{field}, to: spec.new{field}}}\n")).collect();
    format!(
        "apiVersion: crdwise.dev/v1alpha1
kind: Conversion
metadata: {{name: routes-{number}}}
resource: {{group: shop.example.com, kind: Route{number}}}
from: {{version: v1}}
to: {{version: v2}}
steps:
{steps}reverse: auto
"
    )
}

fn schema(number: usize, fields: &str) -> String {
    version(&format!("v{}", number + 1), number == 0, &format!("{{type: object, properties: {{{fields}}}}}"))
}

/// Each version has another limit for each field, and a field of its own.
fn versions(side: Side, count: usize, fields: usize) -> String {
    let text = |number: usize| {
        let limit = number + side.of(10, 9);
        schema(number, &list(fields, |field| format!("f{}: {{type: string, maxLength: {limit}}}", field + number)))
    };
    crd(0, &(0..count).map(text).collect::<Vec<_>>())
}

fn waivers(dir: &Path, path: &str) {
    sides(dir, |side| of_fields(0, &list(20_000, |field| format!("f{field}: {{type: string, maxLength: {}}}", side.of(90, 80)))));
    let waivers: String = (0..1_000).map(|waiver| format!("  - {{rule: '*', path: '{path}{waiver}*', reason: accepted}}\n")).collect();
    write(dir, "crdwise.yaml", format!("waivers:\n{waivers}"));
}
