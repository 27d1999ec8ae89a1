//! The cost of calls: cel-go's table by overload, preceded by Kubernetes' table by function.

use super::estimate::Estimate;
use super::{CallCost, Coster, EntrySize, Node};
use crate::cel::ast::{Expr, Literal};
use crate::cel::types::CelType;
use crate::model::kubernetes::Feature;

/// The cost of traversing one character.
const TRAVERSAL: f64 = 0.1;
/// The cost of a pattern character per character of text.
const REGEX: f64 = 0.25;
const LIST_CREATION: u64 = 10;
/// The longest pattern of a named format, and the longest name.
const MAX_FORMAT_REGEX: f64 = 128.0;
const MAX_FORMAT_NAME: u64 = 64;

type Args<'a, 'e> = &'a [Node<'e>];

impl<'e> Coster<'e> {
    /// The cost of one overload with the costs of its arguments.
    pub(super) fn overload(
        &mut self,
        e: &'e Expr,
        function: &str,
        overload: &str,
        target: Option<&Node<'e>>,
        args: Args<'_, 'e>,
        costs: &[Estimate],
    ) -> CallCost {
        let arguments = costs.iter().fold(Estimate::ZERO, |sum, cost| sum.add(*cost));
        let found = self.extension(overload, target, args);
        let found = found.or_else(|| self.kubernetes(function, overload, target, args));
        if let Some(CallCost { cost, result }) = found {
            return CallCost { cost: cost.add(arguments), result };
        }
        self.standard(e, overload, target, args, costs, arguments)
    }

    fn size_of(&self, node: &Node<'e>) -> Estimate {
        node.size.or_else(|| self.declared_size(&node.path)).unwrap_or(Estimate::UNKNOWN)
    }

    /// The sets and lists extensions of cel-go.
    fn extension(&self, overload: &str, target: Option<&Node<'e>>, args: Args<'_, 'e>) -> Option<CallCost> {
        if let ("list_sets_contains_list" | "list_sets_intersects_list" | "list_sets_equivalent_list", [a, b]) = (overload, args) {
            let factor = if overload == "list_sets_equivalent_list" { 2.0 } else { 1.0 };
            let product = self.size_of(a).multiply(self.size_of(b));
            return plain(product.scale(factor).add(Estimate::fixed(1)));
        }
        match (overload, target, args) {
            ("list_slice", Some(list), [start, end]) => {
                let end = int_value(end, self.size_of(list).max);
                allocating(1.0, Estimate::fixed(end.wrapping_sub(int_value(start, 0))))
            }
            ("lists_range", None, [n]) => allocating(1.0, Estimate::fixed(int_value(n, u64::MAX))),
            ("list_reverse", Some(list), []) | ("list_flatten", Some(list), []) => allocating(1.0, self.size_of(list)),
            ("list_flatten_int", Some(list), [depth]) => allocating(int_value(depth, u64::MAX) as f64, self.size_of(list)),
            ("list_distinct", Some(list), []) => {
                let size = self.size_of(list);
                allocating(2.0, size.multiply(size))
            }
            _ => {
                let by_key = overload.strip_suffix("_sortByAssociatedKeys");
                let item = by_key.or_else(|| overload.strip_suffix("_sort"))?.strip_prefix("list_")?;
                let keys = if by_key.is_some() { args.first()? } else { target? };
                let factor = if matches!(item, "string" | "bytes") { 2.0 + TRAVERSAL } else { 2.0 };
                let size = self.size_of(keys);
                allocating(factor, size.multiply(size))
            }
        }
    }

