//! Finds what an upgrade of the cluster changes for unchanged CRDs.
//!
//! For a CRD and two servers, emits facts about objects that only one of them accepts, as if the schema had changed, and about what
//! only the newer one refuses in the CRD itself.

mod ratchet;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cel::check::Purpose;
use crate::cel::decl::Decl;
use crate::cel::eval::Program;
use crate::compare::{Budget, Sample, divide};
use crate::find::facts_by_server::read_by;
use crate::find::review_context::{ReviewContext, Stability};
use crate::input::list_some;
use crate::input::yaml::Node;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Mark, Ratchet, Subject, Word};
use crate::model::kubernetes::{Feature, Minor, Server};
use crate::model::schema::{Keyword, Schema, Shape};
use crate::model::{Api, Bundle, Crd, FieldPath, Place, Version};
use crate::server::crd;
use crate::server::object::{Scale, enforced_format};

use super::evidence::{ResourceNames, attach};
use super::fact_draft::FactDraft;
use super::value_text::cut;

/// Features that change the value of a rule which compiles with and without them.
const EVALUATED: [Feature; 3] = [Feature::SubnetsContained, Feature::NullFieldsEqual, Feature::QuantitiesCopied];
/// How many characters of a rule a message shows.
const RULE: usize = 80;
/// For how many fields of a format an object is searched for.
const CANDIDATES: usize = 8;
/// How many fields a message names.
const NAMED: usize = 3;

/// A number field whose format only the newer server enforces, with a value that only the older one accepts.
struct RangeField {
    path: FieldPath,
    span: crate::input::yaml::Span,
    beyond: Value,
}

/// Finds everything that changes for the CRDs of a bundle when its cluster is upgraded from one minor version to another.
pub fn upgrade(bundle: &Bundle<'_>, (from, to): (Minor, Minor), context: &ReviewContext<'_>) -> Vec<Fact> {
    let (from, to) = (from.server(), to.server());
    let stability = Stability::new(None, bundle, context);
    let of_crd = |crd: &&Crd<'_>, budget: &Budget| {
        let mut facts = refusals(crd, from, to);
        for version in crd.versions.iter().filter(|version| version.served) {
            facts.extend(of_version(crd, version, (from, to), budget));
        }
        stability.complete(facts)
    };
    let crds: Vec<&Crd<'_>> = bundle.crds.iter().filter(|crd| crd.api == Api::V1).collect();
    let mut facts: Vec<Fact> = divide(&crds, of_crd).into_iter().flatten().collect();
    facts.extend(stability.complete(ratchet::tolerated(&crds, from, to)));
    facts
}

/// What only the newer server refuses when the CRD is created, or when a stored one is updated.
fn refusals(crd: &Crd<'_>, from: Server, to: Server) -> Vec<Fact> {
    let created = |server| read_by(crd, server, crd::create).facts;
    let updated = |server| {
        let facts = read_by(crd, server, |crd| crd::update(crd, crd)).facts;
        facts.into_iter().filter(|fact| fact.is_refusal() && !fact.pre_existing).collect::<Vec<_>>()
    };
    let (before, stuck_before) = (created(from), updated(from));
    let known: HashSet<_> = before.iter().filter(|fact| fact.is_refusal()).map(Fact::identity).collect();
    let known_stuck: HashSet<_> = stuck_before.iter().map(Fact::identity).collect();
    let stuck: Vec<Fact> = updated(to).into_iter().filter(|fact| !known_stuck.contains(&fact.identity())).collect();
    let mut facts: Vec<Fact> = created(to).into_iter().filter(|fact| fact.is_refusal() && !known.contains(&fact.identity())).collect();
    for fact in stuck {
        match facts.iter_mut().find(|known| known.identity() == fact.identity()) {
            Some(known) => {
                known.marks.insert(Mark::RefusedOnUpdate);
            }
            None => facts.push(Fact { pre_existing: false, ..fact }.mark(Mark::RefusedOnUpdate)),
        }
    }
    facts
}

fn of_version(crd: &Crd<'_>, version: &Version<'_>, (from, to): (Server, Server), budget: &Budget) -> Vec<Fact> {
    let Some(schema) = &version.schema else { return Vec::new() };
    let (old, new) = (schema.clone().on(from), schema.clone().on(to));
    let mut walk = UpgradeWalk { crd, version: version.name, from, to, drafts: Vec::new(), facts: Vec::new(), ranges: BTreeMap::new() };
    walk.node(&old, &new, &FieldPath::root(), true);
    let scale = Scale::of(version);
    let resource = ResourceNames { group: crd.group(), version: version.name, kind: crd.kind(), shares_objects: false };
    let shown = |drafts: Vec<FactDraft>| {
        let facts = if drafts.is_empty() { Vec::new() } else { attach(drafts, (&old, &scale), (&new, &scale), resource, budget) };
        // Without an object that shows it, there is no change.
        facts.into_iter().filter(|fact| fact.effect != Effect::Rewritten)
    };
    let mut facts: Vec<Fact> = shown(std::mem::take(&mut walk.drafts)).collect();
    // A rule that refuses what it used to allow is a break, whatever else it allows.
    let broken = |fact: &Fact| facts.iter().any(|other| other.path == fact.path && other.key == fact.key);
    let more: Vec<Fact> = std::mem::take(&mut walk.facts).into_iter().filter(|fact| !broken(fact)).collect();
    facts.extend(more);
    for (format, fields) in &walk.ranges {
        // One object represents all fields of a format.
        let candidates = fields.iter().take(CANDIDATES).map(|field| walk.range(format, field, fields)).collect();
        facts.extend(shown(candidates).min_by_key(|fact| fact.evidence.witness.is_none()));
    }
    facts
}

