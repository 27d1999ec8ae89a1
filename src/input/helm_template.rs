//! Helm templates of CRDs, read without Helm.
//!
//! Charts wrap CRDs in the same few ways: `{{- if … }}` and `{{- end }}` around the document, and lines that include labels or
//! annotations. Such lines are replaced with blanks, so that everything else keeps its position. When in doubt the document stays
//! unreadable: an expression inside `spec`, an `else` or a loop is not removed.

use super::yaml::{self, Document, YamlBudget};
use super::{Text, has_template_expression};

/// Whether all CRDs of a template can be read without Helm.
pub fn can_read(text: &Text, budget: &YamlBudget) -> bool {
    let mut documents = yaml::parse(text, budget);
    unwrap(text, budget, &mut documents);
    !documents.iter().any(|document| is_unread_crd(text, document))
}

fn is_unread_crd(text: &str, document: &Document) -> bool {
    let part = text.get(document.span.range()).unwrap_or_default();
    document.tree.is_err() && part.contains("CustomResourceDefinition") && has_template_expression(part)
}

/// Parses CRD templates again without their wrapping, if they couldn't be read.
pub fn unwrap(text: &Text, budget: &YamlBudget, documents: &mut [Document]) {
    if !documents.iter().any(|document| is_unread_crd(text, document)) {
        return;
    }
    let Some(masked) = mask(text) else { return };
    let mut read = yaml::parse(&masked.into(), budget);
    for document in documents.iter_mut().filter(|document| is_unread_crd(text, document)) {
        let same = |other: &Document| other.span.start == document.span.start && other.tree.is_ok();
        if let Some(at) = read.iter().position(same) {
            document.tree = read.swap_remove(at).tree;
        }
    }
}

/// Replaces the wrapping lines with blanks; `None` if leaving them out could change the meaning.
fn mask(text: &str) -> Option<String> {
    let mut masked = String::with_capacity(text.len());
    let (mut in_spec, mut started, mut open) = (false, false, 0usize);
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let trimmed = body.trim();
        let is_action = trimmed.starts_with("{{") && trimmed.ends_with("}}") && trimmed.matches("{{").count() == 1;
        let at_margin = !body.starts_with([' ', '\t', '-', '#']) && !trimmed.is_empty() && !is_action;
        if at_margin || body.starts_with("---") {
            in_spec = body.starts_with("spec:");
            started = at_margin;
        }
        // An action that wraps a document isn't indented; an indented one inside `spec` is part of the schema.
        let wraps = is_action && (!in_spec || body.starts_with("{{"));
        if !wraps {
            masked.push_str(line);
            continue;
        }
        let word = trimmed.trim_start_matches(['{', '-', ' ']).split([' ', '-', '}']).next().unwrap_or_default();
        if matches!(word, "else" | "range" | "block" | "define" | "template") {
            return None;
        }
        match word {
            // In the middle of a document, a condition changes its content.
            "if" | "with" if started && body.starts_with("{{") => return None,
            "if" | "with" => open += 1,
            "end" => {
                open = open.checked_sub(1)?;
                started &= !body.starts_with("{{");
            }
            _ => {}
        }
        masked.extend(std::iter::repeat_n(' ', body.len()));
        masked.push_str(line.get(body.len()..).unwrap_or_default());
    }
    (open == 0).then_some(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_is_blanked_and_the_rest_keeps_its_position() {
        let text =
            "{{- if .Values.crds }}\nkind: A\nmetadata:\n  labels:\n    {{- include \"x\" . | nindent 4 }}\nspec:\n  a: 1\n{{- end }}\n";
        let masked = mask(text).unwrap();
        assert_eq!(masked.len(), text.len());
        assert_eq!(masked.find("kind: A"), text.find("kind: A"));
        assert!(!masked.contains("{{"));
    }

    #[test]
    fn actions_inside_spec_and_else_branches_are_kept() {
        assert!(mask("spec:\n  {{- if .Values.x }}\n  a: 1\n  {{- end }}\n").unwrap().contains("{{- if"));
        assert!(mask("spec:\n  a: {{ .Values.x }}\n").unwrap().contains("{{"));
        assert_eq!(mask("{{- if .x }}\nkind: A\n{{- else }}\nkind: B\n{{- end }}\n"), None);
        assert_eq!(mask("kind: A\n{{- if .x }}\nspec: {}\n{{- end }}\n"), None);
        assert_eq!(mask("{{- if .x }}\nkind: A\n"), None);
        assert_eq!(mask("{{- range .x }}\nkind: A\n{{- end }}\n"), None);
    }
}
