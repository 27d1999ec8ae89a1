//! Manifests and two bundles come in; facts about the manifests go out: paths that don't exist, laws that don't hold, what only
//! people can do, examples that are wrong.

use crate::model::fact::{Affected, Aspect, Certainty, Effect, Evidence, Fact, Outcome, Subject, Witness, Word};
use crate::model::{Bundle, Crd, FieldPath, Place, Step as PathStep};

use super::catalogue::Conversions;
use super::convert::Converter;
use super::graph::Tangle;
use super::keep::Preserve;
use super::laws::{Counterexample, Trial, Verdict, difference};
use super::manifest::{Direction, Endpoint, Manifest, Reverse};
use super::manifest_endpoints::{Hop, fits};
use super::output_schema::output_schema;
use super::path_through_steps::destination;
use super::shape_edit::{declared, open, prefix};
use super::step::{Manual, Op, Step};

/// The laws in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    Valid,
    ValidBack,
    RoundTrip,
    RoundTripBack,
    Idempotent,
    VersionBlind,
}

impl Law {
    pub const ALL: [Law; 6] = [Law::Valid, Law::ValidBack, Law::RoundTrip, Law::RoundTripBack, Law::Idempotent, Law::VersionBlind];

    pub fn title(self) -> &'static str {
        match self {
            Law::Valid => "results are valid",
            Law::ValidBack => "results of the way back are valid",
            Law::RoundTrip => "there and back loses nothing",
            Law::RoundTripBack => "back and there loses nothing",
            Law::Idempotent => "twice is once",
            Law::VersionBlind => "needs no stored version",
        }
    }
}

/// What was found about one manifest.
#[derive(Debug)]
pub struct Checked {
    pub manifest: String,
    pub from: String,
    pub to: String,
    /// Empty for a manifest between versions that neither bundle has, and for webhooks.
    pub laws: Vec<(Law, Verdict)>,
    pub facts: Vec<Fact>,
}

/// Checks every manifest for which both schemas are known, and how all of them hang together.
pub fn check(conversions: &Conversions, old: &Bundle<'_>, new: &Bundle<'_>, only: &dyn Fn(&Manifest) -> bool) -> Vec<Checked> {
    let mut checked: Vec<Checked> =
        conversions.manifests.iter().filter(|manifest| only(manifest)).map(|manifest| one(manifest, old, new)).collect();
    for (group, kind) in conversions.kinds() {
        for tangle in conversions.graph(group, kind).tangles() {
            let (manifest, fact) = tangled(&tangle, crd_name(group, kind, old, new));
            if let Some(owner) = checked.iter_mut().find(|one| one.manifest == manifest) {
                owner.facts.push(fact);
            }
        }
    }
    checked
}

/// Manifests that apply to nothing, each with the reason. One that was there before stays for the chain; where nobody knows what was
/// there, only those are told that can't be of an earlier change.
pub fn astray(conversions: &Conversions, before: Option<&Conversions>, old: &Bundle<'_>, new: &Bundle<'_>) -> Vec<Fact> {
    let known = |manifest: &Manifest| before.is_some_and(|before| before.manifests.iter().any(|other| other.name == manifest.name));
    let fresh = conversions.manifests.iter().filter(|manifest| !known(manifest));
    let told = fresh.filter_map(|manifest| Some((manifest, aimless(manifest, before.is_some(), old, new)?)));
    told.map(|(manifest, reason)| {
        Fact::new(Subject::Conversion, Aspect::Coverage, Effect::Unused, &crd_name(&manifest.group, &manifest.kind, old, new))
            .after(manifest.place(manifest.span))
            .key(manifest.name.clone())
            .word(Word::Name, manifest.name.clone())
            .word(Word::From, manifest.from.to_string())
            .word(Word::New, manifest.to.to_string())
            .word(Word::Reason, reason)
    })
    .collect()
}

