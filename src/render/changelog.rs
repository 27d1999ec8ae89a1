//! Markdown for release notes: what changed in each CRD, breaking changes first, with what users must do.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::input::list_some;
use crate::judge::finding::{Class, Finding};
use crate::judge::overview::{Group, Overview};
use crate::judge::rule::Kind;
use crate::model::FieldPath;

use super::markdown::inline;
use super::report_view::View;

pub fn render(view: &View<'_>) -> String {
    let report = view.report;
    let mut out = String::from("## API changes\n\n");
    let mut findings: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    let is_change = |finding: &&Finding| finding.class.is_some() && (view.all || !finding.is_quiet());
    for finding in report.findings.iter().filter(is_change) {
        findings.entry(&finding.crd).or_default().push(finding);
    }
    if !view.complete {
        out.push_str("**Not every input could be read, so this list is incomplete.**\n\n");
    }
    if findings.is_empty() {
        out.push_str("No API changes.\n");
        return out;
    }
    if let Some(counts) = report.summary.changes_text() {
        let _ = writeln!(out, "{counts}.");
    }
    let mut crds: Vec<(&str, Overview<'_>)> =
        findings.into_iter().map(|(crd, findings)| (crd, Overview::new(findings.into_iter()))).collect();
    crds.sort_by_key(|(crd, overview)| (!overview.groups.iter().any(Group::is_breaking), *crd));
    for (crd, overview) in &crds {
        let _ = writeln!(out, "\n### {}", inline(&format!("`{crd}`")));
        for (title, class) in [("Breaking", Class::SemanticBreaking), ("Compatible", Class::Additive), ("Other", Class::None)] {
            let groups: Vec<&Group<'_>> = overview.groups.iter().filter(|group| group.class() == Some(class)).collect();
            if groups.is_empty() {
                continue;
            }
            let _ = writeln!(out, "\n**{title}**\n");
            groups.into_iter().for_each(|group| item(&mut out, group));
        }
    }
    out
}

fn item(out: &mut String, group: &Group<'_>) {
    let _ = write!(out, "- {}", inline(&super::short::sentence(group)));
    let reach = group.reach().is_none().then_some(group.lead.version.as_deref()).flatten();
    if let Some(version) = reach {
        let _ = write!(out, " ({})", inline(&format!("`{version}`")));
    }
    out.push_str(".\n");
    if group.paths().len() > 1 {
        let paths = list_some(group.paths().iter().map(|path| inline(&format!("`{path}`"))), PATHS);
        let _ = writeln!(out, "  Fields: {paths}.");
    }
    if group.is_breaking() {
        let _ = match group.conversions() {
            Some(manifests) => {
                let names: Vec<String> = manifests.iter().map(|name| inline(&format!("`{name}`"))).collect();
                writeln!(out, "  **Migration:** converted by {}: `crdwise convert` rewrites manifests.", names.join(", "))
            }
            None => writeln!(out, "  **Migration:** {}", migration(group)),
        };
    }
}

/// How many paths are listed for one change.
const PATHS: usize = 10;

/// What users must do if no conversion does it for them.
fn migration(group: &Group<'_>) -> &'static str {
    use crate::judge::overview::Harm;
    match group.harm {
        // Controllers write the status, and write it anew.
        Harm::Data | Harm::Requests | Harm::Behaviour
            if group.members.iter().all(|finding| FieldPath::parse(&finding.path).is_some_and(|path| path.in_status())) =>
        {
            "upgrade the controllers that write the status together with the CRD."
        }
        _ if group.lead.kind == Kind::Rename => {
            "use the new name in manifests, and copy the values of existing objects before you upgrade."
        }
        Harm::Data => "save the values that you need before you upgrade, and move them to another field.",
        Harm::Crd => "the API server rejects the update of this CRD.",
        Harm::Requests => "change manifests and existing objects to values that the new schema accepts before you upgrade.",
        Harm::Behaviour => "set the field explicitly where you rely on the old behaviour.",
        Harm::Merge => "check managers that use server-side apply: they now own different parts of the object.",
        Harm::Readers | Harm::None => "check that your clients handle the new form.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn breaks_come_first_with_what_to_do() {
        let added = Finding {
            rule: "field-added".into(),
            class: Some(Class::Additive),
            group: "0000000000000001".into(),
            message: "`spec.color` (string) was added".into(),
            path: "spec.color".into(),
            ..sample::finding()
        };
        let text = sample::rendered(vec![added, sample::finding()], render);
        let breaking = text.find("<code>spec.size</code> was removed").unwrap();
        assert!(breaking < text.find("<code>spec.color</code>").unwrap(), "{text}");
        assert!(text.contains("**Migration:** save the values"), "{text}");
        let in_status = Finding { path: "status.phase".into(), ..sample::finding() };
        assert!(sample::rendered(vec![in_status], render).contains("**Migration:** upgrade the controllers"));
        let converted = Finding { conversion: Some("widget-v1".into()), ..sample::finding() };
        assert!(sample::rendered(vec![converted], render).contains("converted by <code>widget-v1</code>"));
        assert_eq!(sample::rendered(vec![], render), "## API changes\n\nNo API changes.\n");
    }

    #[test]
    fn hostile_text_is_inert() {
        let text = sample::rendered_hostile(render);
        assert!(!text.contains("<script") && !text.contains("<img") && !text.contains('\u{1b}'), "{text}");
        let own = ["- ", "  Fields: ", "  **Migration:** ", "## ", "### ", "**", "4 breaking"];
        assert!(text.lines().all(|line| line.is_empty() || own.iter().any(|begin| line.starts_with(begin))), "{text}");
    }
}
