//! All versions walked at once, place by place: which of them keep what stands there, and which don't.

use std::collections::BTreeSet;

use crate::crd::{FieldPath, Step};
use crate::fact::{Affected, Aspect, Effect, Subject};
use crate::inspect::ledger::Ledger;
use crate::schema::is_meta;

use super::keep::{Declared, META, Room};
use super::{Gate, anchor, list};

pub(super) struct Walk<'w, 'b, 't> {
    pub gates: &'w [Gate<'b, 't>],
    pub ledger: &'w mut Ledger<'t>,
    /// Position of the storage version among the gates.
    pub storage: usize,
}

/// Who loses what: the versions through which it is written, and those whose schema drops it.
pub(super) struct Loss {
    /// Objects are stored in a version that drops it.
    at_once: bool,
    /// The versions to blame: those written through if it is lost at once, else those that erase it.
    via: Vec<usize>,
    /// A version that has it.
    pub owner: usize,
}

impl<'w, 'b, 't> Walk<'w, 'b, 't> {
    pub fn new(gates: &'w [Gate<'b, 't>], ledger: &'w mut Ledger<'t>) -> Self {
        let storage = gates.iter().position(|gate| gate.storage).unwrap_or(0);
        Walk { gates, ledger, storage }
    }

    pub fn run(mut self, rooms: &[Room<'t>]) {
        let mut path = FieldPath::root();
        self.children(rooms, &mut path);
    }

    /// Depth is bounded by that of the document, which the reader limits.
    fn node(&mut self, mut rooms: Vec<Room<'t>>, path: &mut FieldPath) {
        if rooms.iter().filter(|room| room.declared().is_some()).count() == 0 {
            return;
        }
        if self.presence(&mut rooms, path) {
            return;
        }
        self.hollow(&mut rooms, path);
        if self.types(&rooms, path) {
            return;
        }
        self.aspects(&rooms, path);
        self.children(&rooms, path);
    }

    fn children(&mut self, rooms: &[Room<'t>], path: &mut FieldPath) {
        let declared = || rooms.iter().filter_map(Room::declared);
        if declared().count() == 0 {
            return;
        }
        let names: BTreeSet<&'t str> = declared().flat_map(Declared::names).collect();
        for name in names {
            // The server keeps these whatever the schema says.
            if path.is_root() && is_meta(name) {
                continue;
            }
            path.push(Step::Key(name.into()));
            let mut children: Vec<Room<'t>> = rooms.iter().map(|room| room.child(name)).collect();
            if META.contains(&name) {
                self.embedded(rooms, &mut children, path);
            }
            self.node(children, path);
            path.pop();
        }
        if declared().any(|here| here.schema.items().is_some()) {
            path.push(Step::Items);
            self.node(rooms.iter().map(Room::items).collect(), path);
            path.pop();
        }
        self.others(rooms, path);
    }

    /// A field that some versions have and others prune. True where nothing below is left to be said.
    fn presence(&mut self, rooms: &mut [Room<'t>], path: &FieldPath) -> bool {
        let Some(loss) = self.loss(
            |index| rooms.get(index).is_some_and(|room| room.declared().is_some()),
            |index| rooms.get(index).is_some_and(Room::is_absent),
        ) else {
            return false;
        };
        self.tell(&loss, Aspect::Presence, anchor(rooms, loss.owner), path, &[]);
        for room in rooms.iter_mut().filter(|room| room.is_absent()) {
            *room = Room::Told;
        }
        loss.at_once
    }

    /// apiVersion, kind and metadata of an embedded resource, which nobody has to declare and other versions prune.
    fn embedded(&mut self, rooms: &[Room<'t>], children: &mut [Room<'t>], path: &FieldPath) {
        let is_embedded = |index: usize| rooms.get(index).and_then(Room::declared).is_some_and(Declared::is_embedded);
        let absent = |index: usize| children.get(index).is_some_and(Room::is_absent);
        if let Some(loss) = self.loss(is_embedded, absent) {
            self.tell(&loss, Aspect::Presence, anchor(rooms, loss.owner), path, &[]);
            for room in children.iter_mut().filter(|room| room.is_absent()) {
                *room = Room::Told;
            }
        }
        // What one of them keeps as a whole, another may declare without its fields.
        let closed = |index: usize| {
            children.get(index).and_then(Room::declared).is_some_and(|here| here.holds_objects() && !here.keeps && !here.is_map())
        };
        if let Some(loss) = self.loss(is_embedded, closed) {
            self.tell(&loss, Aspect::Properties, anchor(rooms, loss.owner), path, &[("what", "fields that are not declared")]);
        }
    }

    /// Keys that no version names: kept by a map or by preserve-unknown-fields here, pruned by a closed object there.
    fn others(&mut self, rooms: &[Room<'t>], path: &mut FieldPath) {
        let open = |room: &Room<'t>| room.declared().is_some_and(|here| here.keeps || here.is_map());
        if !rooms.iter().any(open) {
            return;
        }
        let closed = |room: &Room<'t>| room.declared().is_some() && !open(room);
        let loss = self.loss(|index| rooms.get(index).is_some_and(open), |index| rooms.get(index).is_some_and(closed));
        if let Some(loss) = &loss {
            let is_map = rooms.get(loss.owner).and_then(Room::declared).is_some_and(Declared::is_map);
            let keys = if is_map { "keys of the map" } else { "unknown fields" };
            // That a version without the flag drops what nobody declares is what the flag is about; it is told where it never works.
            if is_map || loss.at_once {
                self.tell(loss, Aspect::Properties, anchor(rooms, loss.owner), path, &[("what", keys)]);
            }
        }
        if loss.is_some_and(|loss| loss.at_once) {
            return;
        }
        let values = rooms.iter().map(|room| if closed(room) { Room::Told } else { room.values() }).collect();
        path.push(Step::Values);
        self.node(values, path);
        path.pop();
    }

    /// Objects that a version empties because it has no schema for them.
    fn hollow(&mut self, rooms: &mut [Room<'t>], path: &FieldPath) {
        let full = |room: &Room<'t>| room.declared().is_some_and(Declared::holds_objects);
        let loss = self.loss(|index| rooms.get(index).is_some_and(full), |index| matches!(rooms.get(index), Some(Room::Hollow)));
        if let Some(loss) = loss {
            self.tell(&loss, Aspect::Properties, anchor(rooms, loss.owner), path, &[("what", "fields")]);
        }
        for room in rooms.iter_mut().filter(|room| matches!(room, Room::Hollow)) {
            *room = Room::Told;
        }
    }

    /// What follows from some versions keeping a thing and others dropping it.
    pub(super) fn loss(&self, keeps: impl Fn(usize) -> bool, drops: impl Fn(usize) -> bool) -> Option<Loss> {
        let served = |index: &usize| self.gates.get(*index).is_some_and(|gate| gate.served);
        let all = 0..self.gates.len();
        let keepers: Vec<usize> = all.clone().filter(|&index| keeps(index)).collect();
        if drops(self.storage) {
            let via: Vec<usize> = keepers.into_iter().filter(served).collect();
            return Some(Loss { at_once: true, owner: *via.first()?, via });
        }
        let via: Vec<usize> = all.filter(served).filter(|&index| drops(index)).collect();
        let owner = if keepers.contains(&self.storage) { self.storage } else { *keepers.first()? };
        (!via.is_empty()).then_some(Loss { at_once: false, via, owner })
    }

    pub(super) fn tell(
        &mut self,
        loss: &Loss,
        aspect: Aspect,
        node: Option<crate::yaml::Node<'t>>,
        path: &FieldPath,
        words: &[(&'static str, &str)],
    ) {
        let name = |index: usize| self.gates.get(index).map_or("", |gate| gate.name);
        let (via, storage, owner) = (list(loss.via.iter().map(|&index| name(index))), name(self.storage), name(loss.owner));
        let Some(node) = node else { return };
        let fact = self.ledger.note((Subject::Field, aspect, Effect::Lossy), node);
        fact.version = Some(owner.to_owned());
        fact.path = path.clone();
        fact.affects = fact.affects.with(Affected::Data);
        if !loss.at_once {
            fact.affects = fact.affects.with(Affected::Readers);
        }
        fact.words.insert("when", if loss.at_once { "at once" } else { "next write" }.to_owned());
        fact.words.insert("via", via);
        fact.words.insert("storage", storage.to_owned());
        fact.words.insert("verb", if loss.via.len() > 1 { "don't" } else { "doesn't" }.to_owned());
        for &(key, value) in words {
            fact.words.insert(key, value.to_owned());
        }
    }
}
