//! The closed vocabulary: what every fact finder says, and all that rules can speak of.
//!
//! A fact has coordinates (subject, aspect, effect). Code finds facts and never judges them; the rule files do.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::model::{FieldPath, Maturity, Place, Repeat};

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

vocabulary! {
    /// What a fact is about.
    Subject {
        Bundle = "bundle",
        Crd = "crd",
        Version = "version",
        /// A node of a version's schema.
        Field = "field",
        /// A node of a new version's schema, compared with the nearest older version, which stays served.
        NewVersion = "new-version",
        /// A conversion manifest, or a step of it.
        Conversion = "conversion",
        /// The configuration, a waiver, the baseline.
        Config = "config",
    }
}

vocabulary! {
    /// Which side of the subject: a keyword, an attribute, or its presence.
    Aspect {
        Presence = "presence",
        Document = "document",
        // schema keywords
        Required = "required",
        Nullable = "nullable",
        Type = "type",
        IntOrString = "int-or-string",
        Enum = "enum",
        Minimum = "minimum",
        Maximum = "maximum",
        ExclusiveMinimum = "exclusive-minimum",
        ExclusiveMaximum = "exclusive-maximum",
        MultipleOf = "multiple-of",
        MinLength = "min-length",
        MaxLength = "max-length",
        Pattern = "pattern",
        Format = "format",
        MinItems = "min-items",
        MaxItems = "max-items",
        UniqueItems = "unique-items",
        MinProperties = "min-properties",
        MaxProperties = "max-properties",
        Default = "default",
        Properties = "properties",
        Items = "items",
        AdditionalProperties = "additional-properties",
        PreserveUnknown = "preserve-unknown",
        EmbeddedResource = "embedded-resource",
        ListType = "list-type",
        MapKeys = "map-keys",
        MapType = "map-type",
        /// A CEL rule without `oldSelf`.
        CelRule = "cel-rule",
        /// A CEL rule that reads `oldSelf`.
        CelTransition = "cel-transition",
        CelMessage = "cel-message",
        CelMessageExpression = "cel-message-expression",
        CelReason = "cel-reason",
        CelFieldPath = "cel-field-path",
        CelOptionalOldSelf = "cel-optional-old-self",
        CelCost = "cel-cost",
        AllOf = "all-of",
        AnyOf = "any-of",
        OneOf = "one-of",
        Not = "not",
        /// What a node accepts, where no single keyword explains the difference.
        Accepted = "accepted",
        Description = "description",
        /// `title`, `externalDocs`, `example`.
        Annotation = "annotation",
        /// The meaning, where only the words tell it.
        Meaning = "meaning",
        Deprecation = "deprecation",
        Maturity = "maturity",
        Keyword = "keyword",
        Structure = "structure",
        Metadata = "metadata",
        Reference = "reference",
        // versions
        Name = "name",
        Served = "served",
        Storage = "storage",
        Preferred = "preferred",
        DeprecationWarning = "deprecation-warning",
        Schema = "schema",
        StatusSubresource = "status-subresource",
        ScaleSubresource = "scale-subresource",
        PrinterColumn = "printer-column",
        SelectableField = "selectable-field",
        StatusRoot = "status-root",
        // CRDs
        Api = "api",
        Group = "group",
        Scope = "scope",
        Plural = "plural",
        Singular = "singular",
        Kind = "kind",
        ListKind = "list-kind",
        ShortName = "short-name",
        Category = "category",
        Versions = "versions",
        ConversionStrategy = "conversion-strategy",
        ConversionWebhook = "conversion-webhook",
        ReviewVersions = "review-versions",
        PreserveUnknownSpec = "preserve-unknown-spec",
        StoredVersions = "stored-versions",
        Label = "label",
        AnnotationKey = "annotation-key",
        ApprovedAnnotation = "approved-annotation",
        Channel = "channel",
        BundleVersion = "bundle-version",
        // conversions
        Coverage = "coverage",
        Manifest = "manifest",
        Step = "step",
        Example = "example",
        RoundTrip = "round-trip",
        Validity = "validity",
        Idempotence = "idempotence",
        VersionBlind = "version-blind",
        Graph = "graph",
        Tombstone = "tombstone",
        Readability = "readability",
        // configuration
        Policy = "policy",
        Waiver = "waiver",
        Baseline = "baseline",
    }
}

vocabulary! {
    /// What happened to it (between two bundles), or what is wrong with it (in one).
    Effect {
        // between two bundles
        Added = "added",
        Removed = "removed",
        Renamed = "renamed",
        Moved = "moved",
        /// Accepts or keeps less than before.
        Narrowed = "narrowed",
        /// Accepts or keeps more than before.
        Widened = "widened",
        /// Less here and more there, or other than before.
        Changed = "changed",
        /// Written differently; accepts and keeps the same objects.
        Rewritten = "rewritten",
        /// Could not be decided; counts as breaking.
        Undecided = "undecided",
        /// Refused because it must not change.
        Immutable = "immutable",
        Decreased = "decreased",
        /// Not announced yet: the declared version has to move before the next release.
        Pending = "pending",
        /// A step of a procedure that came before its turn.
        Early = "early",
        Reused = "reused",
        // in one bundle
        Missing = "missing",
        Invalid = "invalid",
        Forbidden = "forbidden",
        Duplicate = "duplicate",
        Mismatched = "mismatched",
        Unresolved = "unresolved",
        /// Too many, too long, too costly.
        Excessive = "excessive",
        Misplaced = "misplaced",
        /// Can never take effect.
        Dead = "dead",
        /// Data is lost on the way.
        Lossy = "lossy",
        Unsafe = "unsafe",
        Unclear = "unclear",
        Unknown = "unknown",
        Unused = "unused",
        Lapsed = "lapsed",
        Manual = "manual",
        Mixed = "mixed",
        Shallow = "shallow",
    }
}

