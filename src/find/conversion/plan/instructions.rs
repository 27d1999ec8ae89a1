//! Instructions for each step of a plan: what must be true first, how to check it, and how to go back.

use crate::find::conversion::readability;
use crate::find::conversion::text::as_yaml;
use crate::model::{Crd, FieldPath, Scope, Version};

use super::{Action, StoredObjects, storage_version_migration};

/// Something that must be true, and the command that shows whether it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCondition {
    pub what: String,
    pub command: Option<String>,
}

/// What to do in a step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Instructions {
    pub title: String,
    /// Commands to run after the CRD is applied, if the step has one.
    pub commands: Vec<String>,
    /// An alternative to the commands for some servers.
    pub alternative: Option<String>,
    pub conditions: Vec<StepCondition>,
    pub roll_back: String,
    /// What can't be undone afterwards.
    pub irreversible: Option<String>,
}

/// Shows requests that clients still make to deprecated versions.
const REQUESTED: &str = "kubectl get --raw /metrics | grep apiserver_requested_deprecated_apis";
const PREVIOUS: &str = "apply the CRD of the previous step";

/// The names that instructions use.
struct Names {
    crd: String,
    /// `widgets.v1.shop.example.com`, which makes `kubectl` use that version.
    old_resource: String,
    resource: String,
    old: String,
    new: String,
    group: String,
    kind: String,
    /// Versions that are no longer served.
    leaving: Vec<String>,
    /// Versions that the new CRD doesn't have.
    removed: Vec<String>,
    added: Vec<String>,
    /// Whether a version is kept but its schema changes.
    shared: bool,
    namespaced: bool,
}

impl Names {
    fn of(old: &Crd<'_>, new: &Crd<'_>) -> Names {
        let plural = new.names.plural.map_or("", |plural| plural.value);
        let version = |crd: &Crd<'_>| crd.storage_version().map_or("", |version| version.name).to_owned();
        let names = |a: &Crd<'_>, b: &Crd<'_>, served: bool| -> Vec<String> {
            let has = |version: &Version<'_>| b.version(version.name).is_some_and(|other| !served || other.served || !version.served);
            a.versions.iter().filter(|version| !has(version)).map(|version| version.name.to_owned()).collect()
        };
        let resource = |version: &str| format!("{plural}.{version}.{}", new.group());
        Names {
            crd: new.name.to_owned(),
            old_resource: resource(&version(old)),
            resource: resource(&version(new)),
            old: version(old),
            new: version(new),
            group: new.group().to_owned(),
            kind: new.kind().to_owned(),
            leaving: names(old, new, true),
            removed: names(old, new, false),
            added: names(new, old, true),
            shared: old.versions.iter().any(|version| new.version(version.name).is_some()),
            namespaced: new.scope() != Some(Scope::Cluster),
        }
    }

    fn stored(&self) -> String {
        format!("kubectl get crd {} -o jsonpath='{{.status.storedVersions}}'", self.crd)
    }
}

fn condition(what: impl Into<String>, command: impl Into<Option<String>>) -> StepCondition {
    StepCondition { what: what.into(), command: command.into() }
}

