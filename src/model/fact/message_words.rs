//! What a message can say beyond a fact's coordinates, and what else conditions can decide on.

use super::vocabulary;

vocabulary! {
    /// The names of what a message can say beyond a fact's coordinates and places.
    ///
    /// The list is closed: a rule that names any other word is refused, instead of staying silent.
    Word {
        Added = "added",
        Advice = "advice",
        Channels = "channels",
        /// `allOf`, `anyOf`, `oneOf` or `not`.
        Composition = "composition",
        Cost = "cost",
        Count = "count",
        Dearest = "dearest",
        Default = "default",
        Detail = "detail",
        Exposed = "exposed",
        Factor = "factor",
        Fields = "fields",
        File = "file",
        Fingerprint = "fingerprint",
        First = "first",
        Form = "form",
        From = "from",
        Group = "group",
        Guidance = "guidance",
        Hint = "hint",
        How = "how",
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
        /// A server refuses to update a stored CRD because of this, even if the update doesn't touch it.
        RefusedOnUpdate = "refused_on_update",
        /// The rule needs `optionalOldSelf`, which the server drops.
        OldSelfDropped = "old_self_dropped",
        /// A server that refuses the expression compiles it where the stored CRD has it already; `stored` says which.
        StoredOnly = "stored_only",
        /// A default that came or went is the zero value of its type: an absent field meant the same to most programs.
        ZeroDefault = "zero_default",
        /// The field or version was deprecated before it changed.
        WasDeprecated = "was_deprecated",
    }
}
