//! Where rules stand: every node of a schema that has some, with all that judging them takes.

use std::sync::Arc;

use crate::crd::{FieldPath, Step};
use crate::schema::Shape;
use crate::schema::shape::{CelRule, Extra, ListType, Type};

use super::decl::Decl;

/// A node with rules.
#[derive(Clone, Debug)]
pub struct Site<'s> {
    pub path: FieldPath,
    pub shape: &'s Shape,
    pub decl: Arc<Decl>,
    /// How often the node can occur in one object, if the lists and maps around it are bounded.
    pub occurrences: Option<u64>,
    /// Lists and maps around it, outermost first.
    pub around: Vec<Container>,
    /// The list whose items can't be told apart between updates, so that `oldSelf` means nothing below it.
    pub uncorrelated: Option<FieldPath>,
}

/// A list or map around a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    pub path: FieldPath,
    pub is_list: bool,
    pub max: Option<u64>,
}

impl<'s> Site<'s> {
    pub fn rules(&self) -> &'s [CelRule] {
        &self.shape.rules
    }
}

/// All nodes of a version's schema that have rules, outer ones first.
pub fn sites(root: &Shape) -> Vec<Site<'_>> {
    let mut out = vec![];
    let mut walk = Walk { out: &mut out, path: FieldPath::root(), around: vec![], uncorrelated: None };
    walk.node(root, true, None);
    out
}

struct Walk<'w, 's> {
    out: &'w mut Vec<Site<'s>>,
    path: FieldPath,
    around: Vec<Container>,
    uncorrelated: Option<FieldPath>,
}

impl<'s> Walk<'_, 's> {
    /// `decl` is what a node around this one made of it already.
    fn node(&mut self, shape: &'s Shape, root: bool, decl: Option<&Arc<Decl>>) {
        let made = (decl.is_none() && !shape.rules.is_empty()).then(|| Arc::new(Decl::of(shape, root || shape.embedded)));
        let decl = decl.or(made.as_ref());
        if let Some(decl) = decl.filter(|_| !shape.rules.is_empty()) {
            let occurrences = self.around.iter().try_fold(1_u64, |product, container| Some(product.saturating_mul(container.max?)));
            self.out.push(Site {
                path: self.path.clone(),
                shape,
                decl: Arc::clone(decl),
                occurrences,
                around: self.around.clone(),
                uncorrelated: self.uncorrelated.clone(),
            });
        }
        for (name, property) in &shape.properties {
            self.path.push(Step::Key(name.as_str().into()));
            self.node(property, false, decl.and_then(|decl| decl.property(name)));
            self.path.pop();
        }
        if let Extra::Values(values) = &shape.extra {
            // Only an object's size bounds its values; on other types the keyword says nothing.
            let max = if shape.ty == Some(Type::Object) { shape.property_count.max } else { Some(1) };
            self.child(
                values,
                decl.and_then(|decl| decl.values()),
                Step::Values,
                Container { path: self.path.clone(), is_list: false, max },
            );
        }
        if let Some(items) = &shape.items {
            let max = if shape.ty == Some(Type::Array) { shape.item_count.max } else { Some(1) };
            let before = self.uncorrelated.clone();
            if shape.list_type != ListType::Map && self.uncorrelated.is_none() {
                self.uncorrelated = Some(self.path.clone());
            }
            self.child(items, decl.and_then(|decl| decl.items()), Step::Items, Container { path: self.path.clone(), is_list: true, max });
            self.uncorrelated = before;
        }
    }

    fn child(&mut self, shape: &'s Shape, decl: Option<&Arc<Decl>>, step: Step, container: Container) {
        self.around.push(container);
        self.path.push(step);
        self.node(shape, false, decl);
        self.path.pop();
        self.around.pop();
    }
}