    fn kubernetes(&self, function: &str, overload: &str, target: Option<&Node<'e>>, args: Args<'_, 'e>) -> Option<CallCost> {
        match (function, target, args) {
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes", Some(target), _) => {
                let size = self.size_of(target);
                let Some(element) = self.element(target) else {
                    return plain(if function == "includes" { size } else { size.scale(TRAVERSAL) });
                };
                let mut each = Estimate::fixed(1);
                if matches!(element.t, CelType::String | CelType::Bytes) {
                    each = each.add(self.size_of(&element).scale(TRAVERSAL));
                }
                plain(size.multiply(each))
            }
            ("url", _, [arg]) if !self.has(Feature::BoundedEquality) => plain(self.size_of(arg).scale(TRAVERSAL)),
            ("url", _, [arg]) => sized(self.size_of(arg).scale(TRAVERSAL), self.size_of(arg)),
            ("quantity" | "isQuantity", ..) if !self.has(Feature::CountedQuantities) => None,
            ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target), _) => {
                let size = self.size_of(target);
                sized(size.scale(TRAVERSAL), size)
            }
            ("replace", Some(target), [old, new, ..]) => {
                let (text, old, new) = (self.size_of(target), self.size_of(old), self.size_of(new));
                sized(text.scale(2.0 * TRAVERSAL), replaced(text, old, new))
            }
            ("split", Some(target), args) => {
                let size = self.size_of(target);
                let limit = args.get(1).and_then(|arg| arg.expr).and_then(Expr::literal);
                let max = match limit {
                    Some(Literal::Int(n)) => *n as u64,
                    _ => size.max,
                };
                sized(size.scale(2.0 * TRAVERSAL), Estimate { min: 0, max })
            }
            ("join", Some(target), args) => Some(self.join(target, args.first())),
            ("find" | "findAll", Some(target), [pattern, ..]) => {
                let size = self.size_of(target);
                let text = size.add(Estimate::fixed(1)).scale(TRAVERSAL);
                sized(text.multiply(self.size_of(pattern).scale(REGEX)), Estimate { min: 0, max: size.max })
            }
            ("ip", Some(_), []) => plain(Estimate::fixed(1)),
            ("cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver", _, [text, ..]) => {
                plain(self.size_of(text).scale(TRAVERSAL))
            }
            ("ip.isCanonical", _, [text, ..]) => plain(self.size_of(text).scale(2.0 * TRAVERSAL)),
            (
                "masked"
                | "prefixLength"
                | "family"
                | "isUnspecified"
                | "isLoopback"
                | "isLinkLocalMulticast"
                | "isLinkLocalUnicast"
                | "isGlobalUnicast",
                ..,
            ) => plain(Estimate::fixed(1)),
            ("containsIP" | "containsCIDR", Some(_), [other, ..]) => {
                let bytes = Estimate { min: 4, max: 16 };
                let mut cost = bytes.add(bytes).scale(TRAVERSAL);
                if function == "containsCIDR" {
                    cost = cost.add(bytes.scale(TRAVERSAL)).add(Estimate::fixed(1));
                }
                if matches!(overload, "cidr_contains_ip_string" | "cidr_contains_cidr_string") {
                    cost = cost.add(self.size_of(other).scale(TRAVERSAL));
                }
                plain(cost)
            }
            ("validate", Some(_), [text, ..]) => plain(self.size_of(text).scale(TRAVERSAL).scale(MAX_FORMAT_REGEX * REGEX)),
            (
                "format.named" | "sign" | "asInteger" | "isInteger" | "asApproximateFloat" | "isGreaterThan" | "isLessThan" | "compareTo"
                | "add" | "sub" | "major" | "minor" | "patch" | "getScheme" | "getHostname" | "getHost" | "getPort" | "getEscapedPath"
                | "getQuery",
                ..,
            ) => plain(Estimate::fixed(1)),
            ("_==_", _, [a, b]) if a.t == b.t => equality(&a.t, b).filter(|_| self.has(Feature::BoundedEquality)),
            _ => None,
        }
    }

    fn join(&self, target: &Node<'e>, separator: Option<&Node<'e>>) -> CallCost {
        let list = self.size_of(target);
        let mut size = self.element(target).map_or(Estimate::ZERO, |item| list.multiply(self.size_of(&item)));
        if let Some(separator) = separator {
            let gaps = Estimate { min: list.min.saturating_sub(1), max: list.max.saturating_sub(1) };
            size = size.add(self.size_of(separator).multiply(gaps));
        }
        CallCost { cost: size.scale(TRAVERSAL), result: Some(size) }
    }

    fn standard(
        &mut self,
        e: &'e Expr,
        overload: &str,
        target: Option<&Node<'e>>,
        args: Args<'_, 'e>,
        costs: &[Estimate],
        arguments: Estimate,
    ) -> CallCost {
        let known = |node: &Node<'e>| node.size.unwrap_or(Estimate::UNKNOWN);
        let (cost, result) = match (overload, target, args) {
            ("string_format", Some(target), _) => (known(target).scale(TRAVERSAL), None),
            ("string_to_bytes", _, [arg]) => {
                let size = known(arg);
                (size.scale(TRAVERSAL), Some(Estimate { min: size.min, max: size.max.wrapping_mul(4) }))
            }
            ("bytes_to_string", _, [arg]) => {
                let size = known(arg);
                (size.scale(TRAVERSAL), Some(Estimate { min: size.min / 4, max: size.max }))
            }
            ("strings_quote", _, [arg]) => {
                let size = known(arg);
                let result = Estimate { min: size.min.wrapping_add(2), max: size.max.wrapping_mul(2).wrapping_add(2) };
                (size.scale(TRAVERSAL), Some(result))
            }
            ("starts_with_string" | "ends_with_string", _, [arg]) => (known(arg).scale(TRAVERSAL), None),
            ("in_list", _, [_, list]) => (known(list), None),
            ("matches_string", Some(target), [pattern]) => {
                let text = known(target).add(Estimate::fixed(1)).scale(TRAVERSAL);
                (text.multiply(known(pattern).scale(REGEX)), None)
            }
            ("contains_string", Some(target), [part]) => (known(target).scale(TRAVERSAL).multiply(known(part).scale(TRAVERSAL)), None),
            ("logical_or" | "logical_and", _, _) => {
                let (first, second) = (costs.first().copied().unwrap_or(Estimate::ZERO), costs.get(1).copied().unwrap_or(Estimate::ZERO));
                return CallCost { cost: Estimate { min: first.min, max: first.add(second).max }, result: None };
            }
            ("conditional", _, [_, yes, no]) => {
                let size = known(yes).union(known(no));
                let sides = (yes.expr.and_then(|e| self.entry_size(e)), no.expr.and_then(|e| self.entry_size(e)));
                if let Some(entry) = EntrySize::union(sides.0, sides.1) {
                    self.entries.insert(e.id, entry);
                }
                let at = |i: usize| costs.get(i).copied().unwrap_or(Estimate::ZERO);
                return CallCost { cost: at(0).add(at(1).union(at(2))), result: Some(size) };
            }
            ("add_string" | "add_bytes" | "add_list", _, [a, b]) => {
                let size = known(a).add(known(b));
                let sides = (a.expr.and_then(|e| self.entry_size(e)), b.expr.and_then(|e| self.entry_size(e)));
                if let Some(entry) = EntrySize::union(sides.0, sides.1) {
                    self.entries.insert(e.id, entry);
                }
                let cost = if overload == "add_list" { Estimate::fixed(1) } else { size.scale(TRAVERSAL) };
                (cost, Some(size))
            }
            (
                "less_string"
                | "greater_string"
                | "less_equals_string"
                | "greater_equals_string"
                | "less_bytes"
                | "greater_bytes"
                | "less_equals_bytes"
                | "greater_equals_bytes"
                | "equals"
                | "not_equals",
                _,
                [a, b],
            ) => {
                let max = known(a).max.min(known(b).max);
                (Estimate { min: u64::from(max > 0), max }.scale(TRAVERSAL), None)
            }
            _ => (Estimate::fixed(1), None),
        };
        CallCost { cost: cost.add(arguments), result }
    }
}

