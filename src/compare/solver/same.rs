//! Decides whether two shapes are equivalent.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::{HashMap, HashSet};

use crate::model::schema::shape::{Extra, Shape};

use crate::server::key_fate::{KeyFate, Pruning};

use super::read::{ReadBy, Reader};

/// Pairs of nodes by address, with the results of comparing them.
#[derive(Default)]
struct KnownPairs {
    shapes: HashMap<(usize, usize), bool>,
    readers: HashMap<(usize, usize), bool>,
}

/// What is known about the nodes of two schemas, for all searches that compare them.
#[derive(Default)]
pub(super) struct SharedPairs {
    known: RefCell<KnownPairs>,
    /// The nodes with so many below them that comparing them takes long. A search may also use nodes that don't live as long.
    nodes: HashSet<usize>,
}

impl SharedPairs {
    pub(super) fn of(schemas: &[&Shape]) -> Rc<Self> {
        let mut nodes = HashSet::default();
        for schema in schemas {
            collect(schema, &mut nodes);
        }
        Rc::new(SharedPairs { nodes, ..SharedPairs::default() })
    }

    fn has(&self, (a, b): (usize, usize)) -> bool {
        self.nodes.contains(&a) && self.nodes.contains(&b)
    }
}

/// Adds the nodes that are worth remembering, and returns how many there are in all.
fn collect(shape: &Shape, nodes: &mut HashSet<usize>) -> usize {
    let count = 1 + shape.children().map(|child| collect(child, nodes)).sum::<usize>();
    if count >= WORTH_REMEMBERING {
        nodes.insert(address(shape));
    }
    count
}

/// Caches comparisons, because nodes of two trees are compared repeatedly from different sides.
#[derive(Default)]
pub(crate) struct Same {
    known: KnownPairs,
    shared: Option<Rc<SharedPairs>>,
    /// Pairs of nodes that were compared, and how many of them were charged for.
    compared: usize,
    charged: usize,
    /// Two nodes whose children are assumed to be the same.
    pub(crate) pair: Option<(usize, usize)>,
    /// Whether both have the same children.
    pub(crate) same_children: bool,
}

/// Results for pairs of nodes that take longer to compare again than to look up.
const WORTH_REMEMBERING: usize = 16;

/// Whether the nodes agree in everything that is quick to compare.
fn alike_at_a_glance(a: &Shape, b: &Shape) -> bool {
    a.ty == b.ty && a.properties.len() == b.properties.len() && a.required.len() == b.required.len() && a.bounds == b.bounds
}

fn address(shape: &Shape) -> usize {
    std::ptr::from_ref(shape).addr()
}

