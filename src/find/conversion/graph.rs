//! The graph of versions (nodes) and manifests (edges): one path between any two versions, no loops, at most one webhook.

use std::collections::{BTreeMap, VecDeque};

use super::manifest::{BundleVersion, Direction, Manifest, ManifestEndpoint};

#[derive(Debug)]
pub struct Graph<'m> {
    pub nodes: Vec<ManifestEndpoint>,
    pub edges: Vec<Edge<'m>>,
}

#[derive(Debug, Clone, Copy)]
pub struct Edge<'m> {
    pub from: usize,
    pub to: usize,
    pub manifest: &'m Manifest,
}

/// One manifest on a route between two versions.
#[derive(Debug, Clone, Copy)]
pub struct Leg<'m> {
    pub manifest: &'m Manifest,
    pub direction: Direction,
}

/// A problem with a graph.
#[derive(Debug)]
pub enum GraphProblem<'m> {
    /// This manifest adds a second path between two versions that others already connect.
    Loop { manifest: &'m Manifest, other: Vec<&'m Manifest> },
    /// A second webhook in one graph.
    Webhook { manifest: &'m Manifest, first: &'m Manifest },
}

/// Whether two endpoints can be the same version: where both state a property, they agree.
fn compatible(a: &ManifestEndpoint, b: &ManifestEndpoint) -> bool {
    fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
        a.is_none() || b.is_none() || a == b
    }
    agree(&a.version, &b.version) && agree(&a.bundle, &b.bundle) && agree(&a.channel, &b.channel)
}

impl<'m> Graph<'m> {
    pub fn new(manifests: Vec<&'m Manifest>) -> Self {
        let mut ends: Vec<&ManifestEndpoint> = manifests.iter().flat_map(|manifest| [&manifest.from, &manifest.to]).collect();
        // The more specific ones come first, so that less specific ones can join them.
        ends.sort_by_key(|end| (std::cmp::Reverse(specificity(end)), (*end).clone()));
        ends.dedup();
        let mut nodes: Vec<ManifestEndpoint> = Vec::new();
        // An in-place manifest whose source names no release starts from a version older than every named release.
        let unnamed =
            |end: &ManifestEndpoint| end.bundle.is_none() && manifests.iter().any(|manifest| manifest.from == *end && manifest.in_place());
        for end in ends {
            if unnamed(end) {
                nodes.push(end.clone());
                continue;
            }
            let fitting = nodes.iter().filter(|node| compatible(node, end)).count();
            if fitting != 1 || !nodes.iter().any(|node| compatible(node, end) && specificity(end) < specificity(node)) {
                nodes.push(end.clone());
            }
        }
        let position = |end: &ManifestEndpoint| {
            nodes.iter().position(|node| node == end).or_else(|| nodes.iter().position(|node| compatible(node, end))).unwrap_or(0)
        };
        let mut edges: Vec<Edge<'m>> = manifests
            .iter()
            .copied()
            .map(|manifest| Edge { from: position(&manifest.from), to: position(&manifest.to), manifest })
            .collect();
        // Manifests pending for the same release are applied in order of their names.
        let mut pending: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for edge in edges.iter_mut().filter(|edge| edge.manifest.is_pending()) {
            let ends = (edge.from, edge.to);
            if let Some(last) = pending.get(&ends) {
                (edge.from, edge.to) = (*last, nodes.len());
                nodes.push(edge.manifest.to.clone());
            }
            pending.insert(ends, edge.to);
        }
        Graph { nodes, edges }
    }

    /// The path between two nodes along the first `usable` edges.
    fn path(&self, start: usize, goal: usize, usable: usize) -> Option<Vec<Leg<'m>>> {
        let mut previous: Vec<Option<(usize, Leg<'m>)>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([start]);
        let mut seen = vec![false; self.nodes.len()];
        *seen.get_mut(start)? = true;
        while let Some(node) = queue.pop_front() {
            if node == goal {
                break;
            }
            for edge in self.edges.iter().take(usable) {
                let (next, direction) = match (edge.from == node, edge.to == node) {
                    (true, _) => (edge.to, Direction::Forward),
                    (_, true) => (edge.from, Direction::Back),
                    _ => continue,
                };
                if !seen.get(next).copied().unwrap_or(true) {
                    if let (Some(flag), Some(slot)) = (seen.get_mut(next), previous.get_mut(next)) {
                        *flag = true;
                        *slot = Some((node, Leg { manifest: edge.manifest, direction }));
                    }
                    queue.push_back(next);
                }
            }
        }
        let mut legs = Vec::new();
        let mut node = goal;
        while node != start {
            let (before, leg) = (*previous.get(node)?)?;
            legs.push(leg);
            node = before;
        }
        legs.reverse();
        Some(legs)
    }

