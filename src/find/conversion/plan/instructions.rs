//! What a person does in each step of a plan: what must be true before, how to see that it is, and the way back.

use crate::find::conversion::readability;
use crate::find::conversion::text::as_yaml;
use crate::model::{Crd, FieldPath};

use super::{Action, StoredObjects, storage_version_migration};

/// Something that must be true, and the command that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub what: String,
    pub command: Option<String>,
}

/// What to do in a step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Instructions {
    pub title: String,
    /// Commands after the CRD was applied, if the step has one.
    pub commands: Vec<String>,
    /// An alternative to the commands for some servers.
    pub alternative: Option<String>,
    pub conditions: Vec<Condition>,
    pub roll_back: String,
    /// What can't be undone.
    pub irreversible: Option<String>,
}

const PREVIOUS: &str = "apply the CRD of the step before";

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
    gone: Vec<String>,
    added: Vec<String>,
}

impl Names {
    fn of(old: &Crd<'_>, new: &Crd<'_>) -> Names {
        let plural = new.names.plural.map_or("", |plural| plural.value);
        let version = |crd: &Crd<'_>| crd.storage_version().map_or("", |version| version.name).to_owned();
        let names = |a: &Crd<'_>, b: &Crd<'_>| -> Vec<String> {
            let missing = a.versions.iter().filter(|version| !b.version(version.name).is_some_and(|other| other.served || !version.served));
            missing.map(|version| version.name.to_owned()).collect()
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
            gone: names(old, new),
            added: names(new, old),
        }
    }

    fn stored(&self) -> String {
        format!("kubectl get crd {} -o jsonpath='{{.status.storedVersions}}'", self.crd)
    }
}

fn condition(what: impl Into<String>, command: impl Into<Option<String>>) -> Condition {
    Condition { what: what.into(), command: command.into() }
}