struct UpgradeWalk<'w, 't> {
    crd: &'w Crd<'t>,
    version: &'w str,
    from: Server,
    to: Server,
    drafts: Vec<FactDraft>,
    /// Facts for which no object is searched.
    facts: Vec<Fact>,
    /// Fields that are only restricted by their format, by format.
    ranges: BTreeMap<String, Vec<RangeField>>,
}

impl UpgradeWalk<'_, '_> {
    fn node(&mut self, old: &Schema<'_>, new: &Schema<'_>, path: &FieldPath, root: bool) {
        self.formats(old, new, path);
        self.rules(old, new, path, root);
        for ((step, _, before), (_, _, after)) in old.children().zip(new.children()) {
            self.node(&before, &after, &path.child(step.into()), false);
        }
    }

    /// Compares formats that only one of the servers enforces, on the node itself or in its clauses.
    fn formats(&mut self, old: &Schema<'_>, new: &Schema<'_>, path: &FieldPath) {
        let (before, after) = (Shape::local(old), Shape::local(new));
        let Some(effect) = format_effect(&before, &after) else { return };
        let at = new.entry(Keyword::Format).map_or(new.node(), |entry| entry.value);
        let format = after.format.as_deref().unwrap_or("in a clause");
        let state = |server: Server, enforced: bool| format!("{format} ({} by {server})", if enforced { "enforced" } else { "ignored" });
        let mut now = state(self.to, effect == Effect::Narrowed);
        let mut lost = None;
        let is_number = matches!(new.ty(), Some("integer" | "number"));
        match (effect, after.format.as_deref().filter(|_| is_number).map(NumberRange::of)) {
            // Every number of the type is in the range of int64, or of double.
            (Effect::Narrowed, Some(None)) => return,
            (Effect::Narrowed, Some(Some(range))) => match range.intends_more(&before, new.default().and_then(Node::as_f64)) {
                // An author who writes a larger bound expects larger values, and such a bound makes the server reject all of them.
                Some(what) => {
                    now.push_str(&format!(", and {what} is out of its range"));
                    lost = range.beyond(&before);
                }
                None => {
                    if let Some(beyond) = range.beyond(&before) {
                        let field = RangeField { path: path.clone(), span: at.span(), beyond };
                        self.ranges.entry(format.to_owned()).or_default().push(field);
                    }
                    return;
                }
            },
            (Effect::Narrowed, None) => lost = Some(json!("Not a name")),
            _ => {}
        }
        let fact = self
            .fact(Aspect::Format, effect, path, at.span())
            .word(Word::Old, state(self.from, effect == Effect::Widened))
            .word(Word::New, now)
            .word(Word::Keyword, Keyword::Format.name());
        self.drafts.push(FactDraft { lost: lost.map(Sample::Sent), ..FactDraft::from(fact) });
    }

    /// A fact that the newer server enforces a format in these fields, shown at one of them.
    fn range(&self, format: &str, field: &RangeField, all: &[RangeField]) -> FactDraft {
        let count = if all.len() == 1 { "1 field".to_owned() } else { format!("{} fields", all.len()) };
        let fact = self
            .fact(Aspect::Format, Effect::Unsafe, &field.path, field.span)
            .word(Word::Name, format)
            .word(Word::Old, self.from.to_string())
            .word(Word::New, self.to.to_string())
            .word(Word::Count, count)
            .word(Word::Fields, list_some(all.iter().map(|field| format!("`{}`", field.path)), NAMED));
        FactDraft { lost: Some(Sample::Sent(field.beyond.clone())), ..FactDraft::from(fact) }
    }

