//! Suggests bounds that bring a rule under its cost limit.
//!
//! For a rule that costs too much, returns the unbounded lists, maps and strings that matter, with values that suffice. They are
//! only a suggestion: tight enough for the server, and as generous as that allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::FieldPath;

use super::cost;
use super::decl::{Decl, DeclKind, MAX_REQUEST};
use super::eval::Program;
use super::reads::reads;
use super::rule_check::CheckedRule;
use super::site::Site;

/// How many candidates are considered; a rule that reads more unbounded nodes must be rewritten anyway.
const MAX_CANDIDATES: usize = 48;
/// Common lengths and counts, largest first.
const LENGTHS: [u64; 6] = [4_096, 1_024, 253, 63, 32, 16];
const COUNTS: [u64; 17] = [1_000, 500, 256, 128, 100, 64, 50, 32, 20, 16, 10, 8, 5, 4, 3, 2, 1];
/// Shorter strings are preferred over a list bounded below this.
const DECENT_COUNT: u64 = 16;

/// A bound to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedBound {
    /// The path of the node in the object.
    pub path: FieldPath,
    /// `maxItems`, `maxLength` or `maxProperties`.
    pub keyword: &'static str,
    pub value: u64,
}

/// Finds bounds that bring the cost of `rule` to at most `budget`; `None` if no bounds do and the rule itself must change.
pub fn advise(site: &Site<'_>, rule: &CheckedRule<'_>, budget: u64) -> Option<Vec<SuggestedBound>> {
    let program = rule.program.as_ref()?;
    let mut candidates = candidates(site, &rule.rule.rule);
    let smallest: Bounds = candidates.iter().map(|c| (c.path.clone(), 1)).collect();
    if total(site, program, &smallest) > budget {
        return None;
    }
    candidates.retain(|c| {
        let mut without = smallest.clone();
        without.remove(&c.path);
        total(site, program, &without) != total(site, program, &smallest)
    });
    choose(site, program, &candidates, budget)
}

type Bounds = BTreeMap<FieldPath, u64>;

struct Candidate {
    path: FieldPath,
    keyword: &'static str,
}

fn choose(site: &Site<'_>, program: &Program, candidates: &[Candidate], budget: u64) -> Option<Vec<SuggestedBound>> {
    let has = |text: bool| candidates.iter().any(|c| (c.keyword == "maxLength") == text);
    let lengths = if has(true) { &LENGTHS[..] } else { &LENGTHS[..1] };
    let counts = if has(false) { &COUNTS[..] } else { &COUNTS[..1] };
    let mut best: Option<(u64, u64)> = None;
    for length in lengths {
        let value = |c: &Candidate, count: u64| if c.keyword == "maxLength" { *length } else { count };
        let fits = |count: &&u64| {
            let bounds: Bounds = candidates.iter().map(|c| (c.path.clone(), value(c, **count))).collect();
            total(site, program, &bounds) <= budget
        };
        let Some(count) = counts.iter().find(fits) else { continue };
        if best.is_none_or(|(_, before)| *count > before) {
            best = Some((*length, *count));
        }
        if *count >= DECENT_COUNT {
            break;
        }
    }
    let (length, count) = best?;
    let bound = |c: &Candidate| {
        let value = if c.keyword == "maxLength" { length } else { count };
        SuggestedBound { path: c.path.clone(), keyword: c.keyword, value }
    };
    Some(candidates.iter().map(bound).collect())
}

/// The unbounded containers around the node, and the unbounded nodes below it that the rule may read.
fn candidates(site: &Site<'_>, rule: &str) -> Vec<Candidate> {
    let around = site.around.iter().filter(|container| container.max.is_none());
    let mut out: Vec<Candidate> = around
        .map(|container| Candidate { path: container.path.clone(), keyword: if container.is_list { "maxItems" } else { "maxProperties" } })
        .collect();
    let reads = reads(rule);
    // Map values may be written like list items, because they can't be distinguished without types.
    let plain = |path: &FieldPath| path.to_string().replace("{}", "[]");
    let fields: Vec<String> = reads.fields.iter().chain(&reads.old_fields).map(plain).collect();
    let mut below = vec![];
    unbounded(&site.decl, FieldPath::root(), &mut below);
    for (relative, keyword) in below {
        let text = plain(&relative);
        if fields.iter().any(|field| field.starts_with(&text) || text.starts_with(field.as_str())) && out.len() < MAX_CANDIDATES {
            out.push(Candidate { path: site.path.join(relative.steps()), keyword });
        }
    }
    out
}

