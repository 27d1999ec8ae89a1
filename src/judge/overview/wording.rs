//! Describes a group in words: what changed, the effect, and where.

use std::collections::BTreeMap;

use crate::input::list_all;

use super::counts::plural;
use super::group::Group;

/// How many names are listed before the rest is counted.
const NAMED: usize = 3;

impl Group<'_> {
    /// What changed, in one phrase: "`spec.size` was removed", "minLength unset → 1". It doesn't name several paths;
    /// [`Group::reach`] does.
    pub fn headline(&self) -> String {
        let edits = self.edits();
        if let (Some(name), 2..) = (&self.lead.embedded, edits.len()) {
            let mut sorts: BTreeMap<&str, usize> = BTreeMap::new();
            for edit in &edits {
                *sorts.entry(&edit.lead.rule).or_default() += 1;
            }
            let said: Vec<String> = sorts.into_iter().map(|(rule, count)| sort_of_edit(rule, count)).collect();
            return format!("embedded {name}: {}", said.join(", "));
        }
        let embedded = self.lead.embedded.as_ref().filter(|_| self.lead.class.is_some());
        let embedded = embedded.map(|name| format!(" (embedded {name})")).unwrap_or_default();
        format!("{}{embedded}", self.one_edit())
    }

    /// The only edit of the group.
    fn one_edit(&self) -> String {
        let paths = self.paths();
        let message = &self.lead.message;
        let same = self.members.iter().all(|finding| finding.message == *message);
        if self.lead.class.is_none() && !same {
            return lower_first(&self.lead.title);
        }
        let (what, _) = split(message, &self.lead.path);
        if paths.len() == 1 || same {
            return what.to_owned();
        }
        let quoted = format!("`{}`", self.lead.path);
        if let Some(rest) = what.strip_prefix(&format!("{quoted}: ")) {
            return rest.to_owned();
        }
        let (own, renamed) = (self.lead.name(), self.lead.new_name());
        if !own.is_empty() && self.members.iter().all(|finding| (finding.name(), finding.new_name()) == (own, renamed)) {
            let named = what.replacen(&quoted, &format!("`{own}`"), 1);
            return match (&self.lead.to, renamed) {
                (Some(to), Some(name)) => named.replacen(&format!("`{to}`"), &format!("`{name}`"), 1),
                _ => named,
            };
        }
        what.replacen(&quoted, &format!("{quoted} (and {})", plural(self.fields() - 1, "other field")), 1)
    }

    /// The effect and who is affected, if the message says so.
    pub fn effect(&self) -> Option<&str> {
        match self.has_various_edits() {
            true if self.lead.class.is_none() => Some(&self.lead.message),
            true => None,
            false => split(&self.lead.message, &self.lead.path).1,
        }
    }

    /// Whether its places share only the rule or the embedded type.
    pub fn has_various_edits(&self) -> bool {
        let same = || self.members.iter().all(|finding| finding.message == self.lead.message);
        self.edits().len() > 1 || self.lead.class.is_none() && !same()
    }

    /// Where it is: "in 91 fields of 5 CRDs", "in v1 and v1beta1", "in 3 CRDs"; `None` for one place.
    pub fn reach(&self) -> Option<String> {
        let (crds, versions, paths) = (self.crds(), self.versions(), self.paths());
        if self.members.len() == 1 {
            return None;
        }
        if self.edits().len() > 1 {
            return Some(format!("in {} of {}", plural(self.members.len(), "place"), plural(crds.len(), "CRD")));
        }
        let fields = self.fields();
        // Already counted after the field that represents the others.
        let is_counted = self.headline().contains(&format!("` (and {})", plural(fields.saturating_sub(1), "other field")));
        let of_crds = (crds.len() > 1).then(|| plural(crds.len(), "CRD"));
        Some(match (paths.len(), of_crds) {
            (_, crds) if is_counted => return crds.map(|crds| format!("in {crds}")),
            (1, None) if versions.len() > 1 => format!("in {}", list(&versions)),
            (1, None) => format!("in {}", plural(self.members.len(), "place")),
            (1, Some(crds)) => format!("in {crds}"),
            (_, None) if versions.len() > 1 => format!("in {} of {}", plural(fields, "field"), list(&versions)),
            (_, None) => format!("in {}", plural(fields, "field")),
            (_, Some(crds)) => format!("in {} of {crds}", plural(fields, "field")),
        })
    }
}

/// Lowercases a title for the middle of a line; an abbreviation keeps its capitals.
fn lower_first(title: &str) -> String {
    let mut chars = title.chars();
    match chars.next() {
        Some(first) if !chars.clone().next().is_some_and(char::is_uppercase) => first.to_lowercase().chain(chars).collect(),
        _ => title.to_owned(),
    }
}

fn list(names: &[&str]) -> String {
    if names.len() <= NAMED { list_all(names) } else { format!("{} versions", names.len()) }
}

fn sort_of_edit(rule: &str, count: usize) -> String {
    match rule {
        "field-added" => format!("{} added", plural(count, "field")),
        "field-removed" => format!("{} removed", plural(count, "field")),
        "required-added" => format!("{} became required", plural(count, "field")),
        "required-removed" => format!("{} no longer required", plural(count, "field")),
        rule => format!("{count} × {rule}"),
    }
}

/// Splits a message "what changed: the effect"; colons inside quoted text, or after the path it starts with, don't count.
fn split<'m>(message: &'m str, path: &str) -> (&'m str, Option<&'m str>) {
    let quoted = format!("`{path}`: ");
    let start = if message.starts_with(&quoted) { quoted.len() } else { 0 };
    let mut quote = None;
    for (at, c) in message.char_indices().filter(|(at, _)| *at >= start) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            // A long text is cut off before its closing quote.
            (Some('"'), '…') => quote = None,
            (None, '`' | '"') => quote = Some(c),
            (None, ':') => {
                if let (Some(what), Some(effect)) = (message.get(..at), message.get(at..).and_then(|tail| tail.strip_prefix(": "))) {
                    return (what, Some(effect));
                }
            }
            _ => {}
        }
    }
    (message, None)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_effect_follows_the_first_unquoted_colon() {
        assert_eq!(split("`a.b`: minLength unset → 1: requests fail", "a.b"), ("`a.b`: minLength unset → 1", Some("requests fail")));
        assert_eq!(split("`a` was removed: it is lost: sorry", "a"), ("`a` was removed", Some("it is lost: sorry")));
        assert_eq!(split("`a`: pattern unset → \"^x: y$\": no", "a"), ("`a`: pattern unset → \"^x: y$\"", Some("no")));
        assert_eq!(split("`a` must now satisfy `x ? y: z`: no", "a"), ("`a` must now satisfy `x ? y: z`", Some("no")));
        assert_eq!(split("`a`: pattern unset → \"^x…: no", "a"), ("`a`: pattern unset → \"^x…", Some("no")));
        assert_eq!(split("`a` (array) was added", "a"), ("`a` (array) was added", None));
    }
}