impl Instructions {
    pub(super) fn new(action: Action, old: &Crd<'_>, new: &Crd<'_>, objects: &StoredObjects<'_, '_, '_>) -> Instructions {
        let names = Names::of(old, new);
        match action {
            Action::Add => add(&names, objects),
            Action::Deprecate => Instructions {
                title: format!("Deprecate {}", names.gone.join(", ")),
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
                title: format!("Remove {} from status.storedVersions", names.old),
                commands: vec![format!(
                    "kubectl patch crd {} --subresource=status --type=merge -p '{{\"status\":{{\"storedVersions\":[\"{}\"]}}}}'",
                    names.crd, names.new
                )],
                conditions: vec![condition(
                    "the migration rewrote every object: this list alone doesn't prove it",
                    Some(format!(
                        "kubectl get storageversionmigration {0} -o jsonpath='{{.status.conditions}}', or the output of the loop",
                        names.crd
                    )),
                )],
                roll_back: format!("put {} back into the list", names.old),
                irreversible: None,
                ..Instructions::default()
            },
            Action::StopServing => Instructions {
                title: format!("Stop serving {}", names.gone.join(", ")),
                conditions: vec![
                    condition(
                        "no client uses it any more",
                        Some("kubectl get --raw /metrics | grep apiserver_requested_deprecated_apis".to_owned()),
                    ),
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
    let fields = if objects.needs_conversion() { "the fields of both forms" } else { "" };
    let added = names.added.join(", ");
    let what: Vec<&str> = [added.as_str(), fields].into_iter().filter(|part| !part.is_empty()).collect();
    Instructions {
        title: format!("Add {}", what.join(" and ")),
        conditions: vec![condition("controllers ignore what they don't know", None)],
        roll_back: format!("{PREVIOUS}, while nobody has used what was added"),
        ..Instructions::default()
    }
}

fn migrate(names: &Names, crd: &Crd<'_>, objects: &StoredObjects<'_, '_, '_>) -> Instructions {
    let converts = objects.needs_conversion() || objects.converts_in_place();
    let read = format!("kubectl get {} -A -o yaml", names.old_resource);
    let target = objects.manifest.map(|manifest| manifest.to.argument()).unwrap_or_else(|| names.new.clone());
    let from = objects.manifest.filter(|manifest| manifest.in_place()).map(|manifest| format!(" --from {}", manifest.from.argument()));
    let from = from.filter(|from| from.len() > " --from ".len()).unwrap_or_default();
    let commands = if converts {
        vec![
            format!("{read} > before.yaml"),
            format!("crdwise convert before.yaml --to {target}{from} -o after.yaml"),
            "kubectl replace -f after.yaml".to_owned(),
        ]
    } else {
        vec![format!("kubectl get {} -A -o json | kubectl replace -f -", names.resource)]
    };
    let migration = as_yaml(&storage_version_migration(crd));
    let webhook = crd.conversion.is_webhook();
    let alternative = match (converts, webhook) {
        (true, false) => format!(
            "a StorageVersionMigration doesn't help here: it reads each object as {}, and what that version doesn't declare would be lost",
            names.new
        ),
        _ => format!("on servers with the StorageVersionMigrator (beta in 1.35, off by default), instead of the loop, apply:\n{migration}"),
    };
    let paths = objects.unreadable();
    let unreadable: Vec<&FieldPath> = paths.iter().collect();
    let mut conditions = vec![condition("a backup of all objects exists", Some(format!("{read} > backup.yaml")))];
    if !unreadable.is_empty() {
        conditions.push(condition(format!("{}: {}", readability::reason(&unreadable), readability::ADVICE), None));
    }
    conditions.push(condition(
        "afterwards, every object has the new form",
        Some(format!("kubectl get {} -A -o yaml | crdwise convert - --to {target}{from} --check", names.resource)),
    ));
    Instructions {
        title: format!("{} the stored objects of {}", if converts { "Convert" } else { "Rewrite" }, names.kind),
        commands,
        alternative: Some(alternative),
        conditions,
        roll_back: match objects.manifest {
            Some(manifest) if manifest.is_reversible() => {
                format!("convert them back: `crdwise convert after.yaml --from {target} --to {}`", manifest.from.argument())
            }
            Some(_) => "replace the objects by the backup: the manifest doesn't convert back".to_owned(),
            None => "not necessary: the objects are the same".to_owned(),
        },
        irreversible: converts.then(|| "writes between the backup and a rollback".to_owned()),
    }
}

fn clean(names: &Names) -> Instructions {
    let gone = names.gone.first().cloned().unwrap_or_default();
    let named = format!(
        "kubectl get {} -A -o json --show-managed-fields | jq -r '.items[] | select(any(.metadata.managedFields[]?; .apiVersion == \"{}/{gone}\")) | [.metadata.namespace, .metadata.name] | @tsv'",
        names.resource, names.group
    );
    Instructions {
        title: format!("Remove {gone} from managedFields"),
        commands: vec![
            format!("{named} | while read -r namespace name; do"),
            format!(
                "  kubectl patch {} -n \"$namespace\" \"$name\" --type=json -p '[{{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[{{}}]}}]'",
                names.resource
            ),
            "done".to_owned(),
        ],
        conditions: vec![condition(
            format!("server-side apply fails on objects whose managedFields name a removed version; none must name {gone}"),
            Some(named),
        )],
        roll_back: "not possible, and not necessary: owners are recorded again by their next apply".to_owned(),
        irreversible: Some("who owned which field".to_owned()),
        ..Instructions::default()
    }
}

fn finish(names: &Names, objects: &StoredObjects<'_, '_, '_>) -> Instructions {
    let removes = !names.gone.is_empty();
    let mut conditions = Vec::new();
    if removes {
        conditions.push(condition(format!("status.storedVersions has only {}", names.new), Some(names.stored())));
    }
    if objects.needs_conversion() {
        let target = objects.manifest.map(|manifest| manifest.to.argument()).unwrap_or_else(|| names.new.clone());
        conditions.push(condition(
            "every object has the new form",
            Some(format!("kubectl get {} -A -o yaml | crdwise convert - --to {target} --check", names.resource)),
        ));
    }
    let title = match (removes, objects.needs_conversion()) {
        (true, _) => format!("Remove {}", names.gone.join(", ")),
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