/// Why a manifest applies to nothing of two bundles.
fn aimless(manifest: &Manifest, fresh: bool, old: &Bundle<'_>, new: &Bundle<'_>) -> Option<String> {
    let (before, after) = (of_kind(manifest, old), of_kind(manifest, new));
    if before.is_empty() && after.is_empty() {
        let kinds = old.crds.iter().chain(&new.crds).filter(|crd| crd.group() == manifest.group).map(|crd| crd.kind());
        let hint = crate::input::json_schema_check::nearest(&manifest.kind, kinds);
        return Some(format!("neither side has the kind `{}` in {}{hint}", manifest.kind, manifest.group));
    }
    if manifest.webhook || Hop::new(manifest, old, new).is_some() {
        return None;
    }
    let release = |crds: &[&Crd<'_>]| crate::model::release::parse(crds.first()?.bundle_version()?.value);
    let (past, present) = (release(&before), release(&after));
    let ahead = |end: &Endpoint| end.bundle.is_some() && past.is_some() && end.bundle > past && end.bundle != present;
    let meant =
        |end: &Endpoint, crd: &&Crd<'_>| fits(end, crd) && end.version.as_deref().is_none_or(|version| crd.version(version).is_some());
    let nowhere = |end: &Endpoint| !before.iter().chain(&after).any(|crd| meant(end, crd));
    let ends = [&manifest.from, &manifest.to];
    if !fresh && !ends.iter().any(|end| ahead(end) && nowhere(end)) {
        return None;
    }
    let missing: Vec<String> = ends.iter().filter(|end| nowhere(end)).map(|end| format!("`{end}`")).collect();
    Some(match missing.as_slice() {
        [] => format!("this change doesn't lead from `{}` to `{}`", manifest.from, manifest.to),
        ends => format!("neither side has {}", ends.join(" or ")),
    })
}

fn of_kind<'b, 't>(manifest: &Manifest, bundle: &'b Bundle<'t>) -> Vec<&'b Crd<'t>> {
    bundle.crds.iter().filter(|crd| crd.group() == manifest.group && crd.kind() == manifest.kind).collect()
}

fn crd_name(group: &str, kind: &str, old: &Bundle<'_>, new: &Bundle<'_>) -> String {
    let named = new.crds.iter().chain(&old.crds).find(|crd| crd.group() == group && crd.kind() == kind);
    named.map(|crd| crd.name.to_owned()).unwrap_or_default()
}

fn tangled(tangle: &Tangle<'_>, crd: String) -> (String, Fact) {
    let (manifest, effect, detail) = match tangle {
        Tangle::Loop { manifest, other } => {
            let names: Vec<&str> = other.iter().map(|manifest| manifest.name.as_str()).collect();
            (*manifest, Effect::Duplicate, names.join(", "))
        }
        Tangle::Webhook { manifest, first } => (*manifest, Effect::Excessive, first.name.clone()),
    };
    let fact = Fact::new(Subject::Conversion, Aspect::Graph, effect, &crd)
        .after(manifest.place(manifest.span))
        .key(manifest.name.clone())
        .word(Word::Name, manifest.name.clone())
        .word(Word::From, manifest.from.to_string())
        .word(Word::New, manifest.to.to_string())
        .word(Word::Other, detail);
    (manifest.name.clone(), fact)
}

fn one(manifest: &Manifest, old: &Bundle<'_>, new: &Bundle<'_>) -> Checked {
    let mut checked = Checked {
        manifest: manifest.name.clone(),
        from: manifest.from.to_string(),
        to: manifest.to.to_string(),
        laws: Vec::new(),
        facts: Vec::new(),
    };
    let crd = crd_name(&manifest.group, &manifest.kind, old, new);
    let mut judge = Judge { manifest, crd, facts: Vec::new(), version: manifest.to.version.clone(), channel: None, channels: "within" };
    if manifest.webhook {
        judge.webhook();
    }
    judge.manual();
    judge.merges();
    judge.order();
    judge.examples();
    if let Some(hop) = Hop::new(manifest, old, new).filter(|_| !manifest.webhook) {
        judge.channels = hop.channels();
        judge.channel = hop.new_crd.channel().map(|channel| channel.value.to_owned());
        judge.version = Some(hop.to.name.to_owned());
        if judge.paths(&hop) {
            let trial = Trial::new(manifest, &hop.old, &hop.new);
            checked.laws = judge.laws(&trial);
        }
        if let (Some(mention), Some((_, verdict))) =
            (manifest.meaning_changed.first(), checked.laws.iter_mut().find(|(law, _)| *law == Law::VersionBlind))
            && !matches!(verdict, Verdict::Broken(_))
        {
            *verdict = Verdict::Broken(Box::new(Counterexample {
                object: serde_json::Value::Null,
                result: None,
                because: format!("the meaning of `{}` changed, as the manifest says", mention.path),
                path: Some(mention.path.clone()),
                step: None,
            }));
        }
        judge.meanings();
        judge.readable(&hop);
    }
    judge.tombstones(new);
    checked.facts = judge.facts;
    checked
}

/// Gathers facts about one manifest.
struct Judge<'m> {
    manifest: &'m Manifest,
    crd: String,
    version: Option<String>,
    channel: Option<String>,
    channels: &'static str,
    facts: Vec<Fact>,
}

