//! Facts: what every finder emits, in a closed vocabulary that rules match.
//!
//! Code finds facts but never judges them; rule files do.

mod coordinates;
mod evidence;
mod evident;
mod message_words;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::kubernetes::Minors;
use crate::model::{Crd, FieldPath, Maturity, Place, Repeat};

pub use coordinates::{Aspect, Effect, Subject};
pub use evidence::{Affected, Affects, Certainty, Evidence, Outcome, Ratchet, Witness};
#[cfg(test)]
pub use evident::Evident;
pub use message_words::{Mark, Word};

/// Defines an enum whose variants have names, which rule files, policies and reports use.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                $name::parse(&text).ok_or_else(|| serde::de::Error::custom(format_args!("unknown value `{text}`")))
            }
        }
    };
}

pub(crate) use vocabulary;

/// See [`Fact::identity`].
pub type Identity<'f> = (Subject, Aspect, Effect, &'f str, Option<&'f str>, String, Option<&'f str>);

/// A single fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    pub subject: Subject,
    pub aspect: Aspect,
    pub effect: Effect,
    /// `metadata.name` of the CRD; empty for the bundle and the configuration.
    pub crd: String,
    /// `standard` or `experimental`, if the CRD declares it.
    pub channel: Option<String>,
    /// The file of the CRD, if the bundle has other copies of it that differ.
    pub variant: Option<String>,
    pub version: Option<String>,
    pub path: FieldPath,
    pub to: Option<FieldPath>,
    pub before: Option<Place>,
    pub after: Option<Place>,
    pub affects: Affects,
    pub evidence: Evidence,
    pub ratchet: Option<Ratchet>,
    /// The servers of the range it applies to; `None` if it applies to all.
    pub kubernetes: Option<Minors>,
    /// Servers of the range that refuse updates although `ratchet` says they are tolerated.
    pub untolerated: Option<Minors>,
    /// Distinguishes several facts of one kind at one path (a CEL rule's text, a column's name); part of the fingerprint.
    pub key: Option<String>,
    /// For a refusal, the path in the CRD document that the server reports.
    pub field: Option<String>,
    /// Whether the old bundle already had this fact (for facts about one bundle, in a review).
    pub pre_existing: bool,
    /// The version it is compared with, or that objects move from, if it isn't the fact's own version.
    pub against: Option<String>,
    /// The maturity of the field, version or CRD, if the version's name doesn't state it.
    pub maturity: Option<Maturity>,
    /// The previous channel, if it was different; empty if there was none.
    pub former_channel: Option<String>,
    /// A draft of a file that would resolve it.
    pub suggestion: Option<String>,
    pub marks: BTreeSet<Mark>,
    /// Further words for the message: `old`, `new`, `name`, `detail` and so on. No code depends on them.
    pub words: BTreeMap<Word, String>,
}

const AGAINST: &str = "against";
const MATURITY: &str = "maturity";

impl Fact {
    pub fn new(subject: Subject, aspect: Aspect, effect: Effect, crd: &str) -> Self {
        Fact {
            subject,
            aspect,
            effect,
            crd: crd.to_owned(),
            channel: None,
            variant: None,
            version: None,
            path: FieldPath::root(),
            to: None,
            before: None,
            after: None,
            affects: Affects::NONE,
            evidence: Evidence::proved(),
            ratchet: None,
            kubernetes: None,
            untolerated: None,
            key: None,
            field: None,
            pre_existing: false,
            against: None,
            maturity: None,
            former_channel: None,
            suggestion: None,
            marks: BTreeSet::new(),
            words: BTreeMap::new(),
        }
    }

    /// A fact about a CRD, or a part of it.
    pub fn about(crd: &Crd<'_>, subject: Subject, aspect: Aspect, effect: Effect) -> Self {
        Fact { channel: crd.channel().map(str::to_owned), ..Fact::new(subject, aspect, effect, crd.name) }
    }

    pub fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    pub fn path(mut self, path: &FieldPath) -> Self {
        self.path = path.clone();
        self
    }

    pub fn before(mut self, place: Place) -> Self {
        self.before = Some(place);
        self
    }

    pub fn after(mut self, place: Place) -> Self {
        self.after = Some(place);
        self
    }

    pub fn affects(mut self, list: &[Affected]) -> Self {
        self.affects = self.affects.union(Affects::of(list));
        self
    }

    pub fn ratchet(mut self, ratchet: Ratchet) -> Self {
        self.ratchet = Some(ratchet);
        self
    }

    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    pub fn against(mut self, version: &str) -> Self {
        self.against = Some(version.to_owned());
        self
    }

    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.insert(mark);
        self
    }

    pub fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    pub fn word(mut self, name: Word, value: impl Into<String>) -> Self {
        self.words.insert(name, value.into());
        self
    }

    pub fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence = evidence;
        self
    }

    /// The same fact for another version whose schemas have the same text.
    pub fn repeated(&self, version: &str, before: Option<Repeat<'_>>, after: Repeat<'_>) -> Fact {
        let mut fact = self.clone().version(version);
        fact.before = self.before.map(|place| before.map_or(place, |repeat| repeat.place(place)));
        fact.after = self.after.map(|place| after.place(place));
        if let Some(name) = fact.evidence.witness.as_mut().and_then(|witness| witness.object.get_mut("apiVersion"))
            && let Some((group, _)) = name.as_str().and_then(|name| name.rsplit_once('/'))
        {
            *name = format!("{group}/{version}").into();
        }
        fact
    }

    /// The values that conditions see as `fact.words` and messages can use: the words, and typed properties that have a name.
    pub fn message_values(&self) -> BTreeMap<&'static str, &str> {
        let words = self.words.iter().map(|(word, text)| (word.name(), text.as_str()));
        let marks = self.marks.iter().map(|mark| (mark.name(), "true"));
        let against = self.against.as_deref().map(|version| (AGAINST, version));
        let maturity = self.maturity.map(|maturity| (MATURITY, maturity.name()));
        words.chain(marks).chain(against).chain(maturity).collect()
    }

    /// Every name that [`Fact::message_values`] can contain.
    pub fn message_names() -> impl Iterator<Item = &'static str> + Clone {
        let marks = Mark::ALL.iter().map(|mark| mark.name());
        Word::ALL.iter().map(|word| word.name()).chain(marks).chain([AGAINST, MATURITY])
    }

    /// Identifies a fact, to recognise it in an old and a new bundle.
    pub fn identity(&self) -> Identity<'_> {
        (self.subject, self.aspect, self.effect, &self.crd, self.version.as_deref(), self.path.to_string(), self.key.as_deref())
    }

    /// Whether two facts are about the same path, or about fields that got the same path.
    pub fn has_path_of(&self, other: &Fact) -> bool {
        self.path == other.path || (self.to.is_some() && self.to == other.to)
    }

    /// Whether two facts about the same version have the same path, or one is above the other.
    pub fn is_near(&self, other: &Fact) -> bool {
        let same_version = self.crd == other.crd && self.version == other.version;
        same_version && (self.has_path_of(other) || self.path.starts_with(&other.path) || other.path.starts_with(&self.path))
    }

    /// Whether the server refuses the CRD for this reason.
    pub fn is_refusal(&self) -> bool {
        self.affects.contains(Affected::Refused)
    }
}
