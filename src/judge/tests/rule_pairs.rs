//! Generates pairs of CEL rules (rewrites, weaker and stronger ones), and checks the review of each against random objects and
//! updates.
//!
//! `CRDWISE_RULE_PAIRS=100000 cargo test --lib -- rule_pairs --nocapture` tries that many, from the seed `CRDWISE_RULE_SEED`, and
//! prints how many were proved, tested and undecided.

use serde_json::{Map, Value, json};

use crate::compare::Random;
use crate::judge::finding::Class;
use crate::model::fact::{Certainty, Fact};
use crate::server::object::Compiled;
use crate::testing::{number_in, shape};

use super::{facts, judged, with_root};

/// How many pairs every test run tries.
const PAIRS: usize = 200;
/// How many objects and updates each pair is tried with.
const OBJECTS: usize = 150;

fn text(random: &mut Random) -> &'static str {
    random.one_of(&["", "a", "b", "ab", "abc", "A", "1", "10.0.0.1", "10.0.0.0/8", "5s", "1Gi", "v1"])
}

fn int(random: &mut Random) -> i64 {
    random.one_of(&[-1, 0, 1, 2, 3, 4, 5, 10])
}

fn schema(required: bool, rule: &str, optional: bool) -> Value {
    let text = json!({"type": "string", "maxLength": 12});
    let list = json!({"type": "array", "maxItems": 4, "items": text});
    let properties = json!({
        "a": {"type": "integer"}, "b": {"type": "integer"}, "s": text, "u": text, "t": {"type": "boolean"},
        "e": {"type": "string", "enum": ["A", "B", "C"]}, "l": list, "n": {"type": "array", "maxItems": 4, "items": {"type": "integer"}},
        "m": {"type": "object", "maxProperties": 4, "additionalProperties": text},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}}},
    });
    let mut rule = json!({"rule": rule});
    if optional {
        rule["optionalOldSelf"] = true.into();
    }
    let mut spec = json!({"type": "object", "properties": properties, "x-kubernetes-validations": [rule]});
    if required {
        spec["required"] = json!(["a", "b", "s", "u", "t", "e", "l", "n", "m", "o"]);
    }
    json!({"type": "object", "properties": {"spec": spec}})
}

/// A condition on one or two fields.
fn atom(random: &mut Random, old: &str) -> String {
    let (i, j, x, y) = (int(random), int(random), text(random), text(random));
    let op = random.one_of(&["<", "<=", ">", ">=", "==", "!="]);
    let f = random.one_of(&["a", "b"]);
    match random.below(if old.is_empty() { 42 } else { 50 }) {
        0 | 1 => format!("self.{f} {op} {i}"),
        2 => format!("self.a {op} self.b"),
        3 => format!("self.{f} in [{i}, {j}]"),
        4 => format!("self.s == '{x}'"),
        5 => format!("self.s.startsWith('{x}')"),
        6 => format!("self.s.contains('{x}')"),
        7 => format!("self.s.size() {op} {}", i.abs()),
        8 => "self.s.matches('^[a-z]*$')".to_owned(),
        9 => format!("self.s.indexOf('a') {op} {}", random.one_of(&[-1, 0, 1])),
        10 => format!("self.l.size() {op} {}", i.abs()),
        11 => format!("self.l.all(x, x != '{x}')"),
        12 => format!("self.l.exists(x, x == '{x}')"),
        13 => format!("'{x}' in self.l"),
        14 => format!("self.n.all(x, x {op} {i})"),
        15 => format!("self.l.filter(x, x == '{x}').size() {op} {}", random.below(3)),
        16 => format!("self.m.all(k, self.m[k] != '{y}')"),
        17 => format!("'{x}' in self.m"),
        18 => format!("self.e in ['A', '{}']", random.one_of(&["B", "C"])),
        19 => format!("has(self.{})", random.one_of(&["a", "s", "l", "o.x"])),
        20 => "self.t".to_owned(),
        21 => random.one_of(&["isIP(self.s)", "isQuantity(self.s)", "isCIDR(self.s)"]).to_owned(),
        22 => format!("self.?a.orValue({i}) {op} {j}"),
        23 => format!("self.{f} {} {i} {op} {j}", random.one_of(&["+", "-", "*"])),
        24 => format!("sets.contains(self.l, ['{x}'])"),
        25 => format!("self.s + self.u {} '{x}{y}'", random.one_of(&["==", "!="])),
        26 => format!("self.l.exists_one(x, x == '{x}')"),
        27 => format!("self.n.sum() {op} {i}"),
        28 => random.one_of(&["self.n.isSorted()", "self.l.isSorted()"]).to_owned(),
        29 => format!("self.l.join(',').size() {op} {}", i.abs()),
        30 => format!("self.s.split('.')[0].size() {op} {}", i.abs()),
        31 => "self.l.all(x, self.l.filter(y, y == x).size() == 1)".to_owned(),
        32 => format!("self.s.endsWith('{x}') == self.t"),
        33 => format!("self.s.lowerAscii() == '{}'", x.to_lowercase()),
        34 => format!("self.l.map(x, x.size()).all(n, n {op} {})", i.abs()),
        35 => format!("self.m.exists(k, k.startsWith('{x}') && self.m[k] == '{y}')"),
        36 => format!("self.?m['{y}'].orValue('') == '{x}'"),
        37 => format!("sets.intersects(self.l, ['{x}', '{y}'])"),
        38 => "self.s.startsWith(self.u)".to_owned(),
        39 => format!("self.l.size() + self.n.size() {op} {}", i.abs()),
        40 => format!("!isQuantity(self.s) || quantity(self.s).compareTo(quantity('1Gi')) {op} 0"),
        41 => format!("self.{f} % 2 == {}", random.below(2)),
        42 | 43 => format!("self.{f} {op} {old}.{f}"),
        44 => format!("self.s == {old}.s"),
        45 => format!("self.l.all(x, x in {old}.l)"),
        46 => format!("{old}.{f} {op} {i}"),
        47 => format!("{old}.l.all(x, x in self.l)"),
        48 => format!("!has({old}.o) || has(self.o)"),
        _ => format!("self.m.all(k, k in {old}.m)"),
    }
}

