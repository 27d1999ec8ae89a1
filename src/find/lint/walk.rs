//! One walk over a version's schema: each node is shown to the checks once, with what its place implies.

use crate::input::yaml::Node;
use crate::model::FieldPath;
use crate::model::fact::{Aspect, Effect, Fact, Subject};
use crate::model::schema::{Additional, Keyword, Schema};

use super::fact_collector::Ledger;
use super::route::{Route, Turn};
use super::server_checks::Demands;
use super::{convention, defaults, hazard, node, rules, structural};

/// How a node is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Root,
    Item,
    Field,
}

/// Why a default must not stand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoDefault {
    TopLevel,
    MetadataValues,
}

/// What the place of a node implies for it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'p, 't> {
    pub level: Level,
    /// Inside a junctor.
    pub nested: bool,
    /// Inside `metadata`, `apiVersion` or `kind` of a resource.
    pub meta: bool,
    /// A pair `anyOf: [{type: integer}, {type: string}]` may stand here: on the spine, or in the first clause of its `allOf`.
    pub may_pair: bool,
    /// Structural checks are off: a clause of that pair, or a place that structural schemas don't have.
    pub spared: bool,
    pub no_default: Option<NoDefault>,
    /// The nearest list or map from the top whose elements can't be told apart between old and new.
    pub uncorrelated: Option<&'p Route<'p, 't>>,
    /// Below `additionalProperties`, where the server doesn't validate defaults.
    pub in_map: bool,
}

/// A default that is to be validated once the whole schema is known to be structural.
pub(super) struct DefaultSite<'t> {
    pub schema: Schema<'t>,
    pub value: Node<'t>,
    pub field: String,
    pub path: FieldPath,
    pub meta: bool,
    pub in_map: bool,
}

/// A node with CEL rules, to be compiled once the schema around it is known to be sound.
pub(super) struct RuleSite<'t> {
    pub schema: Schema<'t>,
    pub field: String,
    pub path: FieldPath,
    pub uncorrelated: Option<String>,
}

pub(super) struct Walk<'a, 't> {
    pub ledger: &'a mut Ledger<'t>,
    pub demands: &'a Demands,
    pub version: &'t str,
    /// The version whose schema counts as changed or not: the first one, where all share one schema.
    pub budget_version: &'t str,
    /// The server's path of the schema's root.
    pub base: String,
    /// Whether schemas must be structural, all things considered.
    pub structural: bool,
    /// Faults that keep the server from looking at defaults and rules.
    pub unsound: bool,
    pub defaults: Vec<DefaultSite<'t>>,
    pub rules: Vec<RuleSite<'t>>,
}

