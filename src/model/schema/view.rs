//! A schema node as its author wrote it: each keyword with its place, nothing copied.

use crate::input::yaml::{Entry, Node};
use crate::model::kubernetes::{Feature, Server};
use crate::model::{FieldPath, PathStep};

use super::keyword::{COUNT, Keyword};
use super::shape::Extra;

const _: () = assert!(COUNT <= u64::BITS as usize, "one bit for each keyword");

/// A keyword after this many other keys is looked up by name.
const FAR: u16 = u16::MAX;

/// A schema node, built on demand in one pass over the keys of its mapping.
#[derive(Clone)]
pub struct Schema<'t> {
    node: Node<'t>,
    /// One bit for each keyword that is present.
    present: u64,
    /// The index of each keyword's entry; [`FAR`] if unknown.
    places: [u16; COUNT],
    /// Whether its CRD keeps everything undeclared (`spec.preserveUnknownFields`).
    open: bool,
    /// The server that reads it.
    kubernetes: Server,
}

/// One entry of `x-kubernetes-validations`.
#[derive(Debug, Clone, Copy)]
pub struct ValidationRule<'t> {
    pub node: Node<'t>,
    kubernetes: Server,
}

impl<'t> ValidationRule<'t> {
    #[inline]
    pub fn text(&self, key: &str) -> Option<&'t str> {
        self.node.text(key)
    }

    pub fn rule(&self) -> &'t str {
        self.text("rule").unwrap_or_default()
    }

    /// Dropped by servers that don't know it.
    pub fn optional_old_self(&self) -> Option<bool> {
        let flag = self.node.get("optionalOldSelf").and_then(Node::as_bool)?;
        self.kubernetes.has(Feature::OptionalOldSelf).then_some(flag)
    }
}

impl std::fmt::Debug for Schema<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Schema({:?})", self.node)
    }
}

