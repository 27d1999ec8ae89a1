//! The texts about existing objects, in every format that people read. Names come from a cluster and are escaped here.

use std::collections::BTreeSet;

use crate::judge::existing_objects::{ExistingObjects, ObjectHits};
use crate::judge::finding::Finding;

use super::escape::visible;
use crate::judge::overview::plural;

/// How many objects and managers are named.
const NAMED: usize = 5;

/// Describes how the findings of a group affect existing objects; `None` if no objects were checked.
pub(super) fn hits<'r>(findings: impl Iterator<Item = &'r Finding>) -> Option<String> {
    let all: Vec<&ObjectHits> = findings.filter_map(|finding| finding.objects.as_ref()).collect();
    if all.is_empty() {
        return None;
    }
    // The findings of a group mostly affect the same objects, so take the maximum instead of the sum.
    let most = |count: fn(&ObjectHits) -> usize| all.iter().map(|hits| count(hits)).max().unwrap_or(0);
    let names: BTreeSet<&str> = all.iter().flat_map(|hits| &hits.names).map(String::as_str).collect();
    let count = most(|hits| hits.count).max(names.len());
    if count == 0 {
        return Some("no existing object is affected".to_owned());
    }
    let mut text = format!("{} affected", plural(count, "existing object"));
    let effects = [
        (most(|hits| hits.refused), "no longer updatable"),
        (most(|hits| hits.tolerated), "updatable only while the field stays unchanged"),
        (most(|hits| hits.lose_data), "losing data"),
        (most(|hits| hits.changed), "getting a different value"),
        (most(|hits| hits.version_gone), "of a version that is removed"),
    ];
    let effects: Vec<String> = effects.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")).collect();
    if !effects.is_empty() {
        text.push_str(&format!(" ({})", effects.join(", ")));
    }
    let values: Vec<_> = all.iter().flat_map(|hits| &hits.values).collect();
    let named = |name: &&str| {
        let own = values.iter().filter(|value| value.object == **name).take(NAMED);
        let own: Vec<String> = own.map(|value| format!("{}: {}", visible(&value.path), visible(&value.value))).collect();
        if own.is_empty() { visible(name).into_owned() } else { format!("{} ({})", visible(name), own.join(", ")) }
    };
    let shown: Vec<String> = names.iter().take(NAMED).map(named).collect();
    text.push_str(&format!(": {}", shown.join(", ")));
    if count > shown.len() {
        text.push_str(&format!(" and {} more", count - shown.len()));
    }
    let managers: BTreeSet<&str> = all.iter().flat_map(|hits| &hits.managers).map(|manager| manager.name.as_str()).collect();
    if !managers.is_empty() {
        let list: Vec<String> = managers.iter().take(NAMED).map(|name| visible(name).into_owned()).collect();
        let more = if managers.len() > NAMED { ", …" } else { "" };
        text.push_str(&format!("; managed by {}{more}", list.join(", ")));
    }
    Some(text)
}

/// Summarises all objects in one line.
pub(super) fn summary(objects: &ExistingObjects) -> String {
    let mut text = format!("{} · {} checked, {} affected by this change", visible(&objects.source), objects.checked, objects.hit);
    for skipped in objects.skipped.iter().take(NAMED) {
        text.push_str(&format!("; skipped {} ({})", visible(&skipped.what), skipped.why));
    }
    text
}

/// Lists objects that break without a finding that explains it.
pub(super) fn unexplained(objects: &ExistingObjects) -> Vec<String> {
    let line = |object: &crate::judge::existing_objects::Unexplained| {
        let path = if object.path.is_empty() { String::new() } else { format!(" at {}", visible(&object.path)) };
        format!("{} ({} {}): {}{path}", visible(&object.object), visible(&object.crd), visible(&object.version), object.what)
    };
    let mut lines: Vec<String> = objects.unexplained.iter().take(NAMED).map(line).collect();
    let more = objects.unexplained.len().saturating_sub(NAMED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}
