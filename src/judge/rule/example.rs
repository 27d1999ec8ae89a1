//! The examples on a rule's page: fenced blocks that are run as tests.

use crate::model::kubernetes::Minors;

/// One example: a pair of bundles, or a single one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExample {
    /// The line of the first fence on the page, counted from 1.
    pub line: usize,
    pub old: Option<Block>,
    pub new: Block,
    /// Bundles of earlier releases, oldest first (`yaml history`).
    pub history: Vec<Block>,
    /// `crdwise.yaml` of the new side, and of the old one (`yaml config`, `yaml old config`).
    pub config: Option<Block>,
    pub old_config: Option<Block>,
    /// Accepted findings (`yaml baseline`).
    pub baseline: Option<Block>,
    /// Manifests next to the new bundle.
    pub conversion: Option<Block>,
    /// The servers of a cluster upgrade (`yaml 1.35..1.36`).
    pub upgrade: Option<Minors>,
}

/// A bundle, with the lines that must be flagged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub text: String,
    /// (line counted from 1, rule id)
    pub marks: Vec<(usize, String)>,
}

impl RuleExample {
    /// Whether any line is marked.
    pub fn fires(&self) -> bool {
        [Some(&self.new), self.old.as_ref(), self.config.as_ref(), self.baseline.as_ref(), self.conversion.as_ref()]
            .into_iter()
            .flatten()
            .any(|block| !block.marks.is_empty())
    }
}

/// The examples of a page, in order. Blocks before a `new` block or a single block belong to it; a `conversion` block belongs to
/// the one before.
pub fn examples(body: &str) -> Vec<RuleExample> {
    let mut found = Vec::new();
    let mut waiting: Option<(usize, Block)> = None;
    let (mut history, mut config, mut old_config, mut baseline) = (Vec::new(), None, None, None);
    let mut open: Option<(usize, &str, String)> = None;
    for (index, line) in body.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((index + 1, info.trim(), String::new())),
            (Some((_, _, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (Some(_), Some(_)) => {
                let Some((start, info, text)) = open.take() else { continue };
                match info {
                    "yaml old" => waiting = Some((start, block(&text, WRAPPER, 16))),
                    "yaml history" => history.push(block(&text, WRAPPER, 16)),
                    "yaml config" => config = Some(plain(&text)),
                    "yaml baseline" => baseline = Some(plain(&text)),
                    "yaml old config" => old_config = Some(plain(&text)),
                    _ if info == "yaml new" || info == "yaml" || upgrade(info).is_some() => {
                        let old = if info == "yaml new" { waiting.take() } else { None };
                        let (line, old) = old.map_or((start, None), |(line, old)| (line, Some(old)));
                        found.push(RuleExample {
                            line,
                            old,
                            new: block(&text, WRAPPER, 16),
                            history: std::mem::take(&mut history),
                            config: config.take(),
                            old_config: old_config.take(),
                            baseline: baseline.take(),
                            conversion: None,
                            upgrade: upgrade(info),
                        });
                    }
                    "yaml conversion" => {
                        if let Some(example) = found.last_mut() {
                            example.conversion = Some(block(&text, MANIFEST, 0));
                        }
                    }
                    _ => {}
                }
            }
            (None, None) => {}
        }
    }
    found
}

/// The servers named by a fence.
fn upgrade(info: &str) -> Option<Minors> {
    info.strip_prefix("yaml ")?.parse().ok()
}

const MARK: &str = "# ~ ";

/// A block that isn't a bundle.
fn plain(text: &str) -> Block {
    Block { marks: marks(text, 0), text: text.to_owned() }
}

/// The (line, rule id) of every mark, with an offset added to the lines.
fn marks(text: &str, offset: usize) -> Vec<(usize, String)> {
    let mut marks = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some((_, ids)) = line.split_once(MARK) {
            marks.extend(ids.split([',', ' ']).filter(|id| !id.is_empty()).map(|id| (offset + index + 1, id.to_owned())));
        }
    }
    marks
}

/// Wraps a partial document so that it becomes a whole one, and adjusts the lines of its marks.
fn block(text: &str, wrapper: &str, indent: usize) -> Block {
    let whole = text.lines().any(|line| line.starts_with("kind:"));
    let (head, indent) = if whole { (String::new(), String::new()) } else { (wrapper.to_owned(), " ".repeat(indent)) };
    let offset = head.lines().count();
    let mut out = head;
    for line in text.lines() {
        if !line.is_empty() {
            out.push_str(&indent);
            out.push_str(line);
        }
        out.push('\n');
    }
    Block { text: out, marks: marks(text, offset) }
}

const WRAPPER: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.shop.example.com
spec:
  group: shop.example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
";

const MANIFEST: &str = "\
apiVersion: crdwise.dev/v1alpha1
kind: Conversion
metadata: {name: widget}
resource: {group: shop.example.com, kind: Widget}
from: {bundle: 1.0.0}
to: {bundle: 1.1.0}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_singles_and_marks() {
        let page = "x\n```yaml old\ntype: string\n```\ntext\n```yaml new\ntype: integer # ~ type-changed\n```\n```yaml\nkind: List\n```\n```sh\nno\n```\n";
        let found = examples(page);
        assert_eq!(found.len(), 2);
        assert!(found[0].fires() && !found[1].fires());
        let line = WRAPPER.lines().count() + 1;
        assert_eq!(found[0].new.marks, [(line, "type-changed".to_owned())]);
        assert!(found[0].new.text.contains("                type: integer"));
        assert_eq!(found[1].new.text, "kind: List\n");
    }
}
