//! Who a fact affects, how certain it is, and the object that proves it.

use serde::Serialize;

use super::vocabulary;

vocabulary! {
    /// Who or what is affected.
    Affected {
        Writers = "writers",
        Stored = "stored",
        Readers = "readers",
        Data = "data",
        Merge = "merge",
        Behaviour = "behaviour",
        Refused = "refused",
    }
}

vocabulary! {
    Certainty {
        Proved = "proved",
        Tested = "tested",
        Undecided = "undecided",
    }
}

vocabulary! {
    /// When an update of an existing object that is no longer valid still passes (never on create).
    Ratchet {
        /// As long as the field itself is unchanged.
        Field = "field",
        /// As long as the whole surrounding object or list is unchanged.
        Container = "container",
        Never = "never",
        /// Whatever the update changes: duplicates in a list aren't checked if the stored object already has some.
        Always = "always",
    }
}

/// A set of [`Affected`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Affects(u8);

impl Affects {
    pub const NONE: Affects = Affects(0);

    pub fn of(list: &[Affected]) -> Self {
        list.iter().fold(Affects::NONE, |set, &one| set.with(one))
    }

    pub fn with(self, one: Affected) -> Self {
        Affects(self.0 | 1 << one as u8)
    }

    pub fn without(self, one: Affected) -> Self {
        Affects(self.0 & !(1 << one as u8))
    }

    pub fn union(self, other: Affects) -> Self {
        Affects(self.0 | other.0)
    }

    pub fn contains(self, one: Affected) -> bool {
        self.0 & 1 << one as u8 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether requests or stored objects break, which only an object can prove.
    pub fn needs_object(self) -> bool {
        [Affected::Writers, Affected::Stored, Affected::Data].into_iter().any(|one| self.contains(one))
    }

    pub fn iter(self) -> impl Iterator<Item = Affected> {
        Affected::ALL.iter().copied().filter(move |&one| self.contains(one))
    }
}

impl Serialize for Affects {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

vocabulary! {
    /// How a server treats a witness.
    Outcome {
        Accepted = "accepted",
        Rejected = "rejected",
        Pruned = "pruned",
        Changed = "changed",
    }
}

/// An object that proves a break: the old CRD accepts and keeps it, the new one doesn't.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Witness {
    /// The stored object that an update to `object` replaces, if only updates break.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<serde_json::Value>,
    pub object: serde_json::Value,
    pub old: Outcome,
    pub new: Outcome,
    pub because: String,
}

/// How certain a fact is, and the proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub certainty: Certainty,
    pub witness: Option<Witness>,
    /// Why it couldn't be decided or proved.
    pub reason: Option<String>,
}

impl Evidence {
    pub fn proved() -> Self {
        Evidence { certainty: Certainty::Proved, witness: None, reason: None }
    }

    /// An object proves it.
    pub fn shown(witness: Witness) -> Self {
        Evidence { certainty: Certainty::Proved, witness: Some(witness), reason: None }
    }

    pub fn undecided(reason: impl Into<String>) -> Self {
        Evidence { certainty: Certainty::Undecided, witness: None, reason: Some(reason.into()) }
    }
}