impl Same {
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.known.shapes.len()
    }

    /// How many pairs of nodes were compared since the last time.
    pub(super) fn uncharged(&mut self) -> usize {
        let fresh = self.compared - self.charged;
        self.charged = self.compared;
        fresh
    }

    pub(crate) fn shapes(&mut self, a: &Shape, b: &Shape) -> bool {
        let key = (address(a), address(b));
        if key.0 == key.1 {
            return true;
        }
        if !alike_at_a_glance(a, b) {
            return false;
        }
        if let Some(known) = self.recall(key, |known| &known.shapes) {
            return known;
        }
        let before = self.compared;
        let same = self.compare(a, b);
        self.compared += 1;
        self.remember(key, same, before, |known| &mut known.shapes);
        same
    }

    fn recall(&self, key: (usize, usize), table: impl Fn(&KnownPairs) -> &HashMap<(usize, usize), bool>) -> Option<bool> {
        let shared = || self.shared.as_ref().and_then(|shared| table(&shared.known.borrow()).get(&key).copied());
        table(&self.known).get(&key).copied().or_else(shared)
    }

    /// Remembers a result that took long. A thousand small clauses make a million pairs.
    fn remember(
        &mut self,
        key: (usize, usize),
        result: bool,
        before: usize,
        table: impl Fn(&mut KnownPairs) -> &mut HashMap<(usize, usize), bool>,
    ) {
        if self.compared - before < WORTH_REMEMBERING {
            return;
        }
        match &self.shared {
            Some(shared) if shared.has(key) => table(&mut shared.known.borrow_mut()).insert(key, result),
            _ => table(&mut self.known).insert(key, result),
        };
    }

    /// Uses, and adds to, what other searches know about the nodes of the same schemas.
    pub(super) fn share(&mut self, pairs: &Rc<SharedPairs>) {
        self.shared = Some(Rc::clone(pairs));
    }

    fn is_pair(&self, a: &Shape, b: &Shape) -> bool {
        self.pair.is_some_and(|pair| pair == (address(a), address(b)) || pair == (address(b), address(a)))
    }

    fn compare(&mut self, a: &Shape, b: &Shape) -> bool {
        self.own(a, b)
            && self.options(a.items.as_deref(), b.items.as_deref())
            && self.extras(&a.extra, &b.extra)
            && a.properties.len() == b.properties.len()
            && a.properties.iter().zip(&b.properties).all(|((x, a), (y, b))| x == y && self.shapes(a, b))
    }

    /// Whether two nodes are equivalent apart from their children.
    pub(crate) fn local(&mut self, a: &Shape, b: &Shape) -> bool {
        let extra = match (&a.extra, &b.extra) {
            (Extra::Values(_), Extra::Values(_)) => true,
            (a, b) => a == b,
        };
        extra && a.items.is_some() == b.items.is_some() && self.own(a, b)
    }

    fn own(&mut self, a: &Shape, b: &Shape) -> bool {
        a.ty == b.ty
            && a.int_or_string == b.int_or_string
            && a.nullable == b.nullable
            && a.bounds == b.bounds
            && a.length == b.length
            && a.item_count == b.item_count
            && a.unique_items == b.unique_items
            && a.list_type == b.list_type
            && a.map_keys == b.map_keys
            && a.property_count == b.property_count
            && a.preserve_unknown == b.preserve_unknown
            && a.embedded == b.embedded
            && a.pattern == b.pattern
            && a.format == b.format
            && a.required == b.required
            && a.enum_values == b.enum_values
            && a.default == b.default
            && a.rules.len() == b.rules.len()
            && a.rules.iter().zip(&b.rules).all(|(a, b)| a.rule == b.rule && a.optional_old_self == b.optional_old_self)
            && self.lists(&a.all_of, &b.all_of)
            && self.lists(&a.any_of, &b.any_of)
            && self.lists(&a.one_of, &b.one_of)
            && self.options(a.not.as_deref(), b.not.as_deref())
    }

    pub(crate) fn lists(&mut self, a: &[Shape], b: &[Shape]) -> bool {
        std::ptr::eq(a, b) || (a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.shapes(a, b)))
    }

    fn options(&mut self, a: Option<&Shape>, b: Option<&Shape>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.shapes(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    fn extras(&mut self, a: &Extra, b: &Extra) -> bool {
        match (a, b) {
            (Extra::Values(a), Extra::Values(b)) => self.shapes(a, b),
            _ => a == b,
        }
    }

    /// Whether two nodes treat everything that is sent, or not sent, the same way.
    fn nodes(&mut self, a: &Shape, b: &Shape) -> bool {
        a.nullable == b.nullable && a.default == b.default && self.insides(a, b)
    }

    /// Whether two nodes prune, drop nulls and apply defaults inside a value the same way, whatever they accept.
    fn insides(&mut self, a: &Shape, b: &Shape) -> bool {
        let key = (std::ptr::from_ref(a).addr(), std::ptr::from_ref(b).addr());
        if key.0 == key.1 {
            return true;
        }
        if let Some(known) = self.recall(key, |known| &known.readers) {
            return known;
        }
        let before = self.compared;
        self.compared += 1;
        let alike = a.preserve_unknown == b.preserve_unknown
            && a.embedded == b.embedded
            && a.properties.len() == b.properties.len()
            && a.properties.iter().zip(&b.properties).all(|((x, a), (y, b))| x == y && self.nodes(a, b))
            && match (&a.items, &b.items) {
                (Some(a), Some(b)) => self.nodes(a, b),
                (None, None) => true,
                _ => false,
            }
            && match (&a.extra, &b.extra) {
                (Extra::Values(a), Extra::Values(b)) => self.nodes(a, b),
                (Extra::Any | Extra::Refused, Extra::Any | Extra::Refused) | (Extra::Closed, Extra::Closed) => true,
                _ => false,
            };
        self.remember(key, alike, before, |known| &mut known.readers);
        alike
    }

    /// Whether CEL gives the values of two nodes the same type, whatever they accept.
    pub(crate) fn typed(&mut self, a: &Shape, b: &Shape) -> bool {
        std::ptr::eq(a, b)
            || (self.same_children && self.is_pair(a, b) && a.ty == b.ty)
            || (a.ty == b.ty
                && a.int_or_string == b.int_or_string
                && a.format == b.format
                && a.nullable == b.nullable
                && a.list_type == b.list_type
                && a.map_keys == b.map_keys
                && a.preserve_unknown == b.preserve_unknown
                && a.properties.len() == b.properties.len()
                && a.properties.iter().zip(&b.properties).all(|((x, a), (y, b))| x == y && self.typed(a, b))
                && match (&a.items, &b.items) {
                    (Some(a), Some(b)) => self.typed(a, b),
                    (None, None) => true,
                    _ => false,
                }
                && match (&a.extra, &b.extra) {
                    (Extra::Values(a), Extra::Values(b)) => self.typed(a, b),
                    (a, b) => a == b,
                })
    }

    /// Whether a rule at two nodes sees the same, if it only reads these keys; `None` means the whole value.
    pub(crate) fn visible(&mut self, keys: Option<&[String]>, a: ReadBy<'_>, b: ReadBy<'_>) -> bool {
        let (Some(x), Some(y)) = (a.shape(), b.shape()) else { return false };
        if self.is_pair(x, y) && x.ty == y.ty && keys.is_some() {
            return true;
        }
        let Some(keys) = keys else { return self.typed(x, y) && self.readers(a, b) };
        x.ty == y.ty
            && keys.iter().all(|key| {
                self.fates(a.key_fate(key), b.key_fate(key))
                    && match (x.property(key), y.property(key)) {
                        (Some(x), Some(y)) => self.typed(x, y),
                        (None, None) => true,
                        _ => false,
                    }
            })
    }

    /// Whether two sides treat everything that is sent the same way.
    pub(crate) fn readers(&mut self, a: ReadBy<'_>, b: ReadBy<'_>) -> bool {
        let (Pruning::Schema { node: x, keeps: ka }, Pruning::Schema { node: y, keeps: kb }) = (a, b) else { return self.read_by(a, b) };
        match (x, y) {
            (Reader::Node { shape: a, pair: Some(pair) }, Reader::Node { shape: b, pair: Some(_) }) => {
                // The children are the same by assumption; it remains to compare which keys are kept.
                let kept = |extra: &Extra| match extra {
                    Extra::Closed => 0,
                    Extra::Any | Extra::Refused => 1,
                    Extra::Values(_) => 2,
                };
                pair.has_same_children()
                    && ka == kb
                    && a.embedded == b.embedded
                    && kept(&a.extra) == kept(&b.extra)
                    && a.items.is_some() == b.items.is_some()
            }
            (Reader::Node { shape: a, .. }, Reader::Node { shape: b, .. }) => ka == kb && self.insides(a, b),
            (Reader::Field(a), Reader::Field(b)) | (Reader::Entry(a), Reader::Entry(b)) | (Reader::Item(a), Reader::Item(b)) => {
                self.nodes(a, b)
            }
            _ => false,
        }
    }

    /// Whether two sides treat all these keys the same way.
    pub(crate) fn keys<'k>(&mut self, keys: impl IntoIterator<Item = &'k str>, a: ReadBy<'_>, b: ReadBy<'_>) -> bool {
        keys.into_iter().all(|key| self.fates(a.key_fate(key), b.key_fate(key)))
    }

    /// Whether two sides treat everything that is sent at a key the same way.
    pub(crate) fn fates(&mut self, a: KeyFate<Reader<'_>>, b: KeyFate<Reader<'_>>) -> bool {
        match (a, b) {
            (KeyFate::Declared(a), KeyFate::Declared(b)) | (KeyFate::MapValue(a), KeyFate::MapValue(b)) => self.nodes(a.own(), b.own()),
            (KeyFate::Meta | KeyFate::Kept, KeyFate::Meta | KeyFate::Kept)
            | (KeyFate::Emptied | KeyFate::Refused, KeyFate::Emptied | KeyFate::Refused)
            | (KeyFate::Pruned, KeyFate::Pruned) => true,
            _ => false,
        }
    }

    pub(crate) fn read_by(&mut self, a: ReadBy<'_>, b: ReadBy<'_>) -> bool {
        match (a, b) {
            (
                Pruning::Schema { node: Reader::Node { shape: a, pair: None }, keeps: ka },
                Pruning::Schema { node: Reader::Node { shape: b, pair: None }, keeps: kb },
            ) => ka == kb && self.shapes(a, b),
            (Pruning::Nothing, Pruning::Nothing) | (Pruning::EveryKey, Pruning::EveryKey) => true,
            _ => false,
        }
    }
}