fn plain(cost: Estimate) -> Option<CallCost> {
    Some(CallCost { cost, result: None })
}

fn sized(cost: Estimate, result: Estimate) -> Option<CallCost> {
    Some(CallCost { cost, result: Some(result) })
}

/// A call that creates a list, with a cost of `factor` for each of `size` elements.
fn allocating(factor: f64, size: Estimate) -> Option<CallCost> {
    sized(size.scale(factor).add(Estimate::fixed(1 + LIST_CREATION)), size)
}

/// An integer literal argument; a negative one counts as zero.
fn int_value(node: &Node<'_>, otherwise: u64) -> u64 {
    match node.expr.and_then(Expr::literal) {
        Some(Literal::Int(n)) => u64::try_from(*n).unwrap_or(0),
        _ => otherwise,
    }
}

/// Equality of Kubernetes' own types.
fn equality(t: &CelType, right: &Node<'_>) -> Option<CallCost> {
    match t {
        CelType::Opaque(_) => plain(Estimate::fixed(1)),
        CelType::Struct(name) => match &**name {
            "kubernetes.Quantity" | "kubernetes.Semver" => plain(Estimate::fixed(1)),
            "kubernetes.NamedFormat" => plain(Estimate { min: 1, max: MAX_FORMAT_NAME }.scale(TRAVERSAL)),
            "kubernetes.URL" => {
                let max = right.size.map_or(1, |size| size.max);
                plain(Estimate { min: 1, max }.scale(TRAVERSAL))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The size of `text` after each `old` was replaced with `new`.
fn replaced(text: Estimate, old: Estimate, new: Estimate) -> Estimate {
    let times = |text: u64, old: u64| (text as f64 / old as f64).ceil() as u64;
    let (longest_count, longest_kept) = if old.min == 0 {
        (text.max.saturating_add(1), text.max)
    } else if new.max <= old.min {
        (0, text.max)
    } else {
        (times(text.max, old.min), 0)
    };
    let (shortest_count, shortest_kept) = if old.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if old.max <= new.min {
        (0, text.min)
    } else {
        (times(text.min, old.max), 0)
    };
    let count = Estimate { min: shortest_count, max: longest_count };
    count.multiply(new).add(Estimate { min: shortest_kept, max: longest_kept })
}
