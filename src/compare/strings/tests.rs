use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::compare::budget::MAX_STATES;
use crate::model::relation::{Comparison, Relation};

fn gains(value: String) -> Comparison<String> {
    Comparison::of(Search::Impossible, Search::Found(value), Search::Impossible)
}

fn loses(value: String) -> Comparison<String> {
    Comparison::of(Search::Found(value), Search::Impossible, Search::Impossible)
}

fn differs(lost: String, gained: String) -> Comparison<String> {
    Comparison::of(Search::Found(lost), Search::Found(gained), Search::Impossible)
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn found(text: &str) -> Search<String> {
    Search::Found(text.to_string())
}

fn order_of(left: &str, right: &str) -> Comparison<String> {
    let (left, right) = (pattern(left), pattern(right));
    let of = |pattern| TextDomain { patterns: vec![pattern], ..TextDomain::default() };
    of(&left).order(&of(&right), &Budget::of_each())
}

#[test]
fn equal_rewrites_are_equal() {
    for (left, right) in [
        ("^[a-z]+$", "^[a-z][a-z]*$"),
        ("^(100|[1-9]?[0-9])%$", "^([0-9]|[1-9][0-9]|100)%$"),
        ("^[0-9]+(Ki|Mi|Gi)$", "^[0-9]+[KMG]i$"),
        ("^/[a-z/]*$", "^/([a-z]|/)*$"),
        ("^[0-9a-f]{4}$", "^([0-9a-f]{2}){2}$"),
        ("^[^@]+@[^@]+$", "^[^@]+@{1}[^@]+$"),
        ("^\\d+$", "^[0-9]+$"),
        ("a|b", "[ab]"),
        (".*", ""),
        ("(.)", "."),
        ("^\\w*$", "^(?i)[a-z0-9_]*$"),
        ("(?m)^a", "(?:^|\\n)a"),
        ("\\bfoo\\b", "(?:^|\\W)foo(?:\\W|$)"),
        ("^(a|b)*$", "^(?:a*b*)*$"),
        ("^(?s:.*)$", ""),
        ("^.{0,10}$", "^(?:|.{1,9}.?)$"),
    ] {
        let order = order_of(left, right);
        match (left, right) {
            // Case folding adds the long s and the Kelvin sign.
            ("^\\w*$", _) => assert_eq!(order, gains("ſ".into())),
            _ => assert_eq!(order, Comparison::equal(), "{left} against {right}"),
        }
    }
}

#[test]
fn witnesses_are_short_and_readable() {
    let only_left = |left: &str, right: &str| {
        let order = order_of(left, right);
        assert_eq!(order.relation, Relation::Narrower, "{left} against {right}: {order:?}");
        order.lost.unwrap()
    };
    assert_eq!(only_left("^[a-z0-9]+$", "^[a-z][a-z0-9]*$"), "0");
    assert_eq!(only_left("", "^.*$"), "\n");
    assert_eq!(only_left("^[a-z.-]+$", "^[a-z]([-a-z.]*[a-z])?$"), "-");
    assert_eq!(only_left("[a-z]+", "^[a-z]+$"), "a0");
    assert_eq!(only_left("^a{0,20}$", "^a{0,19}$"), "a".repeat(20));
    assert_eq!(only_left("^\\pL+$", "^[a-z]+$"), "A");
    assert_eq!(only_left("^[a-zé]$", "^[a-z]$"), "é");
}

#[test]
fn lengths_and_patterns_together() {
    let name = pattern("^[a-z]+$");
    let ten = pattern("^[a-z]{1,10}$");
    let dots = pattern("^.{0,10}$");
    let bytes = pattern("^(?s).{0,10}$");
    let short = TextDomain { max_length: Some(10), ..TextDomain::default() };
    let with = |pattern, max_length| TextDomain { patterns: vec![pattern], max_length, ..TextDomain::default() };
    assert_eq!(with(&name, Some(10)).order(&with(&ten, None), &Budget::of_each()), Comparison::equal());
    assert_eq!(short.order(&with(&bytes, None), &Budget::of_each()), Comparison::equal());
    assert_eq!(short.order(&with(&dots, None), &Budget::of_each()), loses("\n".into()));
    assert_eq!(with(&name, Some(11)).order(&with(&ten, None), &Budget::of_each()), loses("a".repeat(11)));
}

#[test]
fn lengths_alone() {
    let of = |min_length, max_length| TextDomain { min_length, max_length, ..TextDomain::default() };
    assert_eq!(of(0, None).order(&of(1, None), &Budget::of_each()), loses(String::new()));
    assert_eq!(of(0, Some(65536)).order(&of(0, Some(65535)), &Budget::of_each()), loses("a".repeat(65536)));
    assert_eq!(of(3, Some(2)).order(&of(9, Some(8)), &Budget::of_each()), Comparison::equal());
    assert!(of(0, Some(1 << 40)).order(&of(0, Some(1 << 30)), &Budget::of_each()).relation == Relation::Undecided);
    let odd = pattern("^(?:ab)*a$");
    let goal = TextGoal { min_length: 1000, matches: vec![&odd], ..TextGoal::default() };
    let Search::Found(word) = goal.find(&Budget::of_each()) else { panic!("{:?}", goal.find(&Budget::of_each())) };
    assert!(goal.accepts(&word) && word.len() == 1001);
    let turning = pattern("^[ab]*c[ab]*$");
    let goal = TextGoal { min_length: 5000, matches: vec![&turning], ..TextGoal::default() };
    let Search::Found(word) = goal.find(&Budget::of_each()) else { panic!("{:?}", goal.find(&Budget::of_each())) };
    assert!(goal.accepts(&word) && word.len() == 5000);
}

#[test]
fn enums_against_everything() {
    let colours = pattern("^(red|green|blue)$");
    let by_pattern = TextDomain { patterns: vec![&colours], ..TextDomain::default() };
    let by_list = |list: &[&'static str]| TextDomain { allowed: Some(list.to_vec()), ..TextDomain::default() };
    assert_eq!(by_list(&["red", "green", "blue"]).order(&by_pattern, &Budget::of_each()), Comparison::equal());
    assert_eq!(by_pattern.order(&by_list(&["red", "blue"]), &Budget::of_each()), loses("green".into()));
    assert_eq!(by_list(&["red", "cyan"]).order(&by_pattern, &Budget::of_each()), differs("cyan".into(), "blue".into()));
    let limited = TextDomain { max_length: Some(9), ..by_list(&["red"]) };
    assert_eq!(limited.order(&by_list(&["red"]), &Budget::of_each()), Comparison::equal());
    let rest = TextGoal { excluded: vec!["", "a", "b", "0"], max_length: Some(1), ..TextGoal::default() };
    assert_eq!(rest.find(&Budget::of_each()), found("c"));
    let nothing = TextGoal { excluded: vec![""], max_length: Some(0), ..TextGoal::default() };
    assert_eq!(nothing.find(&Budget::of_each()), Search::Impossible);
}

#[test]
fn formats_compare() {
    let of = |format| TextDomain { formats: vec![format], ..TextDomain::default() };
    let any = TextDomain::default();
    for format in Format::all() {
        assert_eq!(of(format).order(&of(format), &Budget::of_each()), Comparison::equal(), "{format:?}");
        match (format, of(format).order(&any, &Budget::of_each())) {
            (Format::Password, order) => assert_eq!(order, Comparison::equal()),
            (_, order) => {
                assert_eq!(order.relation, Relation::Wider, "{format:?}: {order:?}");
                assert!(order.gained.is_some_and(|text| !format.is_valid(&text)));
            }
        }
    }
    let contained = [
        (Format::Uuid4, Format::Uuid),
        (Format::K8sShortName, Format::K8sLongName),
        (Format::Isbn10, Format::Isbn),
        (Format::Ipv4, Format::Password),
    ];
    for (narrow, wide) in contained {
        let order = of(narrow).order(&of(wide), &Budget::of_each());
        assert!(order.relation == Relation::Wider, "{narrow:?} in {wide:?}: {order:?}");
    }
    let uuid = pattern("^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$");
    let by_pattern = TextDomain { patterns: vec![&uuid], ..TextDomain::default() };
    assert_eq!(by_pattern.order(&of(Format::Uuid), &Budget::of_each()), Comparison::equal());
    let label = pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$");
    let name = TextDomain { patterns: vec![&label], max_length: Some(63), ..TextDomain::default() };
    assert_eq!(name.order(&of(Format::K8sShortName), &Budget::of_each()), Comparison::equal());
    for (a, b) in [(Format::Uri, Format::Hostname), (Format::Email, Format::Duration), (Format::Date, Format::Uri)] {
        let order = of(a).order(&of(b), &Budget::of_each());
        assert!(order.relation == Relation::Incomparable && order.reason.is_none(), "{a:?} {b:?}: {order:?}");
    }
    let seconds = pattern("^[0-9]{1,9}s$");
    let durations = TextDomain { patterns: vec![&seconds], ..TextDomain::default() };
    assert!(durations.order(&of(Format::Duration), &Budget::of_each()).relation == Relation::Wider);
}

#[test]
fn hard_patterns_end() {
    let a = pattern("(a|b)*a(a|b){30}c");
    let b = pattern("(a|b)*b(a|b){29}c");
    let goal = TextGoal { matches: vec![&a], avoids: vec![&b], ..TextGoal::default() };
    match goal.find(&Budget::of_each()) {
        Search::Found(word) => assert!(goal.accepts(&word)),
        Search::Impossible => panic!("there is one"),
        Search::Undecided(_) => {}
    }
}

/// Patterns over a small alphabet, with everything that can go wrong: anchors, boundaries, counts, flags.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "b",
        ".",
        "[ab]",
        "[^a]",
        "\\n",
        "\\b",
        "\\B",
        "^",
        "$",
        "(?m:^)",
        "(?m:$)",
        "\\w",
        "\\W",
        "é",
        "(?i:A)",
        "(?s:.)",
        "\\A",
        "\\z",
        "[^\\x00-\\x{10FFFF}]",
        "",
    ]);
    let tree = leaf.prop_map(String::from).prop_recursive(4, 24, 3, |inner| {
        let times = prop::sample::select(vec!["*", "+", "?", "{2}", "{0,2}", "{1,}"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (inner, times).prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    });
    (any::<bool>(), tree, any::<bool>())
        .prop_map(|(start, tree, end)| format!("{}(?:{tree}){}", if start { "^" } else { "" }, if end { "$" } else { "" }))
}

/// All strings of up to three characters that such patterns can distinguish, and some longer ones.
fn strings() -> Vec<String> {
    let letters = ["a", "b", "A", "-", "\n", "é"];
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..3 {
        let to = all.len();
        for i in from..to {
            for letter in letters {
                all.push(format!("{}{letter}", all[i]));
            }
        }
        from = to;
    }
    all.extend(["aaaa", "abab", "a\nb\na", "bbbbb", "aaaaaaaa", "a-b-a-b"].map(String::from));
    all
}

#[test]
fn searches_of_one_comparison_share_their_work() {
    let intricate: Vec<_> = (20..60).map(|count| (pattern(&format!("^(a|b)*a(a|b){{{count}}}$")), pattern("^(b|a)*a(a|b){19}$"))).collect();
    let budget = Budget::shared();
    for (old, new) in &intricate {
        let goal = TextGoal { matches: vec![old], avoids: vec![new], min_length: 60, ..TextGoal::default() };
        assert!(matches!(goal.find(&budget), Search::Undecided(_)));
    }
    assert!(budget.states(|| 0).is_some_and(|states| states < MAX_STATES), "all is used up");
    // Simple searches still succeed.
    let (digits, zero) = (pattern("^[0-9]+$"), pattern("^0$"));
    let goal = TextGoal { matches: vec![&digits], avoids: vec![&zero], ..TextGoal::default() };
    assert!(matches!(goal.find(&budget), Search::Found(word) if word != "0"));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_string_contradicts_the_order(left in patterns(), right in patterns(), lengths in prop::option::of((0u64..3, 0u64..5)), other in prop::option::of(0u64..5)) {
        let (left, right) = (pattern(&left), pattern(&right));
        let a = TextDomain {
            patterns: vec![&left],
            min_length: lengths.map_or(0, |(min, _)| min),
            max_length: lengths.map(|(min, more)| min + more),
            ..TextDomain::default()
        };
        let b = TextDomain { patterns: vec![&right], max_length: other, ..TextDomain::default() };
        let order = a.order(&b, &Budget::of_each());
        let strings = strings();
        let only_left = strings.iter().find(|text| a.accepts(text) && !b.accepts(text));
        let only_right = strings.iter().find(|text| b.accepts(text) && !a.accepts(text));
        prop_assert!(order.reason.is_none(), "{:?}", order);
        let (left_claim, right_claim) = (order.lost.as_ref(), order.gained.as_ref());
        prop_assert_eq!(only_left.is_some() && left_claim.is_none(), false, "{:?} misses {:?}", order, only_left);
        prop_assert_eq!(only_right.is_some() && right_claim.is_none(), false, "{:?} misses {:?}", order, only_right);
        if let Some(witness) = left_claim {
            prop_assert!(a.accepts(witness) && !b.accepts(witness), "{:?}", witness);
            if let Some(shorter) = only_left {
                prop_assert!(witness.chars().count() <= shorter.chars().count());
            }
        }
        if let Some(witness) = right_claim {
            prop_assert!(b.accepts(witness) && !a.accepts(witness), "{:?}", witness);
        }
    }

    #[test]
    fn goals_are_met(must in prop::collection::vec(patterns(), 0..3), must_not in prop::collection::vec(patterns(), 0..3),
        excluded in prop::collection::vec(prop::sample::select(vec!["", "a", "b", "aa", "é", "ab"]), 0..4), min_length in 0u64..4) {
        let must: Vec<_> = must.iter().map(|text| pattern(text)).collect();
        let must_not: Vec<_> = must_not.iter().map(|text| pattern(text)).collect();
        let goal = TextGoal {
            matches: must.iter().collect(),
            avoids: must_not.iter().collect(),
            excluded,
            min_length,
            ..TextGoal::default()
        };
        match goal.find(&Budget::of_each()) {
            Search::Found(word) => prop_assert!(goal.accepts(&word), "{:?}", word),
            Search::Impossible => {
                let fits = strings().into_iter().find(|text| goal.accepts(text));
                prop_assert_eq!(fits, None);
            }
            Search::Undecided(reason) => prop_assert!(false, "{}", reason),
        }
    }
}

impl<'a> TextDomain<'a> {
    pub fn accepts(&self, text: &str) -> bool {
        self.goal().accepts(text)
    }

    /// A string in this domain that isn't in the other.
    pub fn minus(&self, other: &TextDomain<'a>, budget: &Budget) -> Search<String> {
        let here = self.goal();
        if let Some(allowed) = &here.allowed {
            let outside = allowed.iter().filter(|text| !other.accepts(text));
            return TextGoal { allowed: Some(outside.copied().collect()), ..here }.find(budget);
        }
        let shorter = other
            .min_length
            .checked_sub(1)
            .map(|max| TextGoal { max_length: Some(here.max_length.map_or(max, |own| own.min(max))), ..here.clone() });
        let longer = other.max_length.map(|max| TextGoal { min_length: here.min_length.max(max.saturating_add(1)), ..here.clone() });
        let mut goals: Vec<_> = other
            .patterns
            .iter()
            .filter(|pattern| !here.matches.contains(pattern))
            .map(|&pattern| TextGoal { avoids: vec![pattern], ..here.clone() })
            .collect();
        goals.extend(other.formats.iter().map(|&format| TextGoal { not_formats: vec![format], ..here.clone() }));
        goals.extend(other.allowed.iter().map(|allowed| TextGoal { excluded: allowed.clone(), ..here.clone() }));
        goals.extend(shorter);
        goals.extend(longer);
        let mut best: Option<String> = None;
        let mut open = None;
        for goal in goals {
            let shortest = best.as_ref().map(|best| best.chars().count() as u64);
            if shortest.is_some_and(|shortest| shortest <= goal.min_length) {
                continue;
            }
            match goal.find(budget) {
                Search::Found(text) if shortest.is_none_or(|shortest| (text.chars().count() as u64) < shortest) => {
                    best = Some(text);
                }
                Search::Undecided(reason) => open = open.or(Some(reason)),
                _ => {}
            }
        }
        best.ok_or(open).into()
    }

    /// Compares the two sets, with a string for each side that the other side doesn't have.
    pub fn order(&self, other: &TextDomain<'a>, budget: &Budget) -> Comparison<String> {
        Comparison::of(self.minus(other, budget), other.minus(self, budget), Search::Impossible)
    }
}