impl<'t> Schema<'t> {
    /// The node at a path, if the schema declares it.
    pub(crate) fn at(&self, path: &FieldPath) -> Option<Schema<'t>> {
        path.steps().iter().try_fold(self.clone(), |here, step| here.below(step))
    }

    pub(crate) fn below(&self, step: &PathStep) -> Option<Schema<'t>> {
        match step {
            PathStep::Key(name) => self.property(name).map(|(_, child)| child),
            PathStep::Items => self.items(),
            PathStep::Values => self.values(),
        }
    }

    pub fn new(node: Node<'t>) -> Self {
        let (mut present, mut places) = (0, [0; COUNT]);
        for (number, entry) in node.entries().enumerate() {
            if let Some(word) = Keyword::parse(entry.name())
                && let Some(slot) = places.get_mut(word as usize)
                && !entry.value.is_null()
            {
                present |= 1 << word as u64;
                *slot = u16::try_from(number).unwrap_or(FAR);
            }
        }
        Schema { node, present, places, open: false, kubernetes: Server::default() }
    }

    /// The same schema in a CRD that keeps, or prunes, undeclared fields.
    pub fn within(self, open: bool) -> Self {
        Schema { open, ..self }
    }

    /// The same schema as this server reads it.
    pub fn on(self, kubernetes: impl Into<Server>) -> Self {
        Schema { kubernetes: kubernetes.into(), ..self }
    }

    /// The server that reads it.
    pub fn kubernetes(&self) -> Server {
        self.kubernetes
    }

    /// A schema below this one.
    pub fn child(&self, node: Node<'t>) -> Self {
        Schema::new(node).within(self.open).on(self.kubernetes)
    }

    pub fn node(&self) -> Node<'t> {
        self.node
    }

    /// Whether both are written the same, and read the same way.
    pub(super) fn reads_like(&self, other: &Schema<'_>) -> bool {
        self.open == other.open && self.kubernetes == other.kubernetes && self.node.same_text(other.node)
    }

    /// Whether a keyword is present; null counts as absent.
    pub fn has(&self, word: Keyword) -> bool {
        self.present & 1 << word as u64 != 0
    }

    /// The key and value of a keyword; null counts as absent.
    #[inline]
    pub fn entry(&self, word: Keyword) -> Option<Entry<'t>> {
        if !self.has(word) {
            return None;
        }
        match *self.places.get(word as usize)? {
            FAR => self.node.entry(word.name()),
            number => self.node.entry_at(number as usize),
        }
    }

    #[inline]
    pub fn word(&self, word: Keyword) -> Option<Node<'t>> {
        self.entry(word).map(|entry| entry.value)
    }

    /// The keywords that are present, in the order of [`Keyword::ALL`].
    pub fn words(&self) -> impl Iterator<Item = (Keyword, Entry<'t>)> + '_ {
        let mut left = self.present;
        std::iter::from_fn(move || {
            let lowest = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            let word = *Keyword::ALL.get(lowest as usize)?;
            Some((word, self.entry(word)?))
        })
    }

    /// Keys that aren't schema keywords; the server drops them.
    pub fn unknown(&self) -> impl Iterator<Item = Entry<'t>> + 't {
        self.node.entries().filter(|entry| Keyword::parse(entry.name()).is_none())
    }

    pub fn text(&self, word: Keyword) -> Option<&'t str> {
        self.word(word).and_then(Node::as_str)
    }

    #[inline]
    pub fn flag(&self, word: Keyword) -> bool {
        self.word(word).and_then(Node::as_bool).unwrap_or(false)
    }

    #[inline]
    pub fn number(&self, word: Keyword) -> Option<f64> {
        self.word(word).and_then(Node::as_f64)
    }

    #[inline]
    pub fn count(&self, word: Keyword) -> Option<i64> {
        self.word(word).and_then(Node::as_int)
    }

    /// The strings in a list keyword (`required`, list-map-keys).
    pub fn names(&self, word: Keyword) -> impl Iterator<Item = &'t str> + 't {
        self.word(word).into_iter().flat_map(Node::items).filter_map(Node::as_str)
    }

    #[inline]
    pub fn ty(&self) -> Option<&'t str> {
        self.text(Keyword::Type).filter(|ty| !ty.is_empty())
    }

    pub fn is_int_or_string(&self) -> bool {
        self.flag(Keyword::IntOrString)
    }

    /// Whether undeclared keys are kept, by this schema or by its CRD.
    pub fn preserves_unknown(&self) -> bool {
        self.open || self.flag(Keyword::PreserveUnknownFields)
    }

    /// Whether nothing below is ever pruned, whatever the schema declares.
    pub fn is_open(&self) -> bool {
        self.open
    }

    pub fn default(&self) -> Option<Node<'t>> {
        self.word(Keyword::Default)
    }

    pub fn is_required(&self, name: &str) -> bool {
        self.word(Keyword::Required).is_some_and(|names| names.item_with_text(name).is_some())
    }

    pub fn enum_values(&self) -> Option<impl ExactSizeIterator<Item = Node<'t>> + Clone + 't> {
        self.word(Keyword::Enum).map(Node::items)
    }

    /// The declared properties in file order.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = (Entry<'t>, Schema<'t>)> + 't {
        let map = self.word(Keyword::Properties);
        let (open, kubernetes) = (self.open, self.kubernetes);
        let child = move |node| Schema::new(node).within(open).on(kubernetes);
        map.map(Node::entries).unwrap_or_else(|| self.none().entries()).map(move |entry| (entry, child(entry.value)))
    }

    pub fn property_count(&self) -> usize {
        self.word(Keyword::Properties).map_or(0, Node::len)
    }

    pub fn property(&self, name: &str) -> Option<(Entry<'t>, Schema<'t>)> {
        let entry = self.word(Keyword::Properties)?.entry(name)?;
        Some((entry, self.child(entry.value)))
    }

    /// The schemas of all values inside this one's, each with its key in the file: properties, then items, then map values.
    pub fn children(&self) -> impl Iterator<Item = (PathStep<&'t str>, Entry<'t>, Schema<'t>)> + 't {
        let items = self.entry(Keyword::Items).zip(self.items()).map(|(entry, items)| (PathStep::Items, entry, items));
        let values = self.entry(Keyword::AdditionalProperties).zip(self.values()).map(|(entry, values)| (PathStep::Values, entry, values));
        self.properties().map(|(entry, child)| (PathStep::Key(entry.name()), entry, child)).chain(items).chain(values)
    }

    /// The schema of list items; a list of schemas (which the server forbids) counts as none.
    pub fn items(&self) -> Option<Schema<'t>> {
        self.word(Keyword::Items).filter(|node| node.is_map()).map(|node| self.child(node))
    }

    /// The schema of map values; `additionalProperties` may also be a flag.
    pub fn values(&self) -> Option<Schema<'t>> {
        self.word(Keyword::AdditionalProperties).filter(|node| node.as_bool().is_none()).map(|node| self.child(node))
    }

    /// `additionalProperties`, if it is a flag.
    pub fn additional_flag(&self) -> Option<bool> {
        self.word(Keyword::AdditionalProperties).and_then(Node::as_bool)
    }

    /// What happens to keys that `properties` doesn't declare. If the whole CRD preserves unknown fields, `additionalProperties:
    /// true` has no effect.
    pub fn extra(&self) -> Extra<Schema<'t>> {
        match (self.values(), self.additional_flag()) {
            (Some(values), _) => Extra::Values(values),
            (None, Some(false)) => Extra::Refused,
            (None, Some(true)) if !self.open => Extra::Any,
            (None, _) => Extra::Closed,
        }
    }

    /// The clauses of `allOf`, `anyOf` or `oneOf`.
    pub fn clauses(&self, word: Keyword) -> impl ExactSizeIterator<Item = Schema<'t>> + 't {
        let kubernetes = self.kubernetes;
        self.word(word).map(Node::items).unwrap_or_else(|| self.none().items()).map(move |node| Schema::new(node).on(kubernetes))
    }

    pub fn not(&self) -> Option<Schema<'t>> {
        self.word(Keyword::Not).map(|node| Schema::new(node).on(self.kubernetes))
    }

    pub fn cel_rules(&self) -> impl ExactSizeIterator<Item = ValidationRule<'t>> + 't {
        let kubernetes = self.kubernetes;
        let rule = move |node| ValidationRule { node, kubernetes };
        self.word(Keyword::Validations).map(Node::items).unwrap_or_else(|| self.none().items()).map(rule)
    }

    /// A node without children, for an empty iterator of the right type.
    fn none(&self) -> Node<'t> {
        self.node.leaf()
    }
}
