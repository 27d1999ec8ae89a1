//! Finds the manifests that convert an object from its version to the requested one.

use super::convert_files::ConversionTarget;
use super::graph::{Graph, Leg};
use super::manifest::BundleVersion;

/// Why there is no route for an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// The target is unknown for this kind, or the object already has it.
    Current,
    /// There is no route, or there are several; the message lists the choices.
    Error(String),
}

/// Finds the route for an object of this kind and API version.
///
/// A bundle version alone, in `--from` or `--to`, keeps the object's API version. An object doesn't say which release of its API
/// version it was written for. A route through all of them is correct for each, because a step with nothing to convert does
/// nothing; without such a route, the user must name the release.
pub(crate) fn object_route<'m>(graph: &Graph<'m>, kind: &str, version: &str, target: &ConversionTarget) -> Result<Vec<Leg<'m>>, NoRoute> {
    let of_version = |index: &usize| graph.nodes.get(*index).is_some_and(|node| node.version.as_deref().is_none_or(|own| own == version));
    let mut goals = graph.named(&target.to);
    if goals.is_empty() {
        return Err(NoRoute::Current);
    }
    let starts = match &target.from {
        None => graph.named(version),
        Some(from) => {
            let mut named = graph.named(from);
            if is_release(graph, from) {
                named.retain(of_version);
            }
            if named.is_empty() {
                let known = choices(graph, graph.named(version));
                return Err(NoRoute::Error(format!("no manifest converts {kind} {version} from `{from}`{known}")));
            }
            named
        }
    };
    if is_release(graph, &target.to) {
        let own: Vec<usize> = goals.iter().copied().filter(of_version).collect();
        let mut versions: Vec<Option<&str>> =
            goals.iter().filter_map(|goal| graph.nodes.get(*goal)).map(|node| node.version.as_deref()).collect();
        versions.sort_unstable();
        versions.dedup();
        if !own.is_empty() {
            goals = own;
        } else if versions.len() > 1 {
            let choices = choices(graph, goals);
            return Err(NoRoute::Error(format!("`{}` has several versions of {kind}, but not {version}{choices}", target.to)));
        }
    }
    for goal in goals.iter().rev() {
        let paths: Vec<(usize, Vec<Leg<'m>>)> = starts.iter().filter_map(|start| Some((*start, graph.legs(*start, *goal)?))).collect();
        if paths.is_empty() {
            continue;
        }
        let passes_all = |(start, legs): &&(usize, Vec<Leg<'m>>)| {
            let stops = graph.stops(*start, legs);
            paths.iter().all(|(other, _)| stops.contains(other))
        };
        return match paths.iter().find(passes_all) {
            Some((_, legs)) => Ok(legs.clone()),
            None => {
                let choices = choices(graph, paths.iter().map(|(start, _)| *start).collect());
                let to = graph.nodes.get(*goal).map(ToString::to_string).unwrap_or_default();
                let message = format!("`{version}` doesn't say which release the object was written for, and the ways to {to} differ");
                Err(NoRoute::Error(format!("{message}{}", choices.replace("; use one of ", "; add --from with one of "))))
            }
        };
    }
    if version == target.to && target.from.is_none() {
        return Err(NoRoute::Current);
    }
    let from = target.from.as_deref().unwrap_or(version);
    Err(NoRoute::Error(format!("no manifest converts {kind} from {from} to {}", target.to)))
}

/// Whether a string names only a bundle version. `v2` can be one too, if it isn't an API version.
fn is_release(graph: &Graph<'_>, text: &str) -> bool {
    let is_version = graph.nodes.iter().any(|node| node.version.as_deref() == Some(text));
    !is_version && !text.contains('@') && BundleVersion::parse(text).is_some()
}

