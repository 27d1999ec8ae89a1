//! Finds every node of a schema that has rules, with everything needed to judge them.

use std::sync::Arc;

use crate::model::schema::Shape;
use crate::model::schema::shape::{CelRule, Extra, ListType, Type};
use crate::model::{FieldPath, PathStep};

use super::decl::Decl;

/// A node with rules.
#[derive(Clone, Debug)]
pub struct Site<'s> {
    pub path: FieldPath,
    pub shape: &'s Shape,
    pub decl: Arc<Decl>,
    /// Whether the server finds no type for the node, or for one of its parents that it checks first, and therefore refuses its
    /// rules without compiling them.
    pub untyped: bool,
    /// How often the node can occur in one object, if the lists and maps around it are bounded.
    pub occurrences: Option<u64>,
    /// The lists and maps around it, outermost first.
    pub around: Vec<Container>,
    /// The list whose items can't be matched between updates, so that `oldSelf` can't be used below it.
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
    walk.node(root, true, Around::Unruled);
    out
}

struct Walk<'w, 's> {
    out: &'w mut Vec<Site<'s>>,
    path: FieldPath,
    around: Vec<Container>,
    uncorrelated: Option<FieldPath>,
}

/// The declaration of a node from its parents: rules see a node like the outermost node with rules does.
enum Around<'d> {
    /// No parent has rules.
    Unruled,
    /// A parent has rules, but doesn't see this node.
    Unseen,
    Seen(&'d Arc<Decl>),
    /// A parent has no type.
    Broken,
}

impl<'d> Around<'d> {
    /// The same for a child of this node.
    fn below(&self, seen: impl Fn(&'d Decl) -> Option<&'d Arc<Decl>>) -> Around<'d> {
        match self {
            Around::Unruled => Around::Unruled,
            Around::Broken => Around::Broken,
            Around::Unseen => Around::Unseen,
            Around::Seen(decl) => seen(decl).map_or(Around::Unseen, Around::Seen),
        }
    }

    /// The same for `items` and `additionalProperties`. For both, the server takes the elements of the node's type, even if the type
    /// has none, or has those of the other keyword.
    fn element(&self) -> Around<'d> {
        match self {
            Around::Seen(decl) => decl.items().or_else(|| decl.values()).map_or(Around::Broken, Around::Seen),
            _ => self.below(|_| None),
        }
    }
}

impl<'s> Walk<'_, 's> {
    fn node(&mut self, shape: &'s Shape, root: bool, around: Around<'_>) {
        let asked = !shape.rules.is_empty() || !matches!(around, Around::Unruled);
        let made = match &around {
            Around::Seen(decl) => Some(Arc::clone(decl)),
            Around::Broken if shape.rules.is_empty() => None,
            _ => asked.then(|| Arc::new(Decl::of(shape, root || shape.embedded))),
        };
        let untyped = matches!(around, Around::Broken) || made.as_ref().is_some_and(|decl| !decl.exposed());
        if let Some(decl) = made.as_ref().filter(|_| !shape.rules.is_empty()) {
            let occurrences = self.around.iter().try_fold(1_u64, |product, container| Some(product.saturating_mul(container.max?)));
            self.out.push(Site {
                path: self.path.clone(),
                shape,
                decl: Arc::clone(decl),
                untyped,
                occurrences,
                around: self.around.clone(),
                uncorrelated: self.uncorrelated.clone(),
            });
        }
        let own = match &made {
            _ if untyped => Around::Broken,
            None => Around::Unruled,
            Some(decl) => Around::Seen(decl),
        };
        let repeated = repeats(shape).then(|| self.container(shape));
        self.around.extend(repeated.clone());
        for (name, property) in &shape.properties {
            self.path.push(PathStep::Key(name.as_str().into()));
            self.node(property, false, own.below(|decl| decl.property(name)));
            self.path.pop();
        }
        if repeated.is_some() {
            self.around.pop();
        }
        if let Extra::Values(values) = &shape.extra {
            self.child(values, own.element(), PathStep::Values, self.container(shape));
        }
        if let Some(items) = &shape.items {
            let before = self.uncorrelated.clone();
            if shape.list_type != ListType::Map && self.uncorrelated.is_none() {
                self.uncorrelated = Some(self.path.clone());
            }
            self.child(items, own.element(), PathStep::Items, self.container(shape));
            self.uncorrelated = before;
        }
    }

    fn child(&mut self, shape: &'s Shape, around: Around<'_>, step: PathStep, container: Container) {
        self.around.push(container);
        self.path.push(step);
        self.node(shape, false, around);
        self.path.pop();
        self.around.pop();
    }

    /// The container by which everything below is multiplied. Only the type decides which bound counts; without one, the factor is
    /// one.
    fn container(&self, shape: &Shape) -> Container {
        let max = match shape.ty {
            Some(Type::Array) => shape.item_count.max,
            Some(Type::Object) if shape.extra != Extra::Closed => shape.property_count.max,
            _ => Some(1),
        };
        Container { path: self.path.clone(), is_list: shape.ty == Some(Type::Array), max }
    }
}

/// Whether the server multiplies even for a node whose `properties` it visits, because it only looks at the type.
fn repeats(shape: &Shape) -> bool {
    match shape.ty {
        Some(Type::Array) => true,
        Some(Type::Object) => shape.extra != Extra::Closed,
        _ => false,
    }
}
