//! GitLab's code quality report: a list of issues, each with a path and a line.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::judge::finding::{Finding, Severity, fingerprint};

use super::escape::visible;
use super::report_view::{View, subject};

pub fn render(view: &View<'_>) -> String {
    let mut twins: BTreeMap<&str, usize> = BTreeMap::new();
    let mut issues = Vec::new();
    for finding in view.worst_first() {
        let twin = twins.entry(&finding.fingerprint).or_insert(0);
        *twin += 1;
        issues.push(issue(finding, *twin, view));
    }
    issues.extend(view.report.unread().map(|unread| {
        json!({
            "description": format!("crdwise could not read everything: {}: {}", visible(&unread.what), visible(&unread.why)),
            "check_name": "not-read",
            "fingerprint": fingerprint(&["not-read", &unread.what, &unread.why]),
            "severity": "blocker",
            "location": {"path": visible(&unread.what), "lines": {"begin": 1}},
        })
    }));
    super::json::indented(&issues)
}

fn issue(finding: &Finding, twin: usize, view: &View<'_>) -> Value {
    // GitLab drops issues without a path, and issues with a repeated fingerprint.
    let (path, begin) = view.anchors.of(finding).map_or(("-", 1), |anchor| (anchor.path, anchor.line));
    let unique = if twin == 1 { finding.fingerprint.clone() } else { fingerprint(&[&finding.fingerprint, &twin.to_string()]) };
    let severity = match finding.severity {
        Severity::Error if finding.is_refusal() => "blocker",
        Severity::Error => "critical",
        Severity::Warning => "major",
        Severity::Info => "info",
    };
    json!({
        "description": format!("{}{} (help: {})", subject(finding), visible(&finding.message), visible(&finding.help)),
        "check_name": visible(&finding.rule),
        "fingerprint": unique,
        "severity": severity,
        "location": {"path": visible(path), "lines": {"begin": begin}},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use serde_json::Value;

    #[test]
    fn hostile_text_stays_text() {
        let text = sample::rendered_hostile(render);
        let issues: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(issues.len(), 5);
        let mut prints: Vec<&str> = Vec::new();
        for issue in &issues {
            let keys: Vec<&String> = issue.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["check_name", "description", "fingerprint", "location", "severity"]);
            let description = issue["description"].as_str().unwrap();
            assert!(!description.chars().any(char::is_control) && !description.contains('\u{202e}'));
            assert_eq!(issue["location"]["path"].as_str().unwrap(), visible(sample::HOSTILE_NAME));
            assert_eq!(issue["location"]["lines"]["begin"], 1);
            prints.push(issue["fingerprint"].as_str().unwrap());
        }
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), 5, "fingerprints are unique");
    }

    #[test]
    fn no_findings_make_an_empty_list() {
        assert_eq!(sample::rendered(Vec::new(), render), "[]\n");
    }
}
