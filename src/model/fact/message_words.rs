//! The words that messages and conditions can use in addition to a fact's coordinates.

use super::vocabulary;

vocabulary! {
    /// The words that a message can use in addition to a fact's coordinates and places.
    ///
    /// The list is closed: a rule that uses any other word is refused, instead of silently showing nothing.
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
        /// The keywords of a renamed field that changed with its name.
        Differing = "differing",
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
    /// Properties of a fact. Code and conditions use them; conditions and messages see them as a word with the value `true`.
    Mark {
        /// On one side the field can contain other values: an object, a list, or any type.
        Container = "container",
        /// A manifest declares it.
        Declared = "declared",
        /// A field that no object had is required, without a default.
        Demanded = "demanded",
        /// The added schema prunes.
        Dropped = "dropped",
        /// A version drops the content of objects it reads, because it expects another type.
        Emptied = "emptied",
        /// Fewer keys identify the items of a list map.
        Fewer = "fewer",
        /// The version that objects were stored at was removed.
        Gone = "gone",
        /// A CRD moves from the experimental channel to the standard one.
        Graduates = "graduates",
        /// It is about the items of a list, where a default only replaces null.
        Item = "item",
        /// Objects may have a value at the field although the schema doesn't declare it.
        Kept = "kept",
        /// Only lists are affected, which servers accept in place of a string that has a format.
        ListsOnly = "lists_only",
        /// The rule only reads fields that were added with it.
        NewFields = "new_fields",
        /// The server refuses the field's own default.
        Refused = "refused",
        /// The field was removed but is still listed as required.
        StillRequired = "still_required",
        /// The version is unserved on one side.
        Unserved = "unserved",
        /// A server refuses the update although the old CRD had the same mistake.
        RefusedAgain = "refused_again",
        /// A server refuses to update a stored CRD because of this, even if the update doesn't touch it.
        RefusedOnUpdate = "refused_on_update",
        /// The rule also runs when objects are created.
        OnCreate = "on_create",
        /// The rule needs `optionalOldSelf`, which the server drops.
        OldSelfDropped = "old_self_dropped",
        /// A server that refuses the expression still compiles it if the stored CRD already has it; `stored` lists these servers.
        StoredOnly = "stored_only",
        /// The default that was added or removed is the zero value of its type, which for most programs means the same as an absent
        /// field.
        ZeroDefault = "zero_default",
        /// The field or version was deprecated before it changed.
        WasDeprecated = "was_deprecated",
    }
}
