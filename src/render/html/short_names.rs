//! Short names of CRDs.

use std::collections::{BTreeMap, BTreeSet};

use super::super::escape::visible;

/// Shortens the names of CRDs by the part that most of them share.
pub(super) struct ShortNames {
    pub suffix: String,
    /// Plural names that identify a single CRD.
    plurals: BTreeSet<String>,
}

impl ShortNames {
    pub fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
        let labels = |name: &str| name.split('.').skip(1).map(str::to_owned).collect::<Vec<_>>();
        let mut shared: Option<Vec<String>> = None;
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        for name in &names {
            let own = labels(name);
            *groups.entry(own.join(".")).or_default() += 1;
            shared = Some(match shared {
                None => own,
                Some(shared) => {
                    let common = shared.iter().rev().zip(own.iter().rev()).take_while(|(a, b)| a == b).count();
                    own.into_iter().rev().take(common).rev().collect()
                }
            });
        }
        // A shared `io` says nothing, but the group of most CRDs does.
        let shared = shared.filter(|shared| shared.len() > 1).map(|shared| shared.join("."));
        let most = || groups.into_iter().max_by_key(|(_, count)| *count).map(|(group, _)| group);
        let mut plurals: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &names {
            *plurals.entry(plural_of(name)).or_default() += 1;
        }
        let plurals = plurals.into_iter().filter(|(_, count)| *count == 1).map(|(plural, _)| plural.to_owned()).collect();
        ShortNames { suffix: shared.or_else(most).unwrap_or_default(), plurals }
    }

    /// Only the plural name, if that identifies the CRD.
    pub fn brief(&self, name: &str) -> String {
        let plural = plural_of(name);
        if self.plurals.contains(plural) { visible(plural).into_owned() } else { self.of(name) }
    }

    pub fn of(&self, name: &str) -> String {
        let short = name.strip_suffix(&*self.suffix).and_then(|short| short.strip_suffix('.')).filter(|short| !short.is_empty());
        visible(short.unwrap_or(name)).into_owned()
    }
}

fn plural_of(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_they_share() {
        let short = |names: &[&str]| {
            let short = ShortNames::new(names.iter().copied());
            names.iter().map(|name| short.of(name)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(short(&["vpcs.ec2.aws.upbound.io", "budgets.budgets.aws.upbound.io"]), "vpcs.ec2 budgets.budgets");
        assert_eq!(short(&["a.x.k8s.io", "b.x.k8s.io", "c.x.x-k8s.io", ""]), "a b c.x.x-k8s.io ");
        assert_eq!(short(&["a.x.k8s.io"]), "a");
        assert_eq!(short(&["a"]), "a");
    }
}