    /// Compares rules that compile, or hold, on only one of the servers.
    fn rules(&mut self, old: &Schema<'_>, new: &Schema<'_>, path: &FieldPath, root: bool) {
        if old.cel_rules().len() == 0 {
            return;
        }
        let compiles = |schema: &Schema<'_>, text: &str| {
            let shape = Shape::of(schema);
            let decl = Arc::new(Decl::of(&shape, root || shape.embedded));
            let rule = shape.rules.iter().find(|rule| rule.rule == text);
            let optional = rule.is_some_and(|rule| rule.optional_old_self == Some(true));
            Program::compile(text, Purpose::Rule, &decl, optional, schema.kubernetes().stored_expressions())
        };
        for rule in old.cel_rules() {
            let text = rule.rule();
            let (before, after) = (compiles(old, text), compiles(new, text));
            let differs =
                |program: &Program, feature: Feature| self.from.has(feature) != self.to.has(feature) && program.is_evaluated_by(feature);
            let (effect, state) = match (&before, &after) {
                (Ok(_), Err(error)) => (Effect::Narrowed, format!("doesn't compile on {}: {error}", self.to)),
                (Err(_), Ok(_)) => (Effect::Widened, format!("compiles since {}", self.to)),
                (Ok(program), Ok(_)) if EVALUATED.into_iter().any(|feature| differs(program, feature)) => {
                    (Effect::Undecided, format!("is evaluated differently on {}", self.to))
                }
                _ => continue,
            };
            let at = rule.node.get("rule").unwrap_or(rule.node);
            let transition = [&before, &after].into_iter().flatten().any(Program::is_transition);
            let aspect = if transition { Aspect::CelTransition } else { Aspect::CelRule };
            let fact = |effect: Effect| {
                self.fact(aspect, effect, path, at.span())
                    .key(text.trim())
                    .word(Word::Rule, text.trim())
                    .word(Word::Old, cut(text, RULE))
                    .word(Word::New, format!("{} ({state})", cut(text, RULE)))
                    .word(Word::Reason, state.clone())
            };
            // The rule may hold for other objects than before, in either direction; only an object shows that it refuses more.
            let either = (effect == Effect::Undecided && aspect == Aspect::CelRule).then(|| fact(Effect::Widened));
            let draft = FactDraft { rule: Some(text.to_owned()), ..FactDraft::from(fact(effect)) };
            let undecided = |fact| Fact { evidence: Evidence::undecided("some results of its functions differ"), ..fact };
            self.facts.extend(either.map(undecided));
            self.drafts.push(draft);
        }
    }

    fn fact(&self, aspect: Aspect, effect: Effect, path: &FieldPath, span: crate::input::yaml::Span) -> Fact {
        let place = Place { file: self.crd.file, span };
        let fact = Fact::about(self.crd, Subject::Field, aspect, effect).version(self.version).path(path).before(place).after(place);
        match (effect, self.to.has(Feature::Ratcheting)) {
            (Effect::Widened, _) => fact.affects(&[Affected::Readers]),
            (_, true) => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Field),
            (_, false) => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Never),
        }
    }
}

/// Whether one server enforces a format here that the other ignores.
fn format_effect(old: &Shape, new: &Shape) -> Option<Effect> {
    let own = match (enforced_format(old), enforced_format(new)) {
        (false, true) => Some(Effect::Narrowed),
        (true, false) => Some(Effect::Widened),
        _ => None,
    };
    let clauses = |shape: &'_ Shape| -> Vec<Shape> {
        let lists = [&shape.all_of, &shape.any_of, &shape.one_of].into_iter().flatten().cloned();
        lists.chain(shape.not.as_deref().cloned()).collect()
    };
    let mut inner = clauses(old).into_iter().zip(clauses(new));
    own.or_else(|| inner.find_map(|(before, after)| format_effect(&before, &after)))
}

/// The range of numbers of a format.
enum NumberRange {
    Int32,
    Float,
}

impl NumberRange {
    fn of(format: &str) -> Option<NumberRange> {
        match format {
            "int32" => Some(NumberRange::Int32),
            "float" => Some(NumberRange::Float),
            _ => None,
        }
    }

    fn contains(&self, number: f64) -> bool {
        match self {
            NumberRange::Int32 => (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number),
            NumberRange::Float => number.abs() <= f64::from(f32::MAX),
        }
    }

    /// What in the schema shows that numbers outside the range are intended.
    fn intends_more(&self, shape: &Shape, default: Option<f64>) -> Option<&'static str> {
        let outside = |number: Option<f64>| number.is_some_and(|number| !self.contains(number));
        let listed = shape.enum_values.iter().flatten().any(|value| outside(value.as_f64()));
        let all = [
            ("maximum", outside(shape.bounds.maximum)),
            ("minimum", outside(shape.bounds.minimum)),
            ("multipleOf", outside(shape.bounds.multiple_of)),
            ("the default", outside(default)),
            ("a value of the enum", listed),
        ];
        all.into_iter().find(|(_, outside)| *outside).map(|(what, _)| what)
    }

    /// A number outside the range that the rest of the node allows, to search for an object with it.
    fn beyond(&self, shape: &Shape) -> Option<Value> {
        let bounds = &shape.bounds;
        let listed = shape.enum_values.iter().flatten().find(|value| value.as_f64().is_some_and(|number| !self.contains(number)));
        let fits = |number: f64| bounds.maximum.is_none_or(|most| number <= most) && bounds.minimum.is_none_or(|least| number >= least);
        let [above, below] = match self {
            NumberRange::Int32 => [json!(i64::from(i32::MAX) + 1), json!(i64::from(i32::MIN) - 1)],
            NumberRange::Float => [json!(1e39), json!(-1e39)],
        };
        match &shape.enum_values {
            Some(_) => listed.cloned(),
            None => [above, below].into_iter().find(|value| value.as_f64().is_some_and(fits)),
        }
    }
}
