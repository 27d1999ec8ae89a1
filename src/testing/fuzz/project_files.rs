//! Project files besides CRDs: configuration, rules, policies, baselines, test suites.

use super::{recommended, text};
use crate::cli::config::{Config, own_directories};
use crate::input::yaml::YamlBudget;
use crate::input::{File, Origin};
use crate::judge::baseline::Baseline;
use crate::judge::policy::Policy;
use crate::judge::review::{Judgement, Side, lint};
use crate::judge::rule::{Book, Rule};
use crate::judge::suite::run_all;
use crate::model::Documents;
use crate::testing::HEAD;

/// Parses any text as each of them. A valid rule judges a bundle.
pub fn configuration(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    own_directories(text);
    if let Err(faults) = Config::parse(text, Book::builtin(), &Policy::names().collect::<Vec<_>>()) {
        faults.iter().for_each(|fault| assert!(text.get(fault.span.range()).is_some(), "{}", fault.message));
    }
    if let Ok(baseline) = Baseline::parse(text) {
        assert_eq!(Baseline::parse(&baseline.render()).expect("what is written can be read").render(), baseline.render());
    }
    for fault in Policy::faults(text, Book::builtin()).iter().chain(&Rule::faults(text)) {
        assert!(text.get(fault.span.range()).is_some(), "{}", fault.message);
    }
    let _ = Policy::parse(text);
    suites(text);
    rule(text);
}

fn crd() -> String {
    format!("{HEAD}  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]\n")
}

fn suites(text: &str) {
    let file = |name: &str, text: &str| File::new(name, text, Origin::Stdin);
    let files = vec![file("crd.yaml", &crd()), file("a.crdtest.yaml", text), file("b.testsuite.yaml", text)];
    run_all(&Documents::parse(files, &YamlBudget::default()));
}

fn rule(text: &str) {
    let Ok(book) = Book::with(vec![("own.md".to_owned(), text.to_owned())]) else { return };
    let documents = Documents::of_text("crd.yaml", &crd());
    lint(&Side::new("new", &documents), &Judgement::new(&book, recommended()));
}
