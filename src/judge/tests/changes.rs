//! Compares facts and findings about two bundles with recorded servers, real releases and general laws.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::find::change::{ABOUT_NO_OBJECT, ChangeOptions, diff};
use crate::find::review_context::ReviewContext;
use crate::judge::finding::Class;
use crate::judge::rule::{Book, Family, Rule};
use crate::model::fact::{Aspect, Certainty, Effect, Fact, Subject};
use crate::model::schema::{Keyword, Schema};
use crate::model::{Bundle, Crd, Documents, FieldPath};
use serde_json::Value;

use crate::testing::recorded::{corpus, id, project, records, releases};
use crate::testing::{HEAD, documents};

/// The facts of the comparison alone, for the laws that it obeys.
pub fn facts(old: &str, new: &str) -> Vec<Fact> {
    facts_with(old, new, &PLAIN)
}

/// Doesn't search for witnesses, which is slow in a debug build.
const PLAIN: ChangeOptions<'static> = ChangeOptions { rename_threshold: 60, witnesses: false, near: None, context: ReviewContext::NONE };

fn facts_with(old: &str, new: &str, options: &ChangeOptions<'_>) -> Vec<Fact> {
    let (old, new) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
    let (old, new) = (Bundle::read(&old), Bundle::read(&new));
    assert!(old.problems.is_empty() && new.problems.is_empty(), "{:?} {:?}", old.problems, new.problems);
    diff(&old, &new, options)
}

/// The rule of a fact, which must be one that expects it.
pub fn rule(fact: &Fact) -> &'static Rule {
    let rule = Book::builtin().choose(fact, "").expect("a rule for every fact");
    assert_ne!(rule.id, "unclassified-change", "no page in `rules/` matches {} {} {}", fact.subject, fact.aspect, fact.effect);
    rule
}