impl<'a, 't> Walk<'a, 't> {
    pub fn new(ledger: &'a mut Ledger<'t>, demands: &'a Demands, version: &'t str, base: String, structural: bool) -> Self {
        Walk {
            ledger,
            demands,
            version,
            budget_version: version,
            base,
            structural,
            unsound: false,
            defaults: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// A fact that the server refuses the CRD for, at a node's key or at one of its words.
    pub fn refuse(
        &mut self,
        what: (Aspect, Effect),
        node: Node<'t>,
        route: &Route<'_, 't>,
        below: &str,
        reason: impl Into<String>,
    ) -> &mut Fact {
        let field = route.field(&self.base) + below;
        let path = route.path();
        let version = self.version.to_owned();
        let fact = self.ledger.refuse((Subject::Field, what.0, what.1), node, field, reason);
        fact.path = path;
        fact.version = Some(version);
        fact
    }

    pub fn note(&mut self, what: (Aspect, Effect), node: Node<'t>, route: &Route<'_, 't>) -> &mut Fact {
        let path = route.path();
        let version = self.version.to_owned();
        let fact = self.ledger.note((Subject::Field, what.0, what.1), node);
        fact.path = path;
        fact.version = Some(version);
        fact
    }

    pub fn root(&mut self, schema: &Schema<'t>, key: Node<'t>) {
        let scope = Scope {
            level: Level::Root,
            nested: false,
            meta: false,
            may_pair: true,
            spared: false,
            no_default: None,
            uncorrelated: None,
            in_map: false,
        };
        let route = Route::root(key);
        if schema.flag(Keyword::Nullable) {
            let at = schema.entry(Keyword::Nullable).map_or(key, |entry| entry.key);
            self.refuse((Aspect::Nullable, Effect::Forbidden), at, &route, ".nullable", "nullable cannot be true at the root");
        }
        self.visit(schema, &route, scope, None);
        if self.structural {
            structural::completeness(self, schema, &route);
        }
    }

    /// Defaults and rules, in the server's order: each asks that what came before was sound.
    pub fn settle(mut self, root: &Schema<'t>) {
        let (sites, rules) = (std::mem::take(&mut self.defaults), std::mem::take(&mut self.rules));
        if !self.structural || self.unsound {
            return;
        }
        if self.demands.refusals && defaults::refused(&mut self, root, &sites) {
            rules::check(&mut self, root, &rules);
        }
        defaults::unchecked(&mut self, &sites);
    }

    /// On an update the limit for a single expression is not held against a schema that didn't change.
    pub fn waives_rule_cost(&self) -> bool {
        self.demands.unchanged.contains(self.budget_version)
    }

    /// Returns whether the node and everything below it is free of schema faults (structural ones apart).
    fn visit(&mut self, schema: &Schema<'t>, route: &Route<'_, 't>, scope: Scope<'_, 't>, parent: Option<&Schema<'t>>) -> bool {
        let refusals = self.demands.refusals;
        let mut sound = !refusals || node::check(self, schema, route, scope);
        if refusals && self.structural && !scope.spared {
            let found =
                if scope.nested { structural::nested(self, schema, route) } else { structural::spine(self, schema, route, scope.level) };
            self.unsound |= found;
        }
        if !scope.nested {
            hazard::node(self, schema, route, scope, parent);
            convention::node(self, schema, route);
        }
        sound &= self.children(schema, route, scope);
        if !scope.nested {
            self.gather(schema, route, scope, sound);
        }
        sound
    }

    fn children(&mut self, schema: &Schema<'t>, route: &Route<'_, 't>, own: Scope<'_, 't>) -> bool {
        let mut sound = true;
        // The first clause of an `allOf` may hold a pair itself; its properties and items may not.
        let scope = Scope { may_pair: own.may_pair && !own.nested, ..own };
        let unknown_map = !matches!(schema.text(Keyword::MapType), None | Some("granular" | "atomic"));
        let is_resource = !scope.nested && (scope.level == Level::Root || schema.flag(Keyword::EmbeddedResource));

        if let (Additional::Schema(values), Some(entry)) = (schema.additional(), schema.entry(Keyword::AdditionalProperties)) {
            let inner = Scope {
                level: Level::Field,
                no_default: if scope.meta { Some(NoDefault::MetadataValues) } else { scope.no_default },
                in_map: true,
                // In a junctor the keyword itself is the fault.
                spared: scope.spared || scope.nested,
                ..scope
            };
            sound &= self.visit(&values, &route.step(Turn::Values, entry.key), inner, Some(schema));
        }
        for (entry, child) in schema.properties() {
            let name = entry.name();
            let meta = is_resource && matches!(name, "metadata" | "kind" | "apiVersion");
            let inner = Scope {
                level: Level::Field,
                meta: scope.meta || meta,
                no_default: if meta && scope.level == Level::Root { Some(NoDefault::TopLevel) } else { scope.no_default },
                uncorrelated: scope.uncorrelated.or(if unknown_map { Some(route) } else { None }),
                ..scope
            };
            sound &= self.visit(&child, &route.step(Turn::Property(name), entry.key), inner, Some(schema));
        }
        sound &= self.clauses(schema, route, own);
        sound &= self.items(schema, route, scope);
        sound & self.forbidden_places(schema, route, scope)
    }

    fn clauses(&mut self, schema: &Schema<'t>, route: &Route<'_, 't>, scope: Scope<'_, 't>) -> bool {
        let mut sound = true;
        let pair = scope.may_pair && structural::has_int_or_string_pair(schema);
        let inner = Scope { nested: true, may_pair: false, ..scope };
        for word in [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf] {
            for (index, clause) in schema.clauses(word).enumerate() {
                let key = clause.node().entry_at(0).map_or(clause.node(), |entry| entry.key);
                let inner = Scope {
                    may_pair: !scope.nested && word == Keyword::AllOf && index == 0,
                    spared: scope.spared || word == Keyword::AnyOf && pair,
                    ..inner
                };
                sound &= self.visit(&clause, &route.step(Turn::Clause(word, index), key), inner, None);
            }
        }
        if let (Some(clause), Some(entry)) = (schema.not(), schema.entry(Keyword::Not)) {
            sound &= self.visit(&clause, &route.step(Turn::Not, entry.key), inner, None);
        }
        sound
    }

    fn items(&mut self, schema: &Schema<'t>, route: &Route<'_, 't>, scope: Scope<'_, 't>) -> bool {
        let Some(entry) = schema.entry(Keyword::Items) else { return true };
        let map_list = schema.text(Keyword::ListType) == Some("map");
        let inner = Scope { level: Level::Item, uncorrelated: scope.uncorrelated.or(if map_list { None } else { Some(route) }), ..scope };
        if entry.value.is_map() {
            return self.visit(&Schema::new(entry.value), &route.step(Turn::Items, entry.key), inner, Some(schema));
        }
        let mut sound = true;
        for (index, item) in entry.value.items().enumerate() {
            sound &= self.visit(&Schema::new(item), &route.step(Turn::Item(index), entry.key), Scope { spared: true, ..inner }, None);
        }
        sound
    }

    /// Schemas under keywords that the server forbids: it checks them all the same.
    fn forbidden_places(&mut self, schema: &Schema<'t>, route: &Route<'_, 't>, scope: Scope<'_, 't>) -> bool {
        let mut sound = true;
        let inner = Scope { nested: true, may_pair: false, spared: true, ..scope };
        for word in [Keyword::Definitions, Keyword::Dependencies] {
            for entry in schema.word(word).into_iter().flat_map(Node::entries).filter(|entry| entry.value.is_map()) {
                let child = Schema::new(entry.value);
                sound &= self.visit(&child, &route.step(Turn::Named(word, entry.name()), entry.key), inner, None);
            }
        }
        sound
    }

    /// Puts aside what can only be judged when the whole schema has been seen.
    fn gather(&mut self, schema: &Schema<'t>, route: &Route<'_, 't>, scope: Scope<'_, 't>, sound: bool) {
        if let Some(value) = schema.default() {
            let (field, path) = (route.field(&self.base), route.path());
            self.defaults.push(DefaultSite { schema: schema.clone(), value, field, path, meta: scope.meta, in_map: scope.in_map });
        }
        if sound && schema.word(Keyword::Validations).is_some_and(|list| !list.is_empty()) {
            self.rules.push(RuleSite {
                schema: schema.clone(),
                field: route.field(&self.base),
                path: route.path(),
                uncorrelated: scope.uncorrelated.map(|at| at.field(&self.base)),
            });
        }
    }
}