fn rule(random: &mut Random, old: &str, depth: usize) -> String {
    if depth == 0 {
        return atom(random, old);
    }
    let a = rule(random, old, depth - 1);
    let below = random.below(depth);
    let mut other = || rule(random, old, below);
    let b = other();
    match random.below(7) {
        0 | 1 => format!("({a}) && ({b})"),
        2 | 3 => format!("({a}) || ({b})"),
        4 => format!("!({a})"),
        5 => format!("({a}) ? ({b}) : true"),
        _ => format!("!has(self.{}) || ({a})", random.one_of(&["a", "s", "l"])),
    }
}

/// Derives another rule: equivalent, weaker, stronger, or with another part.
fn changed(random: &mut Random, text: &str, old: &str) -> String {
    let more = atom(random, old);
    reformulated(random, text, &more)
}

/// Derives another rule, perhaps with the help of a second one.
pub(super) fn reformulated(random: &mut Random, text: &str, more: &str) -> String {
    match random.below(13) {
        10 => respelled(random, text),
        11 => format!("({text}) == true"),
        12 => format!("({more}) ? ({text}) : ({text})"),
        0 => format!("!(!({text}))"),
        1 => format!("({text}) ? true : false"),
        2 => format!("({text}) && true"),
        3 => format!("!(!({text}) || false)"),
        4 => format!("({text}) || ({more})"),
        5 => format!("({more}) || ({text})"),
        6 => format!("({text}) && ({more})"),
        7 => format!("({more}) ? ({text}) : true"),
        8 => {
            let (from, to) =
                random.one_of(&[("<=", "<"), (">=", ">"), ("all(", "exists("), ("&&", "||"), ("'a'", "'b'"), ("==", "!="), ("1", "2")]);
            text.replacen(from, to, 1)
        }
        _ => more.to_owned(),
    }
}

/// Rewrites a part of the rule in an equivalent form, if it has a known one.
fn respelled(random: &mut Random, text: &str) -> String {
    let pairs = [
        ("self.l.all(x, x != ", "!self.l.exists(x, x == "),
        ("self.l.exists(x, x == ", "!self.l.all(x, x != "),
        ("self.s.indexOf('a') >= 0", "self.s.contains('a')"),
        ("self.s.size() > 0", "self.s != ''"),
        ("self.s.size() != 0", "self.s != ''"),
        ("'a' in self.m", "has(self.m.a)"),
        ("sets.contains(self.l, ['a'])", "'a' in self.l"),
        ("self.l.size() == 0", "self.l == []"),
        ("self.a < self.b", "self.b > self.a"),
        ("self.a <= self.b", "!(self.a > self.b)"),
        ("self.e in ['A', 'B']", "(self.e == 'A' || self.e == 'B')"),
        ("self.e in ['A', 'C']", "self.e != 'B'"),
    ];
    let start = random.below(pairs.len());
    let turned = pairs.iter().cycle().skip(start).take(pairs.len());
    turned.filter(|(from, _)| text.contains(from)).map(|(from, to)| text.replacen(from, to, 1)).next().unwrap_or_else(|| text.to_owned())
}