vocabulary! {
    /// Who or what is hurt.
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
    /// When an update of an existing object that is no longer valid passes all the same (never on create).
    Ratchet {
        /// While the field itself is unchanged.
        Field = "field",
        /// While the whole object or list around it is unchanged.
        Container = "container",
        Never = "never",
    }
}

vocabulary! {
    /// The names of what a message can say beyond a fact's coordinates and places.
    ///
    /// The list is closed: a rule that names any other word is refused, instead of staying silent.
    Word {
        Added = "added",
        Advice = "advice",
        Channels = "channels",
        Cost = "cost",
        Count = "count",
        Dearest = "dearest",
        Default = "default",
        Detail = "detail",
        Exposed = "exposed",
        Factor = "factor",
        Fields = "fields",
        File = "file",
        First = "first",
        Form = "form",
        From = "from",
        Group = "group",
        Guidance = "guidance",
        Hint = "hint",
        How = "how",
        Junctor = "junctor",
        Keyword = "keyword",
        Kind = "kind",
        Law = "law",
        Limit = "limit",
        List = "list",
        Lost = "lost",
        Member = "member",
        Members = "members",
        Message = "message",
        Name = "name",
        Needed = "needed",
        New = "new",
        Note = "note",
        Notice = "notice",
        Number = "number",
        Offset = "offset",
        Old = "old",
        Other = "other",
        Part = "part",
        Pattern = "pattern",
        Read = "read",
        Readers = "readers",
        Reason = "reason",
        Recommended = "recommended",
        Release = "release",
        Removed = "removed",
        Replacing = "replacing",
        Required = "required",
        Retyped = "retyped",
        Rule = "rule",
        Score = "score",
        Served = "served",
        Side = "side",
        Skipped = "skipped",
        Source = "source",
        State = "state",
        Step = "step",
        Storage = "storage",
        Stored = "stored",
        Target = "target",
        Threshold = "threshold",
        ToVersion = "to_version",
        Type = "type",
        Until = "until",
        Value = "value",
        Verb = "verb",
        Versions = "versions",
        Via = "via",
        Wanted = "wanted",
        Way = "way",
        What = "what",
        When = "when",
        With = "with",
        Within = "within",
        Without = "without",
        Writers = "writers",
    }
}

vocabulary! {
    /// What else holds of a fact. Code and conditions decide on it; a condition and a message see it as a word that says `true`.
    Mark {
        /// On one side the field's type is an object, a list or any: a type that holds other values.
        Container = "container",
        /// A manifest says so.
        Declared = "declared",
        /// A field that no object had is required, without a default.
        Demanded = "demanded",
        /// The schema that came prunes.
        Dropped = "dropped",
        /// A version empties objects that it reads where it expects another type.
        Emptied = "emptied",
        /// Fewer keys tell the items of a list map apart.
        Fewer = "fewer",
        /// The version that objects were stored at is gone.
        Gone = "gone",
        /// A CRD moves from the experimental channel to the standard one.
        Graduates = "graduates",
        /// It is about the items of a list, where a default only replaces null.
        Item = "item",
        /// Objects may hold, or go on holding, a value at the field that the schema doesn't declare.
        Kept = "kept",
        /// The rule reads only fields that came with it.
        NewFields = "new_fields",
        /// The server refuses the field's own default.
        Refused = "refused",
        /// The field is gone and still listed as required.
        StillRequired = "still_required",
        /// The version isn't served on both sides.
        Unserved = "unserved",
        /// A server refuses the update although the old CRD had the same mistake.
        RefusedAgain = "refused_again",
        /// A default that came or went is the zero value of its type: an absent field meant the same to most programs.
        ZeroDefault = "zero_default",
        /// The field or version was deprecated before it changed.
        WasDeprecated = "was_deprecated",
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
    /// What a server does with a witness.
    Outcome {
        Accepted = "accepted",
        Rejected = "rejected",
        Pruned = "pruned",
        Changed = "changed",
    }
}

/// An object that shows a break: the old CRD accepts and keeps it, the new one doesn't.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Witness {
    pub object: serde_json::Value,
    pub old: Outcome,
    pub new: Outcome,
    pub because: String,
}

/// How sure a fact is, and what shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub certainty: Certainty,
    pub witness: Option<Witness>,
    /// Why it could not be decided or shown.
    pub reason: Option<String>,
}

impl Evidence {
    pub fn proved() -> Self {
        Evidence { certainty: Certainty::Proved, witness: None, reason: None }
    }

    pub fn undecided(reason: impl Into<String>) -> Self {
        Evidence { certainty: Certainty::Undecided, witness: None, reason: Some(reason.into()) }
    }
}

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
    pub version: Option<String>,
    pub path: FieldPath,
    pub to: Option<FieldPath>,
    pub before: Option<Place>,
    pub after: Option<Place>,
    pub affects: Affects,
    pub evidence: Evidence,
    pub ratchet: Option<Ratchet>,
    /// Tells apart several facts of one kind at one path (a CEL rule's text, a column's name): part of the fingerprint.
    pub key: Option<String>,
    /// For what the server refuses: its own path in the CRD document.
    pub field: Option<String>,
    /// Whether the old bundle had this fact already (facts about one bundle, in a review).
    pub pre_existing: bool,
    /// The version it is compared with, or that objects move from, where that is not its own.
    pub against: Option<String>,
    /// How mature the field, version or CRD is, where that is not told by the version's name.
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
            version: None,
            path: FieldPath::root(),
            to: None,
            before: None,
            after: None,
            affects: Affects::NONE,
            evidence: Evidence::proved(),
            ratchet: None,
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