impl Instructions {
    pub(super) fn new(action: Action, old: &Crd<'_>, new: &Crd<'_>, objects: &StoredObjects<'_, '_, '_>) -> Instructions {
        let names = Names::of(old, new);
        let moved = names.old != names.new;
        match action {
            Action::Add => add(&names, objects),
            Action::Deprecate => Instructions {
                title: format!("Deprecate {}", names.leaving.join(", ")),
                conditions: vec![condition("the replacement has been released, and its users can move to it", None)],
                roll_back: PREVIOUS.to_owned(),
                ..Instructions::default()
            },
            Action::MoveStorage => Instructions {
                title: format!("Store objects at {} instead of {}", names.new, names.old),
                conditions: vec![condition(
                    format!("every server and controller knows {}; a rollback to a release without it is ruled out", names.new),
                    Some(format!("kubectl get --raw /apis/{}/{}", names.group, names.new)),
                )],
                roll_back: format!("{PREVIOUS}; {} must stay in the CRD, because objects may be stored at it", names.new),
                irreversible: Some(format!("{} is in status.storedVersions from now on, until it is trimmed", names.new)),
                ..Instructions::default()
            },
            Action::Migrate => migrate(&names, new, objects),
            Action::TrimStoredVersions => Instructions {
                title: if moved {
                    format!("Remove {} from status.storedVersions", names.old)
                } else {
                    format!("Remove all versions but {} from status.storedVersions", names.new)
                },
                commands: vec![format!(
                    "kubectl patch crd {} --subresource=status --type=merge -p '{{\"status\":{{\"storedVersions\":[\"{}\"]}}}}'",
                    names.crd, names.new
                )],
                conditions: vec![condition(
                    "the migration rewrote every object: this list alone doesn't prove it",
                    Some(migrated(&names, objects)),
                )],
                roll_back: if moved {
                    format!("put {} back into the list", names.old)
                } else {
                    "put the removed versions back into the list".to_owned()
                },
                irreversible: None,
                ..Instructions::default()
            },
            Action::StopServing => Instructions {
                title: format!("Stop serving {}", names.leaving.join(", ")),
                conditions: vec![
                    condition("no client uses it any more", Some(REQUESTED.to_owned())),
                    condition("objects are stored at the remaining version", Some(names.stored())),
                ],
                roll_back: PREVIOUS.to_owned(),
                ..Instructions::default()
            },
            Action::CleanManagedFields => clean(&names),
            Action::Finish => finish(&names, objects),
        }
    }
}

fn add(names: &Names, objects: &StoredObjects<'_, '_, '_>) -> Instructions {
    let fields = if objects.needs_conversion() && names.shared { "the fields of both forms" } else { "" };
    let added = names.added.join(", ");
    let what: Vec<&str> = [added.as_str(), fields].into_iter().filter(|part| !part.is_empty()).collect();
    Instructions {
        title: format!("Add {}", what.join(" and ")),
        conditions: vec![condition("controllers ignore what they don't know", None)],
        roll_back: format!("{PREVIOUS}, while nobody has used what was added"),
        ..Instructions::default()
    }
}

/// The arguments of `crdwise convert` that produce the new form.
fn to_new_form(names: &Names, objects: &StoredObjects<'_, '_, '_>) -> String {
    let target = objects.manifest.map(|manifest| manifest.to.argument()).unwrap_or_else(|| names.new.clone());
    let from = objects.manifest.filter(|manifest| manifest.in_place()).map(|manifest| manifest.from.argument());
    let from = from.filter(|from| !from.is_empty()).map(|from| format!(" --from {from}")).unwrap_or_default();
    format!("--to {target}{from}")
}

/// How to see whether every object has the new form. Reading another version never shows the old one.
fn has_new_form(names: &Names, objects: &StoredObjects<'_, '_, '_>) -> String {
    if !objects.converts_in_place() {
        return "the exit code of kubectl replace, which is 0 if every object was replaced".to_owned();
    }
    format!("kubectl get {} -A -o yaml | crdwise convert - {} --check", names.old_resource, to_new_form(names, objects))
}

/// The command that shows whether the migration is complete.
fn migrated(names: &Names, objects: &StoredObjects<'_, '_, '_>) -> String {
    if objects.is_converted() {
        has_new_form(names, objects)
    } else {
        format!(
            "the exit code of kubectl replace, or kubectl get storageversionmigration {} -o jsonpath='{{.status.conditions}}'",
            names.crd
        )
    }
}

fn migrate(names: &Names, crd: &Crd<'_>, objects: &StoredObjects<'_, '_, '_>) -> Instructions {
    let converts = objects.is_converted();
    let read = format!("kubectl get {} -A -o yaml", names.old_resource);
    let mut commands = if converts {
        vec![
            format!("{read} > before.yaml"),
            format!("crdwise convert before.yaml {} -o after.yaml", to_new_form(names, objects)),
            "kubectl replace -f after.yaml".to_owned(),
        ]
    } else {
        vec![format!("kubectl get {} -A -o json | kubectl replace -f -", names.resource)]
    };
    if converts && objects.converts_status() {
        commands.push("kubectl replace --subresource=status -f after.yaml".to_owned());
    }
    let migration = as_yaml(&storage_version_migration(crd));
    let alternative = if converts && !crd.conversion.is_webhook() {
        format!(
            "a StorageVersionMigration doesn't help here: it reads each object as {}, and fields that it doesn't declare would be lost",
            names.new
        )
    } else {
        format!("on servers with the StorageVersionMigrator (beta in 1.35, off by default), apply:\n{migration}")
    };
    Instructions {
        title: format!("{} the stored objects of {}", if converts { "Convert" } else { "Rewrite" }, names.kind),
        commands,
        alternative: Some(alternative),
        conditions: before_migration(names, &read, objects),
        roll_back: match objects.manifest.filter(|_| converts) {
            Some(manifest) if manifest.is_reversible() => format!(
                "convert them back: `crdwise convert after.yaml --from {} --to {} | kubectl replace -f -`",
                manifest.to.argument(),
                manifest.from.argument()
            ),
            Some(_) => "restore the objects from the backup: the manifest doesn't convert back".to_owned(),
            None => "not necessary: the objects are the same".to_owned(),
        },
        irreversible: converts.then(|| "writes between the backup and a rollback".to_owned()),
    }
}

