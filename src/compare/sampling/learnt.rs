//! Strings, numbers and fields that CEL rules distinguish: their literals and what is near them, and what functions treat differently.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cel::ast::{Expr, ExprKind, Literal};
use crate::cel::name::unescape;
use crate::cel::parse::read;
use crate::compare::MAX_RULE;
use crate::compare::neighbours::neighbours;

use super::library_texts::library_texts;

/// Strings that Kubernetes' CEL functions treat differently.
const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "1",
    "0",
    "ab",
    "A",
    "AB",
    "aB",
    "a.b",
    "a-b",
    "-a",
    "a,b,c",
    "a..b",
    "x",
    " ",
    "1.2.3.4",
    "10.0.0.1",
    "::1",
    "::0001",
    "FD00::A",
    "172.16.5.4",
    "10.200.0.1",
    "::ffff:1.2.3.4",
    "1111:1111:1111:1111:1111:1:123.123.123.1",
    "1111:1111:1111:1111:1111:1111:123.123.123.123",
    "10.0.0.0/8",
    "10.1.2.3/8",
    "fd00::/8",
    "10.0.1.0/24",
    "10.200.0.0/16",
    "192.168.0.0/24",
    "https://example.com/a?b=c#d",
    "http://example.com",
    "ftp://x",
    "/a",
    "1Gi",
    "2Mi",
    "2Gi",
    "4",
    "7",
    "1.5",
    "-1",
    "100m",
    "1s",
    "59s",
    "60s",
    "61s",
    "2m0s",
    "1h",
    "2019-12-31T23:59:59Z",
    "2020-01-15T00:00:00Z",
    "2021-06-15T12:30:00Z",
    "1.2.3",
    "v1.2.3",
    "1.0.0-rc.1",
    "YWI=",
    "YWI",
    "50%",
    "*.a",
    "2020-06-01T00:00:00+02:00",
    "1m30s",
    "90m",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b",
];
/// The longest string that is taken from a rule.
const MAX_TEXT: usize = 300;
/// Lengths of strings that rules may require.
const LENGTHS: std::ops::RangeInclusive<i64> = 3..=1_024;

/// The values that some rules distinguish.
#[derive(Default)]
pub(super) struct Learnt {
    pub texts: Vec<String>,
    /// How many of the texts, the first ones, are literals of the rules.
    pub written: usize,
    /// Strings for the library functions that the rules call.
    pub library: Vec<String>,
    /// Whether a rule reads a size.
    pub measures: bool,
    pub numbers: Vec<f64>,
    /// Fields that the rules mention.
    pub named: BTreeSet<String>,
}

impl Learnt {
    pub fn of<'r>(rules: impl Iterator<Item = &'r str>) -> Self {
        let mut learnt = Learnt::default();
        let rules: Vec<Arc<Expr>> = rules.filter(|rule| rule.len() <= MAX_RULE).filter_map(|rule| read(rule).ok()).collect();
        rules.iter().for_each(|rule| learnt.learn(rule));
        learnt.written = learnt.texts.len();
        for text in learnt.texts.clone() {
            learnt.learn_spellings(&text);
        }
        rules.iter().filter(|rule| measures(rule)).for_each(|rule| learnt.learn_lengths(rule));
        learnt.measures = rules.iter().any(|rule| measures(rule));
        learnt.library = library_texts(&rules);
        let known = learnt.numbers.clone();
        [0.0, 1.0, -1.0, 2.0, 3.0].into_iter().filter(|x| !known.contains(x)).for_each(|x| learnt.numbers.push(x));
        learnt.numbers.extend([5.0, 10.0, 100.0, 1e6, 2_147_483_647.0, -2_147_483_648.0, 9e15]);
        learnt.numbers.extend((-20..=20).map(f64::from));
        for text in TEXTS {
            if !learnt.texts.iter().any(|known| known == text) {
                learnt.texts.push((*text).to_owned());
            }
        }
        learnt
    }

    fn learn(&mut self, expr: &Expr) {
        let mut fields = BTreeSet::new();
        for part in expr.descendants() {
            match &part.kind {
                ExprKind::Select(select) => drop(self.named.insert(unescape(&select.field).unwrap_or_else(|| select.field.clone()))),
                // `self.?field` and `self['field']` name a field by a string.
                ExprKind::Call(call) if call.function == "_?._" => fields.extend(call.args.get(1).map(|field| field.id)),
                ExprKind::Literal(Literal::String(text)) => {
                    self.named.insert(text.clone());
                    if text.len() <= MAX_TEXT && !fields.contains(&part.id) && !self.texts.contains(text) {
                        self.texts.push(text.clone());
                    }
                }
                ExprKind::Literal(Literal::Int(n)) => self.number(*n as f64),
                ExprKind::Literal(Literal::Double(x)) => self.number(*x),
                _ => {}
            }
        }
    }

    /// Adds strings that are close to a literal.
    fn learn_spellings(&mut self, text: &str) {
        let shorter: String = text.chars().take(text.chars().count().saturating_sub(1)).collect();
        let spellings = [format!("{text}x"), format!("x{text}"), shorter, text.to_uppercase(), text.to_lowercase()];
        let spellings = spellings.into_iter().chain([format!("{text}{text}"), format!("{text}.example.com/x")]);
        for text in spellings.chain(neighbours(text)).filter(|text| text.len() <= MAX_TEXT) {
            if !self.texts.contains(&text) {
                self.texts.push(text);
            }
        }
    }

    /// Adds strings with the lengths in a rule, and one longer or shorter.
    fn learn_lengths(&mut self, expr: &Expr) {
        for part in expr.descendants() {
            let ExprKind::Literal(Literal::Int(n)) = part.kind else { continue };
            for length in [n, n.saturating_add(1), n.saturating_sub(1)].into_iter().filter(|length| LENGTHS.contains(length)) {
                let text = "a".repeat(usize::try_from(length).unwrap_or(0));
                if !self.texts.contains(&text) {
                    self.texts.push(text);
                }
            }
        }
    }

    fn number(&mut self, x: f64) {
        for x in [x, x + 1.0, x - 1.0, x + 0.5, -x, 2.0 * x] {
            if !self.numbers.contains(&x) {
                self.numbers.push(x);
            }
        }
    }
}

/// Whether a rule reads a size.
fn measures(rule: &Expr) -> bool {
    rule.descendants().into_iter().any(|part| matches!(&part.kind, ExprKind::Call(call) if call.function == "size"))
}
