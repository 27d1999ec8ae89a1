//! Walks a version's schema, passing each node to the checks once.

use crate::input::yaml::Node;
use crate::model::fact::{Aspect, Effect, Fact, Subject};
use crate::model::kubernetes::Feature;
use crate::model::schema::{Keyword, Schema};
use crate::model::{FactCollector, FieldPath};

use super::schema_position::{SchemaPosition, SchemaStep};
use super::server_checks::ServerChecks;
use super::{cel_rules, default_checks, schema_node, structural};

/// How a node belongs to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaLevel {
    Root,
    Item,
    Field,
}

/// Why a default is forbidden here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoDefault {
    TopLevel,
    MetadataValues,
}

/// What a node's position in the schema implies for the checks.
#[derive(Clone, Copy)]
pub(super) struct NodeContext<'p, 't> {
    pub level: SchemaLevel,
    /// Inside `allOf`, `anyOf`, `oneOf` or `not`.
    pub nested: bool,
    /// Inside `metadata`, `apiVersion` or `kind` of a resource.
    pub meta: bool,
    /// `anyOf: [{type: integer}, {type: string}]` is allowed here: outside clauses, or in the first clause of an `allOf`.
    pub may_pair: bool,
    /// Exempt from structural checks: a clause of that `anyOf`, or a position that structural schemas don't have.
    pub exempt: bool,
    pub no_default: Option<NoDefault>,
    /// The outermost enclosing list or map whose elements can't be matched between the old and the new object.
    pub uncorrelated: Option<&'p SchemaPosition<'p, 't>>,
    /// Below `additionalProperties`, where the server doesn't validate defaults.
    pub in_map: bool,
}

/// A default to be validated once the whole schema is known to be structural.
pub(super) struct DefaultSite<'t> {
    pub schema: Schema<'t>,
    pub value: Node<'t>,
    pub field: String,
    pub path: FieldPath,
    pub meta: bool,
    pub in_map: bool,
}

/// A node with CEL rules, to be compiled once the surrounding schema is known to be valid.
pub(super) struct RuleSite<'t> {
    pub schema: Schema<'t>,
    pub field: String,
    pub path: FieldPath,
    pub uncorrelated: Option<String>,
}

pub(super) struct CrdSchemaWalk<'a, 't> {
    pub collector: &'a mut FactCollector<'t>,
    pub checks: &'a ServerChecks,
    pub version: &'t str,
    /// The version that decides whether the schema changed: the first one, if all share one schema.
    pub budget_version: &'t str,
    /// The path that the server reports for the schema's root.
    pub base: String,
    /// Whether the schema must be structural.
    pub structural: bool,
    /// Whether errors were found that keep the server from checking defaults and rules.
    pub unsound: bool,
    pub defaults: Vec<DefaultSite<'t>>,
    pub rules: Vec<RuleSite<'t>>,
}