fn before_migration(names: &Names, read: &str, objects: &StoredObjects<'_, '_, '_>) -> Vec<StepCondition> {
    let mut conditions = vec![condition("a backup of all objects exists", Some(format!("{read} > backup.yaml")))];
    if !objects.is_converted() {
        return conditions;
    }
    let paths = objects.unreadable();
    if !paths.is_empty() {
        let paths: Vec<&FieldPath> = paths.iter().collect();
        conditions.push(condition(format!("{}: {}", readability::reason(&paths), readability::ADVICE), None));
    }
    if !objects.converts_in_place() {
        conditions.push(condition(
            format!("no client writes {} any more: it shows converted objects without the fields that only {} has", names.old, names.new),
            Some(REQUESTED.to_owned()),
        ));
    }
    for manual in objects.manual() {
        conditions.push(condition(format!("`{}` is converted by hand in after.yaml: {}", manual.path, manual.guidance), None));
    }
    conditions.push(condition("afterwards, every object has the new form", Some(has_new_form(names, objects))));
    conditions
}

fn clean(names: &Names) -> Instructions {
    let gone = names.removed.join(", ");
    let is_gone: Vec<String> = names.removed.iter().map(|version| format!(". == \"{}/{version}\"", names.group)).collect();
    let (columns, variables, namespace) = if names.namespaced {
        ("[.metadata.namespace, .metadata.name]", "namespace name", "-n \"$namespace\" ")
    } else {
        ("[.metadata.name]", "name", "")
    };
    let named = format!(
        "kubectl get {} -A -o json --show-managed-fields | jq -r '.items[] | select(any(.metadata.managedFields[]?.apiVersion; {})) | {columns} | @tsv'",
        names.resource,
        is_gone.join(" or ")
    );
    Instructions {
        title: format!("Remove {gone} from managedFields"),
        commands: vec![
            format!("{named} | while read -r {variables}; do"),
            format!(
                "  kubectl patch {} {namespace}\"$name\" --type=json -p '[{{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[{{}}]}}]'",
                names.resource
            ),
            "done".to_owned(),
        ],
        conditions: vec![condition(
            format!("server-side apply fails on objects whose managedFields name a removed version; no object may name {gone}"),
            Some(named),
        )],
        roll_back: "not possible, and not necessary: owners are recorded again by their next apply".to_owned(),
        irreversible: Some("who owned which field".to_owned()),
        ..Instructions::default()
    }
}

fn finish(names: &Names, objects: &StoredObjects<'_, '_, '_>) -> Instructions {
    let removes = !names.removed.is_empty();
    let mut conditions = Vec::new();
    if removes {
        conditions.push(condition(format!("status.storedVersions contains only {}", names.new), Some(names.stored())));
    }
    if objects.needs_conversion() {
        conditions.push(condition("every object has the new form", Some(has_new_form(names, objects))));
    }
    let title = match (removes, objects.needs_conversion()) {
        (true, _) => format!("Remove {}", names.removed.join(", ")),
        (false, true) => "Remove the old fields".to_owned(),
        (false, false) => "Apply the new CRD".to_owned(),
    };
    Instructions {
        title,
        conditions,
        roll_back: PREVIOUS.to_owned(),
        irreversible: objects.needs_conversion().then(|| "values of removed fields in objects that were not converted".to_owned()),
        ..Instructions::default()
    }
}
