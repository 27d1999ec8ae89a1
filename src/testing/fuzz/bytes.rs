//! Files: any bytes are read or refused, both YAML readers agree, and a bundle has no changes compared with itself.

use super::{LARGEST, recommended, text};
use crate::input::any_bytes::{decoded, unpacked};
use crate::input::yaml::{Node, YamlBudget, compare_readers, parse};
use crate::input::{File, Limits, Origin, Text};
use crate::judge::finding::Class;
use crate::judge::review::{Judgement, Side, lint, review};
use crate::judge::rule::{Book, Family};
use crate::model::Documents;
use crate::render::json;

/// Fuzzes decoding and both YAML readers.
pub fn yaml(bytes: &[u8]) {
    let Some(text) = decoded(bytes).filter(|text| text.len() <= LARGEST) else { return };
    let tight = YamlBudget { depth: 12, nodes: 200, documents: 4, scalar: 60 };
    for budget in [YamlBudget::default(), tight] {
        compare_readers(&text, &budget);
        for document in parse(&text, &budget) {
            match document.tree {
                Ok(tree) => spans(&text, tree.root(), 0, &budget),
                Err(error) => assert!(text.get(error.span.range()).is_some(), "{error:?}"),
            }
        }
    }
}

/// Checks that every span is inside the text.
fn spans(text: &Text, node: Node<'_>, depth: usize, budget: &YamlBudget) {
    assert!(depth <= budget.depth);
    assert!(text.get(node.span().range()).is_some(), "{:?} of {} bytes", node.span(), text.len());
    node.entries().flat_map(|entry| [entry.key, entry.value]).chain(node.items()).for_each(|below| spans(text, below, depth + 1, budget));
}

/// Fuzzes CRDs: whatever was read is linted, and has no changes compared with itself.
pub fn bundle(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let documents = Documents::parse(vec![File::new("crds.yaml", text, Origin::Stdin)], &YamlBudget::default());
    let judgement = Judgement::new(Book::builtin(), recommended());
    let (old, new) = (Side::new("old", &documents), Side::new("new", &documents));
    json::render(&lint(&new, &judgement));
    let report = review(&old, &new, &judgement);
    let changes: Vec<_> = report.findings.iter().filter(|finding| finding.family == Family::Change).map(|found| &found.message).collect();
    assert!(report.verdict == Some(Class::None) && changes.is_empty(), "{changes:?}");
}

/// Fuzzes archives: unpacked files stay inside, and within the limits.
pub fn archive(bytes: &[u8]) {
    let limits = Limits { file_bytes: 1 << 16, total_bytes: 1 << 18, entries: 200, ..Limits::default() };
    let files = unpacked(bytes, &limits);
    assert!(files.len() <= limits.entries);
    for (path, bytes) in &files {
        assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."), "{path}");
        assert!(bytes.len() as u64 <= limits.file_bytes, "{path}");
    }
    assert!(files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>() <= limits.total_bytes);
}
