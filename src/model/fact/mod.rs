//! Facts: what every finder reports, in a closed vocabulary that rules match.
//!
//! Code finds facts and never judges them; the rule files do.

mod coordinates;
mod evidence;
mod message_words;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::kubernetes::Minors;
use crate::model::{FieldPath, Maturity, Place, Repeat};

pub use coordinates::{Aspect, Effect, Subject};
pub use evidence::{Affected, Affects, Certainty, Evidence, Outcome, Ratchet, Witness};
pub use message_words::{Mark, Word};

/// An enum with a name for each variant, which is what rule files, policies and reports say.
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

/// One thing found.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    pub subject: Subject,
    pub aspect: Aspect,
    pub effect: Effect,
    /// `metadata.name` of the CRD; empty for the bundle and the configuration.
    pub crd: String,
    /// `standard` or `experimental`, where the CRD says.
    pub channel: Option<String>,
    /// The file of the CRD, where the bundle has other copies of it that differ.
    pub variant: Option<String>,
    pub version: Option<String>,
    pub path: FieldPath,
    pub to: Option<FieldPath>,
    pub before: Option<Place>,
    pub after: Option<Place>,
    pub affects: Affects,
    pub evidence: Evidence,
    pub ratchet: Option<Ratchet>,
    /// The servers of the range for which it holds; nothing if it holds for all of them.
    pub kubernetes: Option<Minors>,
    /// Servers of the range that don't tolerate updates which `ratchet` says are tolerated.
    pub untolerated: Option<Minors>,
    /// Distinguishes several facts of one kind at one path (a CEL rule's text, a column's name): part of the fingerprint.
    pub key: Option<String>,
    /// For what the server refuses: its own path in the CRD document.
    pub field: Option<String>,
    /// Whether the old bundle had this fact already (facts about one bundle, in a review).
    pub pre_existing: bool,
    /// The version it is compared with, or that objects move from, where that is not its own.
    pub against: Option<String>,
    /// How mature the field, version or CRD is, where the version's name doesn't say.
    pub maturity: Option<Maturity>,
    /// The channel it stood in before, where that was another; empty for none.
    pub former_channel: Option<String>,
    /// A file that would settle it, as it could be written.
    pub suggestion: Option<String>,
    pub marks: BTreeSet<Mark>,
    /// What the message says beyond the above: `old`, `new`, `name`, `detail`, …. No code decides on it.
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

    /// The same fact about a version whose schemas are written like those of the fact's own.
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

    /// What conditions see as `fact.words` and messages can name: the words, and typed details that have a name among them.
    pub fn said(&self) -> BTreeMap<&'static str, &str> {
        let words = self.words.iter().map(|(word, text)| (word.name(), text.as_str()));
        let marks = self.marks.iter().map(|mark| (mark.name(), "true"));
        let against = self.against.as_deref().map(|version| (AGAINST, version));
        let maturity = self.maturity.map(|maturity| (MATURITY, maturity.name()));
        words.chain(marks).chain(against).chain(maturity).collect()
    }

    /// Every name that [`Fact::said`] can have.
    pub fn sayable() -> impl Iterator<Item = &'static str> + Clone {
        let marks = Mark::ALL.iter().map(|mark| mark.name());
        Word::ALL.iter().map(|word| word.name()).chain(marks).chain([AGAINST, MATURITY])
    }

    /// What makes two facts the same one, in an old bundle and in a new one.
    pub fn identity(&self) -> Identity<'_> {
        (self.subject, self.aspect, self.effect, &self.crd, self.version.as_deref(), self.path.to_string(), self.key.as_deref())
    }

    /// Whether the server refuses the CRD because of this.
    pub fn is_refusal(&self) -> bool {
        self.affects.contains(Affected::Refused)
    }

    /// Whether the field is one that controllers write and users read.
    pub fn in_status(&self) -> bool {
        self.path.head() == Some("status")
    }
}