impl<'m> Judge<'m> {
    fn fact(&self, aspect: Aspect, effect: Effect, place: Place) -> Fact {
        let mut fact = Fact::new(Subject::Conversion, aspect, effect, &self.crd)
            .after(place)
            .word(Word::Name, self.manifest.name.clone())
            .word(Word::Channels, self.channels);
        fact.version.clone_from(&self.version);
        fact.channel.clone_from(&self.channel);
        fact.key(self.manifest.name.clone())
    }

    fn at_step(&self, aspect: Aspect, effect: Effect, index: usize, step: &Step, path: &FieldPath) -> Fact {
        let place = self.manifest.place(step.path_spans.first().copied().unwrap_or(step.span));
        self.fact(aspect, effect, place)
            .path(path)
            .key(format!("{}/{index}", self.manifest.name))
            .word(Word::Step, step.name)
            .word(Word::Number, (index + 1).to_string())
    }

    fn webhook(&mut self) {
        let fact = self.fact(Aspect::ConversionWebhook, Effect::Manual, self.manifest.place(self.manifest.span));
        self.facts.push(fact);
    }

    fn manual(&mut self) {
        for (index, step) in self.manifest.steps.iter().enumerate() {
            if let Some(Manual { path, effect, guidance }) = step.op.manual() {
                let fact = self.at_step(Aspect::Step, Effect::Manual, index, step, path);
                let guidance = guidance.split_whitespace().collect::<Vec<_>>().join(" ");
                self.facts.push(
                    fact.word(Word::Guidance, guidance).word(Word::What, effect.name()).evidence(Evidence::undecided("done by people")),
                );
            }
        }
    }

    /// Fields that become one: what each of them was is hard to tell afterwards.
    fn merges(&mut self) {
        for (index, step) in self.manifest.steps.iter().enumerate() {
            if let Some(to) = step.op.writes().first().filter(|_| step.op.merges_fields()) {
                let list: Vec<String> = step.op.reads().iter().map(ToString::to_string).collect();
                let mut fact = self.at_step(Aspect::Step, Effect::Lossy, index, step, to);
                fact = fact.word(Word::List, list.join(", "));
                self.facts.push(fact.affects(&[Affected::Data]));
            }
        }
    }

    /// Two steps whose order decides what comes out, other than one that goes on with what the other gave.
    fn order(&mut self) {
        let steps = &self.manifest.steps;
        for (later_index, later) in steps.iter().enumerate() {
            for (index, earlier) in steps.iter().enumerate().take(later_index) {
                let clash = |a: &FieldPath, b: &FieldPath| a.starts_with(b) || b.starts_with(a);
                let both_write = earlier.op.writes().iter().any(|a| later.op.writes().contains(a)) && !later.op.in_place();
                // What a step took away a later one puts back, for another meaning.
                let reused = earlier.op.reads().iter().any(|a| {
                    !earlier.op.in_place()
                        && later.op.writes().iter().any(|b| clash(a, b) && !later.op.reads().contains(b))
                        && later.op.writes().contains(a)
                });
                if both_write || reused {
                    let path = later.op.writes().first().map(|path| (*path).clone()).unwrap_or_default();
                    let fact = self.at_step(Aspect::Step, Effect::Mixed, later_index, later, &path);
                    self.facts.push(fact.word(Word::Other, (index + 1).to_string()));
                }
            }
        }
    }

