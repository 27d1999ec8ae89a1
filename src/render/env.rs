//! `key=value` lines with fixed keys, for `GITHUB_OUTPUT`, GitLab dotenv reports and shells. No value contains text from a reviewed
//! file.

use crate::judge::finding::Severity;

use super::report_view::View;

pub fn render(view: &View<'_>) -> String {
    let report = view.report;
    let count = |severity| report.fresh().filter(|finding| finding.severity == severity && !finding.is_quiet()).count();
    let verdict = report.verdict.map_or("none", |verdict| verdict.name());
    let bump = report.bump.as_ref().map_or("none", |bump| bump.required.name());
    format!(
        "verdict={verdict}\nbump={bump}\nbreaking={}\nplaces={}\nerrors={}\nwarnings={}\nnotes={}\ncomplete={}\n",
        report.summary.breaking.changes,
        report.summary.breaking.places,
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Info),
        view.complete,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn keys_and_values_come_from_fixed_sets() {
        let out = sample::rendered_hostile(render);
        assert_eq!(out, "verdict=semantic-breaking\nbump=minor\nbreaking=4\nplaces=4\nerrors=1\nwarnings=1\nnotes=1\ncomplete=true\n");
    }
}