fn unbounded(decl: &Decl, path: FieldPath, out: &mut Vec<(FieldPath, &'static str)>) {
    if !decl.bounded {
        let keyword = match decl.kind {
            DeclKind::List { .. } => "maxItems",
            DeclKind::Map { .. } => "maxProperties",
            _ => "maxLength",
        };
        out.push((path.clone(), keyword));
    }
    match &decl.kind {
        DeclKind::List { item, .. } => unbounded(item, path.items(), out),
        DeclKind::Map { value } => unbounded(value, path.values(), out),
        DeclKind::Object(object) => object.fields.iter().for_each(|(name, field)| unbounded(field, path.key(name), out)),
        _ => {}
    }
}

/// The cost of all runs of the rule with these bounds.
fn total(site: &Site<'_>, program: &Program, bounds: &Bounds) -> u64 {
    let decl = with_bounds(&site.decl, &site.path, bounds);
    let once = cost::cost(program.checked(), &decl, site.shape.kubernetes.minor().server());
    let occurrences = site.around.iter().try_fold(1_u64, |product, container| {
        let max = container.max.or_else(|| bounds.get(&container.path).copied())?;
        Some(product.saturating_mul(max))
    });
    once.saturating_mul(occurrences.unwrap_or((MAX_REQUEST / (decl.min_bytes + 1).max(1)) as u64))
}

fn with_bounds(decl: &Decl, path: &FieldPath, bounds: &Bounds) -> Decl {
    let mut out = decl.clone();
    if let Some(bound) = bounds.get(path) {
        let bytes_each = if matches!(decl.kind, DeclKind::String | DeclKind::IntOrString) { 4 } else { 1 };
        out.max_size = bound.saturating_mul(bytes_each);
        out.bounded = true;
    }
    match &mut out.kind {
        DeclKind::List { item, .. } => *item = Arc::new(with_bounds(item, &path.items(), bounds)),
        DeclKind::Map { value } => *value = Arc::new(with_bounds(value, &path.values(), bounds)),
        DeclKind::Object(object) => {
            for (name, field) in &mut object.fields {
                *field = Arc::new(with_bounds(field, &path.key(name), bounds));
            }
        }
        _ => {}
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cel::rule_check::{RULE_LIMIT, StoredExpressions, check_rules};
    use crate::testing::shape;

    fn advice(schema: &Value) -> Option<Vec<(String, &'static str, u64)>> {
        let shape = shape(schema);
        let sites = check_rules(&shape, &StoredExpressions::default());
        let site = sites.first().expect("a site");
        let rule = site.rules.first().expect("a rule");
        assert!(rule.cost > RULE_LIMIT);
        let bounds = advise(&site.site, rule, RULE_LIMIT)?;
        Some(bounds.into_iter().map(|b| (b.path.to_string(), b.keyword, b.value)).collect())
    }

    #[test]
    fn only_relevant_bounds_are_suggested() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "names": {"type": "array", "items": {"type": "string"}},
            "other": {"type": "array", "items": {"type": "string"}}},
            "x-kubernetes-validations": [{"rule": "self.names.all(x, self.names.all(y, x == y))"}]}}});
        let advice = advice(&schema).expect("advice");
        assert_eq!(
            advice.iter().map(|(path, keyword, _)| (path.as_str(), *keyword)).collect::<Vec<_>>(),
            [("spec.names", "maxItems"), ("spec.names[]", "maxLength")]
        );
        assert!(advice.iter().all(|(_, _, value)| *value >= 16));
    }

    #[test]
    fn lists_around_the_rule_count() {
        let schema = json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string",
            "x-kubernetes-validations": [{"rule": "self.matches('^[a-z]+$')"}]}}}});
        assert_eq!(advice(&schema), Some(vec![("l".into(), "maxItems", 1_000), ("l[]".into(), "maxLength", 4_096)]));
    }

    #[test]
    fn some_rules_cannot_be_fixed_with_bounds() {
        let text = "a".repeat(4_000);
        let rule = format!("'{text}'.contains('{text}') && '{text}'.matches('{text}') && lists.range(99999999).size() > 1");
        let schema = json!({"type": "object", "properties": {"l": {"type": "string", "x-kubernetes-validations": [{"rule": rule}]}}});
        assert_eq!(advice(&schema), None);
    }
}