fn object(random: &mut Random, required: bool) -> Value {
    let mut spec = Map::new();
    for name in ["a", "b", "s", "u", "t", "e", "l", "n", "m", "o"] {
        if !required && random.below(4) == 0 {
            continue;
        }
        let count = random.below(4);
        let value = match name {
            "a" | "b" => int(random).into(),
            "s" | "u" => text(random).into(),
            "t" => (random.below(2) == 0).into(),
            "e" => random.one_of(&["A", "B", "C"]).into(),
            "l" => (0..count).map(|_| Value::from(text(random))).collect(),
            "n" => (0..count).map(|_| Value::from(int(random))).collect(),
            "m" => (0..count).map(|_| (text(random).to_owned(), Value::from(text(random)))).collect::<Map<_, _>>().into(),
            _ if random.below(2) == 0 => json!({}),
            _ => json!({"x": int(random)}),
        };
        spec.insert(name.to_owned(), value);
    }
    json!({"apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "a"}, "spec": spec})
}

/// What random objects and updates show: something that is now refused, and something that now passes.
fn seen(random: &mut Random, required: bool, old: &Compiled, new: &Compiled) -> (Option<String>, Option<String>) {
    let (mut refused, mut passes) = (None, None);
    for _ in 0..OBJECTS {
        let (before, after) = (object(random, required), object(random, required));
        let created = [old, new].map(|side| side.request(before.clone()));
        let mut note = |was: bool, is: bool, what: String| match (was, is) {
            (true, false) => refused = refused.take().or(Some(what)),
            (false, true) => passes = passes.take().or(Some(what)),
            _ => {}
        };
        note(created[0].accepted(), created[1].accepted(), before["spec"].to_string());
        if created[0].accepted() && created[1].accepted() {
            let updated = [old, new].map(|side| side.request_update(&created[0].stored, after.clone()).accepted());
            note(updated[0], updated[1], format!("{} to {}", before["spec"], after["spec"]));
        }
    }
    (refused, passes)
}

#[derive(Debug, Default)]
struct Rates {
    proved: usize,
    tested: usize,
    undecided: usize,
    tested_wrong: usize,
    skipped: usize,
}

#[test]
fn no_proved_verdict_is_refuted() {
    let pairs = number_in("CRDWISE_RULE_PAIRS").and_then(|count| usize::try_from(count).ok()).unwrap_or(PAIRS);
    let mut random = Random::seeded(number_in("CRDWISE_RULE_SEED").unwrap_or(1));
    let show = std::env::var_os("SHOW").is_some();
    let mut rates = Rates::default();
    let mut wrong = Vec::new();
    for _ in 0..pairs {
        let required = random.below(3) > 0;
        let (old_self, optional) = random.one_of(&[("", false), ("", false), ("oldSelf", false), ("oldSelf.value()", true)]);
        let depth = random.below(3);
        let guard = |text: String| if optional { format!("!oldSelf.hasValue() || ({text})") } else { text };
        let text = rule(&mut random, old_self, depth);
        let (before, after) = (guard(text.clone()), guard(changed(&mut random, &text, old_self)));
        let schemas = [schema(required, &before, optional), schema(required, &after, optional)];
        let [old, new] = schemas.each_ref().map(|schema| Compiled::new(&shape(schema)));
        let found: Vec<Fact> = facts(&with_root(&schemas[0].to_string()), &with_root(&schemas[1].to_string()));
        // Only rules that servers accept count.
        let runs =
            |side: &Compiled| side.request(object(&mut Random(7), true)).errors.iter().all(|error| !error.message.contains("compile"));
        if !runs(&old) || !runs(&new) {
            rates.skipped += 1;
            continue;
        }
        let class = judged(&found).0;
        let certainty = |one: Certainty| found.iter().any(|fact| fact.evidence.certainty == one);
        let (refused, passes) = seen(&mut random, required, &old, &new);
        let mistake = match class {
            Class::None | Class::Additive if refused.is_some() => refused,
            Class::None => passes,
            _ => None,
        };
        match () {
            () if certainty(Certainty::Undecided) => rates.undecided += 1,
            () if certainty(Certainty::Tested) => {
                rates.tested += 1;
                rates.tested_wrong += usize::from(mistake.is_some());
                if let Some(object) = mistake.filter(|_| show) {
                    println!("{class} is tested, required {required}\n  {before}\n  {after}\n  {object}");
                }
            }
            () => {
                rates.proved += 1;
                wrong.extend(mistake.map(|object| format!("{class} is proved, required {required}\n  {before}\n  {after}\n  {object}")));
            }
        }
        let unshown = |fact: &&Fact| {
            let proved = fact.evidence.certainty == Certainty::Proved && fact.affects.needs_object();
            proved && fact.evidence.witness.is_none()
        };
        wrong.extend(found.iter().find(unshown).map(|_| format!("proved without an object\n  {before}\n  {after}")));
    }
    println!("{rates:?}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
