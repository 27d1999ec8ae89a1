//! The report as indented JSON with a trailing newline.

use crate::judge::report::Report;

pub fn render(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