    /// The manifests between two nodes.
    pub fn legs(&self, start: usize, goal: usize) -> Option<Vec<Leg<'m>>> {
        self.path(start, goal, self.edges.len())
    }

    /// The nodes on the path of these manifests, including the start.
    pub fn stops(&self, start: usize, legs: &[Leg<'m>]) -> Vec<usize> {
        let mut stops = vec![start];
        for leg in legs {
            let edge = self.edges.iter().find(|edge| std::ptr::eq(edge.manifest, leg.manifest));
            stops.extend(edge.map(|edge| if leg.direction == Direction::Forward { edge.to } else { edge.from }));
        }
        stops
    }

    pub fn problems(&self) -> Vec<GraphProblem<'m>> {
        let mut found = Vec::new();
        for (index, edge) in self.edges.iter().enumerate() {
            if let Some(legs) = self.path(edge.from, edge.to, index) {
                found.push(GraphProblem::Loop { manifest: edge.manifest, other: legs.iter().map(|leg| leg.manifest).collect() });
            }
        }
        let mut webhooks = self.edges.iter().map(|edge| edge.manifest).filter(|manifest| manifest.webhook);
        if let Some(first) = webhooks.next() {
            found.extend(webhooks.map(|manifest| GraphProblem::Webhook { manifest, first }));
        }
        found
    }

    /// The nodes that a user means by `v1alpha3`, `1.1.0` or `v1alpha3@1.1.0`, oldest first.
    pub fn named(&self, text: &str) -> Vec<usize> {
        let (version, bundle) = match text.split_once('@') {
            Some((version, bundle)) => (Some(version), BundleVersion::parse(bundle)),
            None => (None, BundleVersion::parse(text)),
        };
        let fits = |node: &ManifestEndpoint| match version {
            Some(version) => node.version.as_deref() == Some(version) && node.bundle == bundle,
            None => node.version.as_deref() == Some(text) || (bundle.is_some() && node.bundle == bundle),
        };
        let mut found: Vec<usize> = self.nodes.iter().enumerate().filter(|(_, node)| fits(node)).map(|(index, _)| index).collect();
        found.sort_by_key(|index| self.age(*index));
        found
    }

    /// The number of manifests on the longest path that leads forward to a node.
    fn age(&self, node: usize) -> usize {
        let mut ages = vec![0_usize; self.nodes.len()];
        for _ in 0..self.nodes.len() {
            for edge in &self.edges {
                let age = ages.get(edge.from).copied().unwrap_or(0) + 1;
                if let Some(slot) = ages.get_mut(edge.to) {
                    *slot = (*slot).max(age).min(self.nodes.len());
                }
            }
        }
        ages.get(node).copied().unwrap_or(0)
    }

    /// Finds the route from one of the start nodes to one of the goals.
    ///
    /// An object doesn't say which of several releases of one API version it was written for. Forward, the oldest is assumed,
    /// because a step with nothing to convert does nothing; backward, the newest.
    pub fn route(&self, starts: &[usize], goals: &[usize]) -> Option<Vec<Leg<'m>>> {
        let path = |start: &usize, goal: &usize| self.path(*start, *goal, self.edges.len());
        let forward = |legs: &Vec<Leg<'m>>| legs.iter().all(|leg| leg.direction == Direction::Forward);
        for start in starts {
            for goal in goals.iter().rev() {
                if let Some(legs) = path(start, goal).filter(forward) {
                    return Some(legs);
                }
            }
        }
        for start in starts.iter().rev() {
            for goal in goals.iter().rev() {
                if let Some(legs) = path(start, goal) {
                    return Some(legs);
                }
            }
        }
        None
    }
}

fn specificity(end: &ManifestEndpoint) -> usize {
    usize::from(end.version.is_some()) + usize::from(end.bundle.is_some()) + usize::from(end.channel.is_some())
}
