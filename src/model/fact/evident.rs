//! Breaks that are proved without an object, because no object could add anything.

use super::{Aspect, Effect, Fact, Mark, Subject};

/// Why a break of requests, stored objects or data needs no object as proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evident {
    /// The resource, a version or an endpoint is gone, or has another name: every request to it fails.
    EndpointGone,
    /// The server can't read any object that is stored at a version which it doesn't know.
    StoredVersionUnknown,
    /// Writes of the status through the main endpoint are ignored from now on, whatever they contain.
    StatusIgnored,
}

impl Fact {
    /// Why the fact needs no object; `None` if it does.
    pub fn evident(&self) -> Option<Evident> {
        let gone = || Some(Evident::EndpointGone);
        match (self.subject, self.aspect, self.effect) {
            (Subject::Crd, Aspect::Presence, Effect::Removed) => gone(),
            (Subject::Crd, Aspect::Group | Aspect::Plural | Aspect::Kind | Aspect::Scope, Effect::Changed) => gone(),
            (Subject::Version, Aspect::Presence | Aspect::Served, Effect::Removed) => gone(),
            (Subject::Version, Aspect::StatusSubresource | Aspect::ScaleSubresource, Effect::Removed) => gone(),
            (Subject::Version, Aspect::Storage, Effect::Unsafe) | (Subject::Crd, Aspect::StoredVersions, Effect::Removed) => {
                Some(Evident::StoredVersionUnknown)
            }
            (Subject::Version, Aspect::StatusSubresource, Effect::Added) if self.is(Mark::Kept) => Some(Evident::StatusIgnored),
            _ => None,
        }
    }
}
