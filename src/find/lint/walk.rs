//! Walks a version's schema once, passing each node outside `allOf`, `anyOf`, `oneOf` and `not` to the checks.

use crate::input::yaml::Node;
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Fact, Subject};
use crate::model::schema::{Keyword, Schema};
use crate::server::crd::{SchemaLevel, SchemaPosition, SchemaStep};

use super::{convention, defaults, hazard};

/// What the position of a node implies.
#[derive(Clone, Copy)]
pub(super) struct LintContext<'p, 't> {
    pub level: SchemaLevel,
    /// Inside `metadata`, `apiVersion` or `kind` of a resource.
    pub meta: bool,
    /// Below `additionalProperties`, where the server doesn't validate defaults.
    pub in_map: bool,
    pub parent: Option<&'p Schema<'t>>,
}

pub(super) struct LintWalk<'a, 't> {
    pub collector: &'a mut FactCollector<'t>,
    pub version: &'t str,
    /// Whether the schema is structural, so that its defaults apply.
    pub structural: bool,
}

impl<'t> LintWalk<'_, 't> {
    /// A fact about a node.
    pub fn note(&mut self, what: (Aspect, Effect), node: Node<'t>, position: &SchemaPosition<'_, 't>) -> &mut Fact {
        let fact = self.collector.note((Subject::Field, what.0, what.1), node);
        fact.path = position.path();
        fact.version = Some(self.version.to_owned());
        fact
    }

    pub fn root(&mut self, schema: &Schema<'t>, key: Node<'t>) {
        let context = LintContext { level: SchemaLevel::Root, meta: false, in_map: false, parent: None };
        self.visit(schema, &SchemaPosition::root(key), context);
    }

    fn visit(&mut self, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: LintContext<'_, 't>) {
        hazard::node(self, schema, position, context);
        convention::node(self, schema, position);
        if self.structural {
            defaults::check(self, schema, position, context);
        }
        let inner = LintContext { level: SchemaLevel::Field, parent: Some(schema), ..context };
        if let (Some(values), Some(entry)) = (schema.values(), schema.entry(Keyword::AdditionalProperties)) {
            self.visit(&values, &position.child(SchemaStep::Values, entry.key), LintContext { in_map: true, ..inner });
        }
        let is_resource = context.level == SchemaLevel::Root || schema.flag(Keyword::EmbeddedResource);
        for (entry, child) in schema.properties() {
            let meta = context.meta || is_resource && matches!(entry.name(), "metadata" | "kind" | "apiVersion");
            let position = position.child(SchemaStep::Property(entry.name()), entry.key);
            self.visit(&child, &position, LintContext { meta, ..inner });
        }
        let Some(entry) = schema.entry(Keyword::Items) else { return };
        let inner = LintContext { level: SchemaLevel::Item, ..inner };
        if entry.value.is_map() {
            self.visit(&Schema::new(entry.value).on(schema.kubernetes()), &position.child(SchemaStep::Items, entry.key), inner);
        }
        for (index, item) in entry.value.items().enumerate() {
            let position = position.child(SchemaStep::Item(index), entry.key);
            self.visit(&Schema::new(item).on(schema.kubernetes()), &position, LintContext { parent: None, ..inner });
        }
    }
}