    fn examples(&mut self) {
        for example in &self.manifest.examples {
            // What is kept beside an object is not written out in an example: on its way back it comes from the way there.
            let mut there = None;
            for (direction, given, expected) in
                [(Direction::Forward, &example.old, &example.new), (Direction::Back, &example.new, &example.old)]
            {
                let Ok(converter) = Converter::new(self.manifest, direction) else { continue };
                let given = there.take().filter(|_| self.manifest.preserve.is_some()).unwrap_or_else(|| given.clone());
                let said = match converter.converted(&given) {
                    Err(error) => Some(error.to_string()),
                    Ok(result) => {
                        let bare = |object: &serde_json::Value| {
                            let mut object = object.clone();
                            if let Some(preserve) = &self.manifest.preserve {
                                preserve.clear(&mut object);
                            }
                            object
                        };
                        let said = difference(&bare(expected), &bare(&result), &FieldPath::root()).map(|(_, said)| said);
                        there = Some(result);
                        said
                    }
                };
                if let Some(said) = said {
                    let way = if direction == Direction::Forward { "forward" } else { "back" };
                    let fact = self.fact(Aspect::Example, Effect::Mismatched, self.manifest.place(example.span));
                    self.facts.push(
                        fact.key(format!("{}/{way}/{}", self.manifest.name, example.span.start))
                            .word(Word::Way, way)
                            .word(Word::Detail, said),
                    );
                    break;
                }
            }
        }
    }

    /// Whether every path of a step is known where the step stands.
    fn paths(&mut self, hop: &Hop<'_, '_, '_>) -> bool {
        let mut shape = hop.old.shape.clone();
        let ops: Vec<Op> = self.manifest.steps.iter().map(|step| step.op.clone()).collect();
        let mut fine = true;
        for (index, step) in self.manifest.steps.iter().enumerate() {
            let later = ops.get(index + 1..).unwrap_or_default();
            let all = step.op.paths();
            for path in step.op.reads() {
                let span = all.iter().position(|other| *other == path).and_then(|at| step.path_spans.get(at)).copied().unwrap_or(step.span);
                if let Err(hint) = known(&shape, path) {
                    fine = false;
                    let fact = self.at_step(Aspect::Step, Effect::Unknown, index, step, path).after(self.manifest.place(span));
                    self.facts.push(fact.word(Word::Side, hop.from.name).word(Word::Hint, hint));
                }
            }
            for path in step.op.writes() {
                let end = destination(later, path);
                let gone = later.iter().any(|op| op.drops_field() && op.reads().iter().any(|dropped| path.starts_with(dropped)));
                let span =
                    all.iter().rposition(|other| *other == path).and_then(|at| step.path_spans.get(at)).copied().unwrap_or(step.span);
                if let Err(hint) = known(&hop.new.shape, &end)
                    && !gone
                {
                    fine = false;
                    let fact = self.at_step(Aspect::Step, Effect::Unknown, index, step, path).after(self.manifest.place(span));
                    self.facts.push(fact.word(Word::Side, hop.to.name).word(Word::Hint, hint));
                }
            }
            shape = output_schema(&step.op, &shape);
        }
        if let Some(Preserve::Field(path)) = &self.manifest.preserve
            && let (Err(_), Err(hint)) = (known(&hop.old.shape, path), known(&hop.new.shape, path))
        {
            fine = false;
            let fact = self.fact(Aspect::Step, Effect::Unknown, self.manifest.place(self.manifest.preserve_span)).path(path);
            self.facts.push(fact.key(format!("{}/preserve", self.manifest.name)).word(Word::Side, hop.to.name).word(Word::Hint, hint));
        }
        fine
    }