impl<'a, 't> CrdSchemaWalk<'a, 't> {
    pub fn new(collector: &'a mut FactCollector<'t>, checks: &'a ServerChecks, version: &'t str, base: String, structural: bool) -> Self {
        CrdSchemaWalk {
            collector,
            checks,
            version,
            budget_version: version,
            base,
            structural,
            unsound: false,
            defaults: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Adds a refusal, reported at a node's key or at one of its keywords.
    pub fn refuse(
        &mut self,
        what: (Aspect, Effect),
        node: Node<'t>,
        position: &SchemaPosition<'_, 't>,
        below: &str,
        reason: impl Into<String>,
    ) -> &mut Fact {
        let field = position.field(&self.base) + below;
        let path = position.path();
        let version = self.version.to_owned();
        let fact = self.collector.refuse((Subject::Field, what.0, what.1), node, field, reason);
        fact.path = path;
        fact.version = Some(version);
        fact
    }

    pub fn root(&mut self, schema: &Schema<'t>, key: Node<'t>) {
        let context = NodeContext {
            level: SchemaLevel::Root,
            nested: false,
            meta: false,
            may_pair: true,
            exempt: false,
            no_default: None,
            uncorrelated: None,
            in_map: false,
        };
        let position = SchemaPosition::root(key);
        if schema.flag(Keyword::Nullable) {
            let at = schema.entry(Keyword::Nullable).map_or(key, |entry| entry.key);
            self.refuse((Aspect::Nullable, Effect::Forbidden), at, &position, ".nullable", "nullable cannot be true at the root");
        }
        self.visit(schema, &position, context);
        if self.structural {
            structural::completeness(self, schema, &position);
        }
    }

    /// Checks defaults, then CEL rules. The server only checks them if everything before was valid.
    pub fn check_defaults_and_rules(&mut self, root: &Schema<'t>) {
        let (sites, rules) = (std::mem::take(&mut self.defaults), std::mem::take(&mut self.rules));
        if self.structural && !self.unsound && default_checks::check(self, root, &sites) {
            cel_rules::check(self, root, &rules);
        }
    }

    /// Whether the cost limit of a single rule is waived: on update, if the schema didn't change.
    pub fn waives_rule_cost(&self) -> bool {
        self.checks.unchanged.contains(self.budget_version) && self.collector.crd.kubernetes.has(Feature::UnchangedCostWaived)
    }

    /// Returns whether the node and everything below it has no schema errors (except structural ones).
    fn visit(&mut self, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: NodeContext<'_, 't>) -> bool {
        let mut sound = schema_node::check(self, schema, position, context);
        if self.structural && !context.exempt {
            self.unsound |= if context.nested {
                structural::clause_node(self, schema, position)
            } else {
                structural::plain_node(self, schema, position, context.level)
            };
        }
        sound &= self.children(schema, position, context);
        if !context.nested {
            self.collect_sites(schema, position, context, sound);
        }
        sound
    }

    fn children(&mut self, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, own: NodeContext<'_, 't>) -> bool {
        let mut sound = true;
        // The first clause of an `allOf` may have that `anyOf` itself; its properties and items may not.
        let context = NodeContext { may_pair: own.may_pair && !own.nested, ..own };
        let unknown_map = !matches!(schema.text(Keyword::MapType), None | Some("granular" | "atomic"));
        let is_resource = !context.nested && (context.level == SchemaLevel::Root || schema.flag(Keyword::EmbeddedResource));

        if let (Some(values), Some(entry)) = (schema.values(), schema.entry(Keyword::AdditionalProperties)) {
            let inner = NodeContext {
                level: SchemaLevel::Field,
                no_default: if context.meta { Some(NoDefault::MetadataValues) } else { context.no_default },
                in_map: true,
                // Inside a clause, the keyword itself is the error.
                exempt: context.exempt || context.nested,
                ..context
            };
            sound &= self.visit(&values, &position.child(SchemaStep::Values, entry.key), inner);
        }
        for (entry, child) in schema.properties() {
            let name = entry.name();
            let meta = is_resource && matches!(name, "metadata" | "kind" | "apiVersion");
            let inner = NodeContext {
                level: SchemaLevel::Field,
                meta: context.meta || meta,
                no_default: if meta && context.level == SchemaLevel::Root { Some(NoDefault::TopLevel) } else { context.no_default },
                uncorrelated: context.uncorrelated.or(if unknown_map { Some(position) } else { None }),
                ..context
            };
            sound &= self.visit(&child, &position.child(SchemaStep::Property(name), entry.key), inner);
        }
        sound &= self.clauses(schema, position, own);
        sound &= self.items(schema, position, context);
        sound & self.forbidden_places(schema, position, context)
    }

    fn clauses(&mut self, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: NodeContext<'_, 't>) -> bool {
        let mut sound = true;
        let pair = context.may_pair && structural::has_int_or_string_pair(schema);
        let inner = NodeContext { nested: true, may_pair: false, ..context };
        for word in [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf] {
            for (index, clause) in schema.clauses(word).enumerate() {
                let key = clause.node().entry_at(0).map_or(clause.node(), |entry| entry.key);
                let inner = NodeContext {
                    may_pair: !context.nested && word == Keyword::AllOf && index == 0,
                    exempt: context.exempt || word == Keyword::AnyOf && pair,
                    ..inner
                };
                sound &= self.visit(&clause, &position.child(SchemaStep::Clause(word, index), key), inner);
            }
        }
        if let (Some(clause), Some(entry)) = (schema.not(), schema.entry(Keyword::Not)) {
            sound &= self.visit(&clause, &position.child(SchemaStep::Not, entry.key), inner);
        }
        sound
    }

    fn items(&mut self, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: NodeContext<'_, 't>) -> bool {
        let Some(entry) = schema.entry(Keyword::Items) else { return true };
        let map_list = schema.text(Keyword::ListType) == Some("map");
        let inner = NodeContext {
            level: SchemaLevel::Item,
            uncorrelated: context.uncorrelated.or(if map_list { None } else { Some(position) }),
            ..context
        };
        if entry.value.is_map() {
            return self.visit(&Schema::new(entry.value).on(schema.kubernetes()), &position.child(SchemaStep::Items, entry.key), inner);
        }
        let mut sound = true;
        for (index, item) in entry.value.items().enumerate() {
            sound &= self.visit(
                &Schema::new(item).on(schema.kubernetes()),
                &position.child(SchemaStep::Item(index), entry.key),
                NodeContext { exempt: true, ..inner },
            );
        }
        sound
    }

    /// Visits schemas under keywords that the server forbids, because it still checks them.
    fn forbidden_places(&mut self, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: NodeContext<'_, 't>) -> bool {
        let mut sound = true;
        let inner = NodeContext { nested: true, may_pair: false, exempt: true, ..context };
        for word in [Keyword::Definitions, Keyword::Dependencies] {
            for entry in schema.word(word).into_iter().flat_map(Node::entries).filter(|entry| entry.value.is_map()) {
                let child = Schema::new(entry.value).on(schema.kubernetes());
                sound &= self.visit(&child, &position.child(SchemaStep::Named(word, entry.name()), entry.key), inner);
            }
        }
        sound
    }

    /// Collects defaults and rules, which are checked after the whole schema.
    fn collect_sites(&mut self, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: NodeContext<'_, 't>, sound: bool) {
        if let Some(value) = schema.default() {
            let (field, path) = (position.field(&self.base), position.path());
            self.defaults.push(DefaultSite { schema: schema.clone(), value, field, path, meta: context.meta, in_map: context.in_map });
        }
        if sound && schema.word(Keyword::Validations).is_some_and(|list| !list.is_empty()) {
            self.rules.push(RuleSite {
                schema: schema.clone(),
                field: position.field(&self.base),
                path: position.path(),
                uncorrelated: context.uncorrelated.map(|at| at.field(&self.base)),
            });
        }
    }
}

/// Whether the condition holds for the schema or for any schema inside it.
pub(super) fn any_node<'t>(schema: &Schema<'t>, condition: &mut dyn FnMut(&Schema<'t>) -> bool) -> bool {
    use Keyword as K;
    if condition(schema) {
        return true;
    }
    for word in [K::Items, K::AdditionalProperties, K::AdditionalItems, K::Not] {
        if let Some(node) = schema.word(word) {
            if node.is_map() && any_node(&Schema::new(node).on(schema.kubernetes()), condition) {
                return true;
            }
            if node.items().any(|item| any_node(&Schema::new(item).on(schema.kubernetes()), condition)) {
                return true;
            }
        }
    }
    for word in [K::AllOf, K::AnyOf, K::OneOf] {
        if schema.clauses(word).any(|clause| any_node(&clause, condition)) {
            return true;
        }
    }
    [K::Properties, K::PatternProperties, K::Definitions, K::Dependencies].iter().filter_map(|&word| schema.word(word)).any(|map| {
        map.entries().any(|entry| entry.value.is_map() && any_node(&Schema::new(entry.value).on(schema.kubernetes()), condition))
    })
}
