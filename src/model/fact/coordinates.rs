//! The coordinates of a fact, which rules match: its subject, aspect and effect.

use super::vocabulary;

vocabulary! {
    /// What a fact is about.
    Subject {
        Bundle = "bundle",
        Crd = "crd",
        Version = "version",
        /// A node of a version's schema.
        Field = "field",
        /// A node of a new version's schema, compared with the nearest older version that is still served.
        NewVersion = "new-version",
        /// A conversion manifest, or a step of it.
        Conversion = "conversion",
        /// The configuration, a waiver, the baseline.
        Config = "config",
    }
}

vocabulary! {
    /// The aspect of the subject: a keyword, an attribute, or its presence.
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
        /// What a node accepts, if no single keyword explains the difference.
        Accepted = "accepted",
        Description = "description",
        /// `title`, `externalDocs`, `example`.
        Annotation = "annotation",
        /// The meaning, if only the description tells it.
        Meaning = "meaning",
        Deprecation = "deprecation",
        Maturity = "maturity",
        Keyword = "keyword",
        Structure = "structure",
        Metadata = "metadata",
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
    /// What happened between two bundles, or what is wrong in one.
    Effect {
        // between two bundles
        Added = "added",
        Removed = "removed",
        Renamed = "renamed",
        Moved = "moved",
        /// Accepts or keeps fewer values than before.
        Narrowed = "narrowed",
        /// Accepts or keeps more values than before.
        Widened = "widened",
        /// Fewer in one respect and more in another, or different from before.
        Changed = "changed",
        /// Written differently; accepts and keeps the same objects.
        Rewritten = "rewritten",
        /// Could not be decided; counts as breaking.
        Undecided = "undecided",
        /// Refused because it must not change.
        Immutable = "immutable",
        Decreased = "decreased",
        /// Not announced yet: the declared version must be raised before the next release.
        Pending = "pending",
        /// A step of a procedure that was taken too early.
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