    fn laws(&mut self, trial: &Trial<'_>) -> Vec<(Law, Verdict)> {
        let mut verdicts = Vec::new();
        for law in Law::ALL {
            let verdict = match law {
                Law::Valid => trial.validity(Direction::Forward),
                Law::ValidBack => trial.validity(Direction::Back),
                Law::RoundTrip => trial.round_trip(Direction::Forward),
                Law::RoundTripBack => trial.round_trip(Direction::Back),
                Law::Idempotent => trial.idempotence(),
                Law::VersionBlind => trial.blindness(),
            };
            if let Verdict::Broken(broken) = &verdict {
                self.broken(law, broken);
            }
            verdicts.push((law, verdict));
        }
        let irreversible = match &self.manifest.reverse {
            Reverse::None(reason) => Some(reason.clone()),
            _ if self.manifest.is_reversible() => None,
            _ => Some("a step has no inverse".to_owned()),
        };
        if let Some(reason) = irreversible {
            let fact = self.fact(Aspect::RoundTrip, Effect::Missing, self.manifest.place(self.manifest.reverse_span));
            self.facts.push(fact.word(Word::Detail, reason).affects(&[Affected::Data]));
        }
        verdicts
    }

    fn broken(&mut self, law: Law, broken: &Counterexample) {
        let (aspect, effect, word) = match law {
            Law::Valid => (Aspect::Validity, Effect::Invalid, "forward"),
            Law::ValidBack => (Aspect::Validity, Effect::Invalid, "back"),
            Law::RoundTrip => (Aspect::RoundTrip, Effect::Lossy, "there-and-back"),
            Law::RoundTripBack => (Aspect::RoundTrip, Effect::Lossy, "back-and-there"),
            Law::Idempotent => (Aspect::Idempotence, Effect::Unsafe, "twice"),
            Law::VersionBlind => (Aspect::VersionBlind, Effect::Unsafe, "blind"),
        };
        let path = broken.path.clone().unwrap_or_default();
        let by_path = || {
            let near =
                |step: &Step| step.op.paths().iter().any(|other| !path.is_root() && (path.starts_with(other) || other.starts_with(&path)));
            self.manifest.steps.iter().position(near)
        };
        let place = match broken.step.or_else(by_path).and_then(|index| self.manifest.steps.get(index)) {
            Some(step) => self.manifest.place(step.path_spans.first().copied().unwrap_or(step.span)),
            None => self.manifest.place(self.manifest.span),
        };
        let outcome = match law {
            Law::Valid | Law::ValidBack => Outcome::Rejected,
            Law::RoundTrip | Law::RoundTripBack => Outcome::Pruned,
            Law::Idempotent | Law::VersionBlind => Outcome::Changed,
        };
        let witness = Witness { object: broken.object.clone(), old: Outcome::Accepted, new: outcome, because: broken.because.clone() };
        let fact = self
            .fact(aspect, effect, place)
            .path(&path)
            .key(format!("{}/{word}", self.manifest.name))
            .word(Word::Law, word)
            .word(Word::Detail, broken.because.clone())
            .evidence(Evidence { certainty: Certainty::Proved, witness: Some(witness), reason: None });
        let affects: &[Affected] = match law {
            Law::Valid | Law::ValidBack => &[Affected::Writers, Affected::Stored],
            Law::VersionBlind | Law::Idempotent => &[Affected::Behaviour],
            _ => &[Affected::Data],
        };
        self.facts.push(fact.affects(affects));
    }

    /// A declared change of meaning with an unchanged field can't be told from the object, by definition.
    fn meanings(&mut self) {
        for mention in &self.manifest.meaning_changed {
            let note = if mention.note.is_empty() { "its meaning changed".to_owned() } else { mention.note.clone() };
            let fact = self.fact(Aspect::VersionBlind, Effect::Unsafe, self.manifest.place(mention.span)).path(&mention.path);
            let key = format!("{}/meaning/{}", self.manifest.name, mention.path);
            self.facts.push(fact.key(key).word(Word::Law, "meaning").word(Word::Detail, note).affects(&[Affected::Behaviour]));
        }
    }

