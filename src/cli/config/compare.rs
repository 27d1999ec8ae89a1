//! Finds changes to the configuration that judges the change itself.

use crate::input::yaml::Span;
use crate::judge::finding::Severity;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::{FileId, Place};

use super::{Config, JudgingSettings};

/// The settings of the new side that differ from the old one. Removed waivers make the gate stricter, so they aren't reported.
pub fn changes(old: &Config, new: &Config, file: FileId) -> Vec<Fact> {
    let mut said = Vec::new();
    judging(&old.judging, &new.judging, "", &mut said);
    for (name, profile) in &new.profiles {
        judging(old.profiles.get(name).unwrap_or(&JudgingSettings::default()), profile, &format!(" of profile {name}"), &mut said);
    }
    for waiver in &new.waivers {
        let same = |other: &&super::Waiver| other.target() == waiver.target();
        match old.waivers.iter().find(same) {
            None => said.push((
                Aspect::Waiver,
                Effect::Added,
                format!("a waiver of {} came with this change", waiver.target()),
                Some(waiver.span),
            )),
            Some(before) if before.until != waiver.until => {
                said.push((
                    Aspect::Waiver,
                    Effect::Changed,
                    format!("the waiver of {} ends on another day", waiver.target()),
                    Some(waiver.span),
                ));
            }
            Some(_) => {}
        }
    }
    for (what, differs) in [
        ("the paths that are read", old.include != new.include || old.exclude != new.exclude),
        ("the annotation keys", old.keys != new.keys),
        ("the maturity of fields", old.maturity != new.maturity),
        ("the range of servers", old.kubernetes != new.kubernetes),
    ] {
        if differs {
            said.push((Aspect::Policy, Effect::Changed, format!("{what} changed"), None));
        }
    }
    let fact = |(aspect, effect, what, span): (Aspect, Effect, String, Option<Span>)| {
        let place = Place { file, span: span.unwrap_or_default() };
        Fact::new(Subject::Config, aspect, effect, "").after(place).key(what.clone()).word(Word::What, what)
    };
    said.into_iter().map(fact).collect()
}

type Said = Vec<(Aspect, Effect, String, Option<Span>)>;

fn judging(old: &JudgingSettings, new: &JudgingSettings, whose: &str, said: &mut Said) {
    let mut say = |what: String, span: Option<Span>| said.push((Aspect::Policy, Effect::Changed, what, span));
    let text =
        |policy: &Option<super::Spanned<String>>| policy.as_ref().map_or(crate::judge::policy::DEFAULT, |policy| &policy.value).to_owned();
    if text(&old.policy) != text(&new.policy) {
        let span = new.policy.as_ref().map(|policy| policy.span);
        say(format!("the policy{whose} changed from {} to {}", text(&old.policy), text(&new.policy)), span);
    }
    let level = |fail_on: &Option<super::Spanned<Option<Severity>>>| match fail_on {
        None => "error",
        Some(level) => level.value.map_or("never", Severity::name),
    };
    if level(&old.fail_on) != level(&new.fail_on) {
        let span = new.fail_on.as_ref().map(|level| level.span);
        say(format!("fail-on{whose} changed from {} to {}", level(&old.fail_on), level(&new.fail_on)), span);
    }
    let name = |severity: Option<Severity>| severity.map_or("off", Severity::name);
    for rule in &new.rules {
        match old.rules.iter().find(|before| before.rule == rule.rule) {
            Some(before) if before.severity == rule.severity => {}
            Some(before) => {
                say(format!("{}{whose} changed from {} to {}", rule.rule, name(before.severity), name(rule.severity)), Some(rule.span))
            }
            None => say(format!("{}{whose} is {} now", rule.rule, name(rule.severity)), Some(rule.span)),
        }
    }
    for before in old.rules.iter().filter(|before| new.rules.iter().all(|rule| rule.rule != before.rule)) {
        say(format!("{}{whose} is no longer {}", before.rule, name(before.severity)), None);
    }
}