#[test]
fn every_kind_of_fact_has_one_rule() {
    let mut wrong = Vec::new();
    for &subject in Subject::ALL {
        for (&aspect, &effect) in Aspect::ALL.iter().flat_map(|aspect| Effect::ALL.iter().map(move |effect| (aspect, effect))) {
            let rules = Book::builtin().rules().filter(|rule| rule.matches.takes(subject, aspect, effect) && rule.when.is_none());
            let rules: Vec<&str> = rules.map(|rule| &*rule.id).collect();
            if rules.len() > 1 {
                wrong.push(format!("{subject} {aspect} {effect}: {rules:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A word that no page names was added without a rule, or is no longer needed.
#[test]
fn every_word_is_matched_by_a_page() {
    fn unmatched<T: PartialEq + Copy>(all: &[T], named: impl Fn(&Rule) -> &[T]) -> Vec<T> {
        let is_named = |word: &T| Book::builtin().rules().any(|rule| named(rule).contains(word));
        all.iter().filter(|word| !is_named(word)).copied().collect()
    }
    assert_eq!(unmatched(Subject::ALL, |rule| &rule.matches.subjects), []);
    assert_eq!(unmatched(Aspect::ALL, |rule| &rule.matches.aspects), []);
    assert_eq!(unmatched(Effect::ALL, |rule| &rule.matches.effects), []);
}

/// What changed in a field may also differ in a new version, unless it says nothing about objects.
#[test]
fn a_page_for_fields_has_one_for_new_versions() {
    let named = |subject: Subject, aspect: &Aspect| {
        let matches = |rule: &Rule| rule.matches.subjects.contains(&subject) && rule.matches.aspects.contains(aspect);
        Book::builtin().rules().any(|rule| rule.family == Family::Change && matches(rule))
    };
    let only_fields = Aspect::ALL.iter().filter(|aspect| named(Subject::Field, aspect) && !named(Subject::NewVersion, aspect));
    assert_eq!(only_fields.copied().collect::<Vec<_>>(), ABOUT_NO_OBJECT);
}

fn class(facts: &[Fact]) -> Class {
    facts.iter().filter_map(|fact| rule(fact).class).max().unwrap_or(Class::None)
}

/// Edits that policies treat as breaking although no request fails: other types, merging, defaults, transition rules, names.
fn declared(mutation: &str) -> bool {
    ["type-", "typed-", "any-", "list-", "default-", "cel-transition", "property-remove", "property-rename", "property-move"]
        .iter()
        .any(|prefix| mutation.starts_with(prefix))
}

#[test]
fn recorded_breaks_are_found_and_equal_rewrites_are_not_breaking() {
    let records = records("compat");
    let (mut breaks, mut equal, mut undecided, mut shown, mut real) = (0, 0, 0, 0, 0);
    let mut unshown = Vec::new();
    let (mut misses, mut alarms, mut noisy) = (Vec::new(), Vec::new(), Vec::new());
    let mut by_mutation: BTreeMap<String, u32> = BTreeMap::new();
    for record in &records {
        let facts = facts_with(&record["old"].to_string(), &record["new"].to_string(), &ChangeOptions::default());
        let mutations: Vec<&str> = record["mutations"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let observed = |flag: &str| record["observed"][flag].as_bool() == Some(true);
        let class = class(&facts);
        let shown_by = |fact: &Fact| match (&fact.evidence.witness, &fact.evidence.reason) {
            (Some(witness), _) => format!("shown: {} {}", witness.object["spec"], witness.because),
            (None, reason) => reason.clone().unwrap_or_default(),
        };
        let reported: Vec<String> =
            facts.iter().map(|f| format!("{}@{} {} {} ({})", rule(f).id, f.path, f.aspect, f.effect, shown_by(f))).collect();
        let line = format!("{} {mutations:?}: {reported:?}", record["id"]);
        let broken = observed("writer_break_known") || observed("data_loss");
        if broken {
            breaks += 1;
            if class != Class::SemanticBreaking {
                misses.push(line.clone());
            }
            if facts.iter().any(|fact| fact.evidence.witness.is_some()) {
                shown += 1;
            } else {
                let why: Vec<_> = facts.iter().filter_map(|fact| fact.evidence.reason.clone()).collect();
                unshown.push(format!("{line} {why:?}"));
            }
        }
        if mutations.iter().all(|name| name.starts_with("eq:")) {
            equal += 1;
            if class != Class::None {
                noisy.push(line.clone());
            }
        }
        if class == Class::SemanticBreaking && facts.iter().any(|f| f.evidence.certainty == Certainty::Undecided) {
            undecided += 1;
        }
        let excused = broken || observed("default_change") || mutations.iter().any(|name| declared(name));
        let proved = facts.iter().any(|fact| fact.evidence.witness.is_some() && rule(fact).class == Some(Class::SemanticBreaking));
        if class == Class::SemanticBreaking && !excused {
            // The break is shown by an object that isn't among the recorded samples.
            real += usize::from(proved);
            for mutation in mutations.iter().filter(|name| !name.starts_with("eq:")) {
                *by_mutation.entry((*mutation).to_owned()).or_default() += 1;
            }
            alarms.push(line);
        }
    }
    let records = records.len();
    println!(
        "{records} records: {breaks} breaks, {} missed, {shown} with an object; {equal} equal rewrites, {} not none; {} alarms, {real} of them shown by an object; {undecided} undecided",
        misses.len(),
        noisy.len(),
        alarms.len()
    );
    println!("alarms by mutation: {by_mutation:?}");
    if std::env::var_os("SHOW").is_some() {
        println!("unshown\n{}", unshown.join("\n"));
        println!("misses\n{}\nnoisy\n{}\nalarms\n{}", misses.join("\n"), noisy.join("\n"), alarms.join("\n"));
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
    assert!(noisy.is_empty(), "{}", noisy.join("\n"));
    assert!(shown * 100 >= breaks * 98, "{}", unshown.join("\n"));
    assert!((alarms.len() - real) * 100 <= records, "{}", alarms.join("\n"));
    assert!(undecided * 50 <= records, "{undecided} undecided");
}

fn between(old: &Path, new: &Path) -> Vec<Fact> {
    let (old, new) = (documents(old), documents(new));
    diff(&Bundle::read(&old), &Bundle::read(&new), &PLAIN)
}

/// A change that a release is known to have made: the CRD's plural, version, path, new path and rule.
type KnownChange<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

const RELEASED: &[(&str, &str, &[KnownChange<'_>])] = &[
    (
        "gateway-api/v0.8.0/standard",
        "gateway-api/v1.0.0/standard",
        &[
            ("gateways", "v1", "", "", "version-added"),
            ("gateways", "v1alpha2", "", "", "version-removed-unmigrated"),
            ("gatewayclasses", "v1", "", "", "version-added"),
            ("gatewayclasses", "v1alpha2", "", "", "version-removed-unmigrated"),
            ("httproutes", "v1", "", "", "version-added"),
            ("httproutes", "v1alpha2", "", "", "version-removed-unmigrated"),
        ],
    ),
    (
        "gateway-api/v1.0.0/experimental",
        "gateway-api/v1.1.0/experimental",
        &[
            ("backendtlspolicies", "v1alpha2", "", "", "version-removed-stored"),
            ("backendtlspolicies", "v1alpha3", "", "", "version-added"),
            ("backendtlspolicies", "v1alpha3", "spec.targetRef", "spec.targetRefs", "field-renamed"),
            ("backendtlspolicies", "v1alpha3", "spec.targetRef.namespace", "", "field-removed"),
            ("backendtlspolicies", "v1alpha3", "spec.tls", "spec.validation", "field-renamed"),
            ("backendtlspolicies", "v1alpha3", "spec.tls.caCertRefs", "spec.validation.caCertificateRefs", "field-renamed"),
            ("backendtlspolicies", "v1alpha3", "spec.tls.wellKnownCACerts", "spec.validation.wellKnownCACertificates", "field-renamed"),
            ("grpcroutes", "v1alpha2", "", "", "status-subresource-removed"),
        ],
    ),
    (
        "gateway-api/v1.1.0/standard",
        "gateway-api/v1.2.0/standard",
        &[
            ("grpcroutes", "v1alpha2", "", "", "version-removed-unmigrated"),
            ("referencegrants", "v1alpha2", "", "", "version-removed-unmigrated"),
        ],
    ),
    (
        "gateway-api/v1.1.0/experimental",
        "gateway-api/v1.2.0/experimental",
        &[
            ("gatewayclasses", "v1", "status.supportedFeatures[]", "", "type-changed"),
            ("gatewayclasses", "v1", "status.supportedFeatures", "", "list-type-changed"),
        ],
    ),
    (
        "gateway-api/v1.2.1/standard",
        "gateway-api/v1.3.0/standard",
        &[
            ("gateways", "v1", "spec.addresses[].value", "", "required-removed"),
            ("grpcroutes", "v1", "spec.rules[].matches", "", "bound-widened"),
        ],
    ),
    (
        "gateway-api/v1.2.1/experimental",
        "gateway-api/v1.3.0/experimental",
        &[("backendlbpolicies", "", "", "", "crd-removed"), ("xbackendtrafficpolicies", "", "", "", "crd-added")],
    ),
    ("gateway-api/v1.3.0/standard", "gateway-api/v1.4.0/standard", &[("grpcroutes", "v1", "spec", "", "required-added")]),
    (
        "gateway-api/v1.3.0/experimental",
        "gateway-api/v1.4.0/experimental",
        &[
            ("httproutes", "v1", "spec.rules[].filters[].cors.allowCredentials", "", "enum-removed"),
            ("backendtlspolicies", "v1alpha3", "", "", "status-subresource-removed"),
            ("gateways", "v1", "spec.backendTLS", "", "field-removed"),
            ("gateways", "v1", "spec.listeners[].tls.frontendValidation", "", "field-removed"),
            ("tlsroutes", "v1alpha3", "", "", "version-added"),
            ("tlsroutes", "v1alpha3", "spec.hostnames", "", "new-version-differs"),
        ],
    ),
    (
        "prometheus-operator/v0.80.0",
        "prometheus-operator/v0.92.0",
        &[("scrapeconfigs", "v1alpha1", "spec.openstackSDConfigs[].role", "", "enum-changed")],
    ),
    (
        "crossplane/v1.20.0",
        "crossplane/v2.0.0",
        &[("compositions", "v1", "spec.resources", "", "field-removed"), ("compositions", "v1", "spec.patchSets", "", "field-removed")],
    ),
];

/// The same for the demo, which is always available.
const DEMO: &[KnownChange<'_>] = &[
    ("bookings", "v1", "spec.seatClass", "spec.carriageClass", "field-renamed"),
    ("bookings", "v1", "spec.passengers[].loyaltyId", "", "field-added"),
    ("bookings", "v1", "spec.seats", "", "bound-narrowed"),
];

fn missing(name: &str, facts: &[Fact], changes: &[KnownChange<'_>]) -> Vec<String> {
    let found = |(plural, version, path, to, id): &KnownChange<'_>| {
        facts.iter().any(|fact| {
            fact.crd.split('.').next() == Some(plural)
                && fact.version.as_deref().unwrap_or_default() == *version
                && fact.path.to_string() == *path
                && (to.is_empty() || fact.to.as_ref().is_some_and(|fact| fact.to_string() == *to))
                && rule(fact).id == *id
        })
    };
    changes.iter().filter(|reported| !found(reported)).map(|reported| format!("{name}: {reported:?}")).collect()
}

#[test]
fn changes_of_real_releases_are_found() {
    let demo = project().join("testdata/demo");
    let mut wrong = missing("demo", &between(&demo.join("old"), &demo.join("new")), DEMO);
    if let Some(corpus) = corpus() {
        let between = |old: &str, new: &str| between(&corpus.join(old), &corpus.join(new));
        for (old, new, changes) in RELEASED {
            wrong.extend(missing(new, &between(old, new), changes));
        }
        let patch = between("gateway-api/v1.2.0/standard", "gateway-api/v1.2.1/standard");
        assert!(patch.iter().all(|fact| fact.aspect == Aspect::BundleVersion), "{patch:#?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_change_at_the_end_of_a_long_composition_is_found() {
    let crd = |last: u32| {
        let clauses: String = (0..60).map(|number| format!("{{minimum: {}, maximum: {}}}, ", 10 * number, 10 * number + 5)).collect();
        let schema = format!("{{type: object, properties: {{x: {{type: integer, anyOf: [{clauses}{{minimum: 990, maximum: {last}}}]}}}}}}");
        format!("{HEAD}  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}]\n")
    };
    let found = facts(&crd(995), &crd(994));
    assert_eq!(found.iter().map(|fact| rule(fact).id.as_str()).collect::<Vec<_>>(), ["composition-narrowed"], "{found:?}");
}

#[test]
fn a_bundle_against_itself_is_silent() {
    for bundle in releases().into_iter().flatten() {
        let facts = between(&bundle, &bundle);
        assert!(facts.is_empty(), "{}: {facts:#?}", bundle.display());
    }
}

fn mirrored(effect: Effect) -> Effect {
    match effect {
        Effect::Added => Effect::Removed,
        Effect::Removed => Effect::Added,
        Effect::Narrowed => Effect::Widened,
        Effect::Widened => Effect::Narrowed,
        other => other,
    }
}

/// What a fact looks like from one side: subject, aspect, effect, CRD, version, path.
type Seen = (Subject, Aspect, Effect, String, Option<String>, String);

/// Aspects that have no mirror image: going back is a different procedure, or has a different cause.
fn one_way(fact: &Fact) -> bool {
    let cause = matches!(
        fact.aspect,
        // A new version is compared with an older one, but a removed one isn't.
        Aspect::Storage
            // Declared fields that become a map have another cause than a map that becomes declared fields.
            | Aspect::AdditionalProperties | Aspect::PreserveUnknown
            | Aspect::Accepted
            // One sentence may gain a promise that the other never lost.
            | Aspect::Meaning | Aspect::Description
    );
    cause || (fact.subject != Subject::Version && fact.against.is_some()) || (fact.aspect == Aspect::ConversionStrategy)
}

/// Nodes that treat undeclared keys differently: in one direction, this reports everything below them.
fn opened(facts: &[Fact]) -> impl Iterator<Item = String> + '_ {
    let reported = facts.iter().filter(|fact| matches!(fact.aspect, Aspect::AdditionalProperties | Aspect::PreserveUnknown));
    reported.map(|fact| format!("{} {:?} {}", fact.crd, fact.version, fact.path))
}

fn seen(facts: &[Fact], opened: &[String], back: bool) -> BTreeMap<Seen, usize> {
    let mut found = BTreeMap::new();
    for fact in facts.iter().filter(|fact| !one_way(fact)) {
        let key = format!("{} {:?} {}", fact.crd, fact.version, fact.path);
        if opened.iter().any(|path| key.starts_with(path)) {
            continue;
        }
        let effect = if back { mirrored(fact.effect) } else { fact.effect };
        let path = if back { fact.to.as_ref().unwrap_or(&fact.path) } else { &fact.path };
        let wrapped = fact.effect == Effect::Added && fact.aspect == Aspect::Presence;
        let path = if wrapped { &fact.path } else { path };
        *found.entry((fact.subject, fact.aspect, effect, fact.crd.clone(), fact.version.clone(), path.to_string())).or_default() += 1;
    }
    found
}

/// Strings with a format: the server accepts lists there, which only conditions about lists refuse.
fn formatted(documents: &Documents) -> BTreeSet<String> {
    fn below(schema: &Schema<'_>, path: &FieldPath, found: &mut Vec<FieldPath>) {
        if schema.ty() == Some("string") && schema.has(Keyword::Format) {
            found.push(path.clone());
        }
        schema.properties().for_each(|(entry, child)| below(&child, &path.key(entry.name()), found));
        schema.items().iter().for_each(|items| below(items, &path.items(), found));
        if let Some(values) = schema.values() {
            below(&values, &path.values(), found);
        }
    }
    let mut all = BTreeSet::new();
    for crd in &Bundle::read(documents).crds {
        for version in &crd.versions {
            let mut found = Vec::new();
            version.schema.iter().for_each(|schema| below(schema, &FieldPath::root(), &mut found));
            all.extend(found.iter().map(|path| format!("{} {} {path}", crd.name, version.name)));
        }
    }
    all
}

/// The facts of both directions must be the same, mirrored. `formatted` are the strings with a format on either side.
fn assert_mirrored(name: &str, there: &[Fact], back: &[Fact], formatted: &BTreeSet<String>) {
    // Paths under a renamed parent are reported with their old name, which differs between the directions.
    let moved = there.iter().chain(back).any(|fact| fact.to.is_some());
    if moved {
        return;
    }
    let opened: Vec<String> = opened(there).chain(opened(back)).collect();
    let (there, back) = (seen(there, &opened, false), seen(back, &opened, true));
    let with = |key: &Seen, effect: Effect| (key.0, key.1, effect, key.3.clone(), key.4.clone(), key.5.clone());
    // Fields that only one side has decide whether a keyword can take effect there, so it may be reported as rewritten in one
    // direction.
    let idle = |key: &Seen, other: &BTreeMap<Seen, usize>| {
        let rewritten = with(key, Effect::Rewritten);
        there.contains_key(&rewritten)
            || back.contains_key(&rewritten)
            || (key.2 == Effect::Rewritten && Effect::ALL.iter().any(|&effect| other.contains_key(&with(key, effect))))
    };
    // A list accepted because of a format is reported where it is refused, not where it is accepted.
    let listed = |key: &Seen, other: &BTreeMap<Seen, usize>| {
        let here = formatted.contains(&format!("{} {} {}", key.3, key.4.as_deref().unwrap_or_default(), key.5));
        let one_sided = [Effect::Narrowed, Effect::Widened, Effect::Changed];
        here && one_sided.contains(&key.2)
            && match key.1 {
                Aspect::Format => one_sided.iter().any(|&effect| other.contains_key(&with(key, effect))),
                Aspect::AllOf | Aspect::AnyOf | Aspect::OneOf | Aspect::Not => {
                    other.keys().any(|one| (&one.3, &one.4, &one.5) == (&key.3, &key.4, &key.5))
                }
                _ => false,
            }
    };
    let only = |a: &BTreeMap<Seen, usize>, b: &BTreeMap<Seen, usize>| -> Vec<String> {
        a.iter()
            .filter(|(key, _)| !idle(key, b) && !listed(key, b))
            .filter(|(key, count)| b.get(*key) != Some(*count))
            .map(|(key, count)| format!("{key:?} × {count}"))
            .collect()
    };
    let (lost, gained) = (only(&there, &back), only(&back, &there));
    assert!(lost.is_empty() && gained.is_empty(), "{name}\nonly there: {lost:#?}\nonly back: {gained:#?}");
}

#[test]
fn swapping_sides_mirrors_every_effect() {
    for record in records("compat") {
        let (old, new) = (record["old"].to_string(), record["new"].to_string());
        let formatted = [&old, &new].into_iter().flat_map(|text| formatted(&Documents::of_text("crd.json", text))).collect();
        assert_mirrored(&id(&record), &facts(&old, &new), &facts(&new, &old), &formatted);
    }
    let mut pairs = 0;
    for bundles in releases() {
        for pair in bundles.windows(2) {
            let (there, back) = (between(&pair[0], &pair[1]), between(&pair[1], &pair[0]));
            let formatted = pair.iter().flat_map(|bundle| formatted(&documents(bundle))).collect();
            // Check CRD by CRD, so that one rename doesn't exempt a whole bundle.
            let mut names: Vec<&str> = there.iter().chain(&back).map(|fact| fact.crd.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                let of = |facts: &[Fact]| facts.iter().filter(|fact| fact.crd == name).cloned().collect::<Vec<_>>();
                assert_mirrored(&format!("{pair:?} {name}"), &of(&there), &of(&back), &formatted);
            }
            pairs += 1;
        }
    }
    println!("{pairs} pairs of releases are mirrored");
    assert!(pairs > 0);
}

/// Writes JSON with every mapping, and every list whose order doesn't matter, in reverse.
fn reversed(value: &Value, key: &str, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().rev().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                reversed(value, key, out);
            }
            out.push('}');
        }
        Value::Array(list) => {
            let set = matches!(
                key,
                "enum" | "required" | "x-kubernetes-validations" | "x-kubernetes-list-map-keys" | "versions" | "shortNames" | "categories"
            );
            let items: Vec<&Value> = if set { list.iter().rev().collect() } else { list.iter().collect() };
            out.push('[');
            for (index, item) in items.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                reversed(item, "", out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn turned(documents: &Documents, reverse: bool) -> String {
    let mut list: Vec<String> = Vec::new();
    for crd in &Bundle::read(documents).crds {
        let value = crd.node.to_json();
        let mut text = String::new();
        if reverse {
            reversed(&value, "", &mut text);
        } else {
            text = value.to_string();
        }
        list.push(text);
    }
    if reverse {
        list.reverse();
    }
    list.join("\n---\n")
}

fn without_places(mut facts: Vec<Fact>) -> Vec<Fact> {
    for fact in &mut facts {
        fact.before = None;
        fact.after = None;
        // Values are listed in file order.
        fact.words.clear();
    }
    facts
}

#[test]
fn order_of_keys_documents_and_sets_changes_nothing() {
    for bundles in releases() {
        let Some(pair) = bundles.get(bundles.len().saturating_sub(2)..).filter(|pair| pair.len() == 2) else { continue };
        let name = pair[1].display();
        let (old, new) = (documents(&pair[0]), documents(&pair[1]));
        // Variants of a CRD are distinguished by their files, and these are put into one.
        if has_variants(&old) || has_variants(&new) {
            continue;
        }
        let (plain_old, plain_new) = (turned(&old, false), turned(&new, false));
        let (old, new) = (turned(&old, true), turned(&new, true));
        let facts_of = |old: &str, new: &str| without_places(facts(old, new));
        let itself = facts_of(&plain_new, &new);
        assert!(itself.is_empty(), "{name}: {itself:#?}");
        let (plain, turned) = (facts_of(&plain_old, &plain_new), facts_of(&old, &new));
        assert_eq!(plain.len(), turned.len(), "{name}");
        for (plain, turned) in plain.iter().zip(&turned) {
            assert_eq!(plain, turned, "{name}");
        }
    }
}

fn has_variants(documents: &Documents) -> bool {
    let crds = Bundle::read(documents).crds;
    let key = |crd: &Crd<'_>| (crd.name.to_owned(), crd.channel().map(str::to_owned));
    crds.iter().zip(crds.iter().skip(1)).any(|(one, next)| key(one) == key(next))
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut pairs = vec![["old", "new"].map(|side| project().join("testdata/demo").join(side))];
    pairs.extend(corpus().map(|corpus| ["v1.16.0", "v1.17.0"].map(|tag| corpus.join("cilium").join(tag))));
    for [old, new] in pairs {
        let (old, new) = (documents(&old), documents(&new));
        let (old, new) = (Bundle::read(&old), Bundle::read(&new));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| diff(&old, &new, &ChangeOptions::default()))
        };
        assert_eq!(run(1), run(4));
    }
}