    /// What the new CRD prunes when it reads, no converter sees any more.
    fn readable(&mut self, hop: &Hop<'_, '_, '_>) {
        if !self.manifest.in_place() && hop.new_crd.version(hop.from.name).is_some_and(|version| version.served) {
            return;
        }
        let ops: Vec<Op> = self.manifest.steps.iter().map(|step| step.op.clone()).collect();
        let mut told: Vec<FieldPath> = Vec::new();
        for (index, step) in self.manifest.steps.iter().enumerate() {
            let done = ops.get(..index).unwrap_or_default();
            for path in step.op.reads() {
                let path = super::path_through_steps::origin(done, path);
                let shadowed = told.iter().any(|above| path.starts_with(above));
                if declared(&hop.old.shape, &path).is_none() || kept(&hop.new.shape, &path) || shadowed {
                    continue;
                }
                let fact = self.at_step(Aspect::Readability, Effect::Lossy, index, step, &path).affects(&[Affected::Data]);
                self.facts.push(fact.word(Word::ToVersion, hop.to.name).key(format!("{}/read/{path}", self.manifest.name)));
                told.push(path);
            }
        }
    }

    fn tombstones(&mut self, new: &Bundle<'_>) {
        let manifest = self.manifest;
        for mention in &manifest.tombstones {
            let crds = new.crds.iter().filter(|crd| crd.group() == manifest.group && crd.kind() == manifest.kind);
            for version in crds.flat_map(|crd| crd.versions.iter().map(move |version| (crd, version))) {
                let (crd, version) = version;
                let Some(schema) = &version.schema else { continue };
                let reused = mention.path.steps().iter().try_fold(schema.clone(), |schema, hop| match hop {
                    PathStep::Key(name) => schema.property(name).map(|(_, child)| child),
                    PathStep::Items => schema.items(),
                    PathStep::Values => match schema.additional() {
                        crate::model::schema::Additional::Schema(values) => Some(values),
                        _ => None,
                    },
                });
                if let Some(node) = reused {
                    let mut fact = Fact::new(Subject::Conversion, Aspect::Tombstone, Effect::Reused, crd.name)
                        .version(version.name)
                        .path(&mention.path)
                        .after(Place { file: crd.file, span: node.node().span() })
                        .word(Word::Name, manifest.name.clone())
                        .word(Word::Note, mention.note.clone())
                        .affects(&[Affected::Behaviour, Affected::Data]);
                    fact.channel = crd.channel().map(|channel| channel.value.to_owned());
                    self.facts.push(fact);
                }
            }
        }
    }
}

/// Whether a path can be meant in a shape; else the name that comes nearest to what was written.
fn known(shape: &crate::model::schema::Shape, path: &FieldPath) -> Result<(), String> {
    if matches!(path.head(), Some("metadata")) {
        return Ok(());
    }
    for depth in 1..=path.steps().len() {
        let here = prefix(path, depth);
        if declared(shape, &here).is_some() {
            continue;
        }
        let parent = declared(shape, &prefix(path, depth - 1));
        // Inside of what keeps everything, anything may stand.
        if parent.is_none_or(|parent| parent.preserve_unknown || parent.embedded || (open(parent) && parent.ty.is_none())) {
            return Ok(());
        }
        let Some(PathStep::Key(name)) = here.steps().last() else { return Err(String::new()) };
        let names = parent.map(|parent| parent.properties.keys().map(String::as_str).collect::<Vec<_>>()).unwrap_or_default();
        return Err(crate::input::json_schema_check::nearest(name, names.into_iter()));
    }
    Ok(())
}

/// Whether the server keeps what stands at a path.
fn kept(shape: &crate::model::schema::Shape, path: &FieldPath) -> bool {
    for depth in 1..=path.steps().len() {
        if declared(shape, &prefix(path, depth)).is_none() {
            return declared(shape, &prefix(path, depth - 1)).is_some_and(|parent| parent.preserve_unknown || parent.embedded);
        }
    }
    true
}