/// Lists the versions the way a user can name them.
fn choices(graph: &Graph<'_>, nodes: Vec<usize>) -> String {
    let mut named: Vec<String> = nodes.iter().filter_map(|node| graph.nodes.get(*node)).map(|node| node.argument()).collect();
    named.dedup();
    if named.is_empty() { String::new() } else { format!("; use one of {}", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::conversion::Conversions;

    const HEAD: &str = "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nresource: {group: g.example, kind: W}\n";

    fn manifest(name: &str, from: &str, to: &str) -> String {
        format!("{HEAD}metadata: {{name: {name}}}\nfrom: {from}\nto: {to}\nsteps: []\n")
    }

    fn chain() -> Conversions {
        let text = [
            manifest("a", "{version: v1, bundle: 1.0.0}", "{version: v1, bundle: 1.1.0}"),
            manifest("b", "{version: v1, bundle: 1.1.0}", "{version: v1, bundle: 1.2.0}"),
            manifest("c", "{version: v1, bundle: 1.2.0}", "{version: v2, bundle: 1.2.0}"),
        ];
        let conversions = Conversions::of_text("m.yaml", &text.join("---\n"));
        assert!(conversions.invalid().is_empty(), "{:?}", conversions.invalid());
        conversions
    }

    fn route(conversions: &Conversions, version: &str, from: Option<&str>, to: &str) -> Result<String, NoRoute> {
        let graph = conversions.graph("g.example", "W");
        let target = ConversionTarget { to: to.to_owned(), from: from.map(str::to_owned) };
        let legs = object_route(&graph, "W", version, &target)?;
        Ok(legs.iter().map(|leg| format!("{}{}", leg.manifest.name, if leg.direction as u8 == 0 { ">" } else { "<" })).collect())
    }

    #[test]
    fn a_release_keeps_the_api_version() {
        let all = chain();
        assert_eq!(route(&all, "v1", Some("1.0.0"), "1.2.0").as_deref(), Ok("a>b>"));
        assert_eq!(route(&all, "v1", None, "v2").as_deref(), Ok("a>b>c>"));
        assert_eq!(route(&all, "v2", None, "1.2.0").as_deref(), Ok(""));
        assert_eq!(route(&all, "v2", Some("1.0.0"), "1.2.0").map_err(|no| matches!(no, NoRoute::Error(_))), Err(true));
        assert_eq!(route(&all, "v1", Some("v2"), "1.0.0").as_deref(), Ok("c<b<a<"));
    }

    #[test]
    fn ambiguous_routes_name_the_choices() {
        let all = chain();
        let Err(NoRoute::Error(message)) = route(&all, "v1", None, "1.1.0") else { panic!("no error") };
        assert!(message.ends_with("; add --from with one of v1@1.0.0, v1@1.1.0, v1@1.2.0"), "{message}");
        assert_eq!(route(&all, "v1", Some("1.2.0"), "1.1.0").as_deref(), Ok("b<"));
        let Err(NoRoute::Error(message)) = route(&all, "v0", None, "1.2.0") else { panic!("no error") };
        assert!(message.ends_with("; use one of v1@1.2.0, v2@1.2.0"), "{message}");
    }

    #[test]
    fn manifests_of_the_next_release_are_applied_in_order() {
        let text = [
            manifest("a", "{version: v1, bundle: 1.0.0}", "{version: v1}"),
            manifest("b", "{version: v1, bundle: 1.0.0}", "{version: v1, bundle: next}"),
        ];
        let all = Conversions::of_text("m.yaml", &text.join("---\n"));
        assert!(all.graph("g.example", "W").problems().is_empty());
        assert_eq!(route(&all, "v1", None, "next").as_deref(), Ok("a>b>"));
        assert_eq!(route(&all, "v1", None, "1.0.0").as_deref(), Ok("b<a<"));
        let first = Conversions::of_text("m.yaml", &manifest("a", "{version: v1}", "{version: v1, bundle: next}"));
        assert_eq!(route(&first, "v1", None, "next").as_deref(), Ok("a>"));
    }
}
