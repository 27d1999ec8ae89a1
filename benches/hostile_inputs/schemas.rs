//! Single schemas: defaults, rules, enums, patterns, long texts and deep nesting.

use super::{Case, EVERYTHING, LINT, ONE_SIDE, REVIEW, REVIEW_AND_LINT, Side, case, list, of_fields, of_spec, sides, write};

pub const CASES: &[Case] = &[
    case("8,000 defaults side by side", REVIEW, |dir| {
        sides(dir, |side| of_fields(0, &list(8_000, |field| format!("f{field}: {{type: string, default: {}{field}}}", side.of("a", "b")))));
    }),
    case("8,000 nested defaults", REVIEW, |dir| {
        sides(dir, |side| of_fields(0, &list(100, |field| format!("f{field}: {}", nested(side.of("x", "z"), 80)))))
    }),
    case("8,000 nested defaults, of another type on one side", REVIEW, |dir| {
        sides(dir, |side| of_fields(0, &list(100, |field| format!("f{field}: {}", nested(side.of("x", "true"), 80)))))
    }),
    case("defaults in defaults, 13 levels of 2", LINT, |dir| write(dir, "new.yaml", of_spec(0, &doubled(13)))),
    case("8,000 defaults", ONE_SIDE, |dir| {
        write(dir, "new.yaml", of_fields(0, &list(8_000, |field| format!("f{field}: {{type: string, default: a{field}}}"))));
    }),
    case("5,000 validation rules", REVIEW, |dir| {
        sides(dir, |side| {
            let rules = list(5_000, |rule| format!("{{rule: 'self.f{} < {}'}}", rule % 50, rule + side.of(10, 9)));
            of_spec(0, &format!("{{type: object, x-kubernetes-validations: [{rules}], properties: {{{}}}}}", integers(50)))
        });
    }),
    case("5,000 fields with validation rules", REVIEW, |dir| {
        sides(dir, |side| {
            let field = |field| {
                format!(
                    "f{field}: {{type: string, maxLength: 9, x-kubernetes-validations: [{{rule: \"self.startsWith('a{field}') || self == '{}'\"}}]}}",
                    side.of("b", "c")
                )
            };
            of_fields(0, &list(5_000, field))
        });
    }),
    case("5,000 validation rules, one side", ONE_SIDE, |dir| {
        let rules = list(5_000, |rule| format!("{{rule: 'self.f{} < {rule} || self.f{} > {rule}'}}", rule % 50, rule % 49));
        write(
            dir,
            "new.yaml",
            of_spec(0, &format!("{{type: object, x-kubernetes-validations: [{rules}], properties: {{{}}}}}", integers(50))),
        );
    }),
    case("validation rules of 90,000 characters", REVIEW_AND_LINT, |dir| {
        sides(dir, |side| {
            let rule = |number: usize| {
                let parts: Vec<String> = (0..5_000).map(|part| format!("self.f{} < {}", part % 50, part + number)).collect();
                format!("{{rule: '{}'}}", parts.join(side.of(" && ", " || ")))
            };
            of_spec(0, &format!("{{type: object, x-kubernetes-validations: [{}], properties: {{{}}}}}", list(20, rule), integers(50)))
        });
    }),
    case("nested macros in validation rules", REVIEW_AND_LINT, |dir| {
        sides(dir, |side| {
            let rule = |number: usize| {
                let open: String = (0..8).map(|depth| format!("self.items.all(i{depth}, ")).collect();
                format!("{{rule: '{open}i0 + {number} < i7 + {}{}'}}", side.of(3, 4), ")".repeat(8))
            };
            of_spec(
                0,
                &format!(
                    "{{type: object, x-kubernetes-validations: [{}], properties: {{items: {{type: array, maxItems: 3, items: {{type: integer}}}}}}}}",
                    list(500, rule)
                ),
            )
        });
    }),
    case("an enum of 200,000 values", EVERYTHING, |dir| {
        sides(dir, |side| {
            of_fields(0, &format!("a: {{type: string, enum: [{}]}}", list(200_000, |value| format!("v{}", 2 * value + side.of(0, 1)))))
        });
    }),
    case("200 enums of 1,500 values", REVIEW, |dir| {
        let values = |side: Side| list(1_500, |value| format!("v{}", value + side.of(0, 1)));
        sides(dir, |side| {
            let values = values(side);
            of_fields(0, &list(200, |field| format!("f{field}: {{type: string, enum: [{values}]}}")))
        });
    }),
    case("2,000 changed patterns", REVIEW, |dir| {
        sides(dir, |side| {
            let pattern = |field| {
                format!(
                    "f{field}: {{type: string, pattern: '^[a-z0-9]([-a-z0-9]{{0,{}}}[a-z0-9])?(/[a-z]+){{1,{}}}$'}}",
                    field % 60 + 1,
                    side.of(9, 8)
                )
            };
            of_fields(0, &list(2_000, pattern))
        });
    }),
    case("patterns of 200,000 characters", EVERYTHING, |dir| {
        sides(dir, |side| {
            let words: Vec<String> = (0..25_000).map(|word| format!("word{word}")).collect();
            of_fields(
                0,
                &list(10, |field| format!("f{field}: {{type: string, pattern: '^({})$'}}", words[field + side.of(0, 1)..].join("|"))),
            )
        });
    }),
    case("patterns with many states", REVIEW, |dir| {
        sides(dir, |side| {
            of_fields(
                0,
                &list(300, |field| format!("f{field}: {{type: string, pattern: '^(a|b)*a(a|b){{{}}}$'}}", field % 20 + side.of(10, 11))),
            )
        });
    }),
    case("descriptions of 4 MB", REVIEW_AND_LINT, |dir| {
        sides(dir, |side| {
            of_fields(0, &format!("a: {{type: string, description: '{}'}}", side.of("some words ", "other words ").repeat(250_000)))
        });
    }),
    case("20,000 changed descriptions", REVIEW, |dir| {
        sides(dir, |side| {
            of_fields(
                0,
                &list(20_000, |field| {
                    format!("f{field}: {{type: string, description: 'Field {field} {} of the route'}}", side.of("is part", "was one"))
                }),
            )
        });
    }),
    case("changed texts of 1 MB in enums and defaults", REVIEW, |dir| {
        sides(dir, |side| of_fields(0, &format!("a: {{type: string, enum: [{0}], default: {0}}}", side.of("a", "b").repeat(1_000_000))));
    }),
    case("60 levels of objects and lists, 400 times", EVERYTHING, |dir| {
        sides(dir, |side| of_fields(0, &list(400, |field| format!("f{field}: {}", deep(side, 40)))));
    }),
    case("aliases, 30,000 fields", REVIEW, |dir| {
        sides(dir, |side| {
            let field = format!(
                "&a {{type: object, properties: {{{}}}}}",
                list(100, |field| format!("f{field}: {{type: string, maxLength: {}}}", side.of(90, 80)))
            );
            of_fields(0, &format!("first: {field}, {}", list(300, |copy| format!("c{copy}: *a"))))
        });
    }),
    case("100,000 required fields", REVIEW_AND_LINT, |dir| {
        sides(dir, |side| {
            let names = list(100_000, |field| format!("f{}", field + side.of(0, 50_000)));
            of_spec(0, &format!("{{type: object, required: [{names}], x-kubernetes-preserve-unknown-fields: true}}"))
        });
    }),
    case("20,000 changed types of lists", REVIEW, |dir| {
        sides(dir, |side| {
            of_fields(
                0,
                &list(20_000, |field| {
                    format!("f{field}: {{type: array, x-kubernetes-list-type: {}, items: {{type: string}}}}", side.of("atomic", "set"))
                }),
            )
        });
    }),
    case("10,000 fields that become required", REVIEW, |dir| {
        sides(dir, |side| {
            let required = side.of(String::new(), format!("required: [{}], ", list(10_000, |field| format!("f{field}"))));
            of_spec(0, &format!("{{type: object, {required}properties: {{{}}}}}", integers(10_000)))
        });
    }),
];

fn integers(count: usize) -> String {
    list(count, |field| format!("f{field}: {{type: integer}}"))
}

/// Objects in objects, each with a default.
fn nested(default: &str, depth: usize) -> String {
    let open: String = (0..depth)
        .map(|level| format!("{{type: object, default: {{}}, properties: {{a{level}: {{type: string, default: {default}}}, b: "))
        .collect();
    format!("{open}{{type: string}}{}", "}}".repeat(depth))
}

/// Two objects with defaults in each object.
fn doubled(depth: usize) -> String {
    match depth {
        0 => "{type: string, default: x}".to_owned(),
        _ => format!("{{type: object, default: {{}}, properties: {{a: {0}, b: {0}}}}}", doubled(depth - 1)),
    }
}

/// Objects and lists in turn.
fn deep(side: Side, depth: usize) -> String {
    match depth {
        0 => format!("{{type: string, maxLength: {}}}", side.of(9, 8)),
        _ if depth.is_multiple_of(2) => format!("{{type: object, required: [a], properties: {{a: {}}}}}", deep(side, depth - 1)),
        _ => format!("{{type: array, minItems: 1, maxItems: 2, items: {}}}", deep(side, depth - 1)),
    }
}
