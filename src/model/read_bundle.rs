//! Reads a bundle from documents: CRDs are collected, copies and patches are set aside, everything else is counted.

use std::collections::BTreeMap;

use crate::go::json_size::bytes_above;
use crate::go::regexp::Pattern;
use crate::input::yaml::{Document, Node};
use crate::input::{File, Origin, has_template_expression, patched_strategy};

use super::bundle::{Bundle, BundleProblem, Documents, FileId, MAX_VERSIONS, Place, ProblemKind, Skipped};
use super::crd::Crd;
use super::kubernetes::MAX_REQUEST;
use super::read_crd;

pub(super) fn read(documents: &Documents) -> Bundle<'_> {
    let mut reading = BundleReader { documents, bundle: Bundle::default(), counted: BTreeMap::new(), partial: Vec::new(), nameless: 0 };
    for (file, document) in &documents.documents {
        reading.document(*file, document);
    }
    reading.finish()
}

/// A bundle that is being read.
struct BundleReader<'t> {
    documents: &'t Documents,
    bundle: Bundle<'t>,
    /// How many documents of a kind were left out, and why.
    counted: BTreeMap<(String, &'static str), usize>,
    /// Kustomize patches among the documents.
    partial: Vec<Node<'t>>,
    nameless: usize,
}

impl<'t> BundleReader<'t> {
    fn document(&mut self, file: FileId, document: &'t Document) {
        self.bundle.documents += 1;
        match &document.tree {
            Ok(tree) => self.node(file, tree.root()),
            Err(_) if self.is_other_template(file, document) => self.count("Helm template", "without a CRD"),
            Err(error) => self.bundle.problems.push(BundleProblem {
                place: Place { file, span: error.span },
                related: error.related.map(|span| Place { file, span }),
                kind: ProblemKind::Yaml(error.kind.clone()),
            }),
        }
    }

    /// Whether an unreadable document is a template of something other than a CRD.
    fn is_other_template(&self, file: FileId, document: &Document) -> bool {
        let text = self.documents.file(file).map_or("", |file| &*file.text);
        let text = text.get(document.span.start as usize..document.span.end as usize).unwrap_or(text);
        has_template_expression(text) && !text.contains("CustomResourceDefinition")
    }

    /// Adds a CRD, unwraps a `List`, and counts everything else by kind.
    fn node(&mut self, file: FileId, node: Node<'t>) {
        match read_crd::api_of(node) {
            Some(_) if read_crd::is_patch(node) => {
                self.partial.push(node);
                self.count("kind CustomResourceDefinition", "kustomize patch");
            }
            Some(Ok(api)) => {
                if let Some(excess) = excess(node) {
                    return self.excessive(file, node, excess);
                }
                let mut crd = read_crd::crd(file, api, node, &self.documents.keys);
                crd.path = self.documents.file(file).map_or("", path);
                if crd.name.is_empty() {
                    let names = self.documents.fallback_names.get_or_init(|| fallback_names(self.documents));
                    crd.name = names.get(self.nameless).map_or("", String::as_str);
                    self.nameless += 1;
                }
                self.bundle.crds.push(crd);
            }
            Some(Err(api)) => self.bundle.problems.push(BundleProblem {
                place: Place { file, span: node.span() },
                related: None,
                kind: ProblemKind::UnknownApi(api.to_owned()),
            }),
            None => match items_of(node) {
                Some(items) => items.items().for_each(|item| self.node(file, item)),
                None => {
                    let kind = node.text("kind");
                    self.count(&kind.map_or("a document without kind".to_owned(), |kind| format!("kind {kind}")), "not a CRD");
                }
            },
        }
    }

    /// Reports a CRD that is too large to be checked.
    fn excessive(&mut self, file: FileId, node: Node<'t>, kind: ProblemKind) {
        let name = read_crd::name(node);
        self.nameless += usize::from(name.is_none());
        let place = Place { file, span: name.map_or(node, |name| name.node).span() };
        self.bundle.problems.push(BundleProblem { place, related: None, kind });
    }

    fn count(&mut self, what: &str, why: &'static str) {
        *self.counted.entry((what.to_owned(), why)).or_default() += 1;
    }

    fn finish(mut self) -> Bundle<'t> {
        let only = &self.documents.only;
        self.bundle.crds.retain(|crd| only.get(&crd.file).is_none_or(|names| names.contains(crd.name)));
        self.bundle.files = self.documents.files.len();
        self.bundle.crds.sort_by(|a, b| order(a, b));
        self.leave_out_copies();
        self.patch_conversions();
        let counted = self.counted.into_iter().map(|((what, why), count)| Skipped::counted(what, why, count));
        self.bundle.skipped.splice(0..0, counted);
        self.bundle
    }

    /// Keeps one of several equal CRDs with the same name; those that differ are distinguished by their files.
    fn leave_out_copies(&mut self) {
        let mut rest = std::mem::take(&mut self.bundle.crds).into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut copies = vec![first];
            while let Some(next) = rest.next_if(|next| copies.iter().any(|crd| crd.name == next.name && crd.is_parallel(next))) {
                copies.push(next);
            }
            if copies.len() > 1 {
                copies = self.variants(copies);
            }
            self.bundle.crds.append(&mut copies);
        }
        self.bundle.crds.sort_by(|a, b| order(a, b));
    }

    fn variants(&mut self, copies: Vec<Crd<'t>>) -> Vec<Crd<'t>> {
        let is_patched = copies.iter().any(|crd| !read_crd::is_anonymous(crd));
        let mut kept: Vec<Crd<'t>> = Vec::new();
        for crd in copies {
            if is_patched && read_crd::is_anonymous(&crd) {
                self.partial.push(crd.node);
                self.count("kind CustomResourceDefinition", "kustomize patch");
            } else if let Some(first) = kept.iter().find(|first| is_copy(first, &crd)) {
                self.bundle
                    .skipped
                    .push(Skipped { what: format!("{} in {}", crd.name, crd.path), why: format!("a copy of that in {}", first.path) });
            } else if let Some(first) = kept.iter().find(|first| first.path == crd.path) {
                self.bundle.problems.push(BundleProblem {
                    place: crd.place(crd.name_node),
                    related: Some(first.place(first.name_node)),
                    kind: ProblemKind::TwiceInBundle(crd.name.to_owned()),
                });
            } else {
                kept.push(crd);
            }
        }
        if kept.len() > 1 {
            let shared = shared_directory(&kept);
            kept.iter_mut().for_each(|crd| crd.marks.file = crd.path.get(shared..));
        }
        kept
    }

    /// Sets the conversion strategies from patches; the last one for a CRD wins.
    fn patch_conversions(&mut self) {
        let own = |node: &Node<'t>| Some((read_crd::name(*node)?.value, patched_strategy(*node)?));
        let patches: Vec<(&'t str, &'t str)> = match &self.documents.patches {
            Some(patches) => patches.iter().map(|patch| (&*patch.crd, &*patch.strategy)).collect(),
            None => self.partial.iter().filter_map(own).collect(),
        };
        for (names, strategy) in patches {
            let pattern = Pattern::new(&format!("^(?:{names})$")).ok();
            let applies = |crd: &Crd<'_>| crd.name == names || pattern.as_ref().is_some_and(|pattern| pattern.is_match(crd.name));
            self.bundle.crds.iter_mut().filter(|crd| applies(crd)).for_each(|crd| crd.conversion.patched = Some(strategy));
        }
    }
}

/// Why a CRD isn't checked: no cluster can have it, or checking it could take arbitrarily long.
fn excess(node: Node<'_>) -> Option<ProblemKind> {
    let versions = node.get("spec").and_then(|spec| spec.get("versions")).map_or(0, Node::len);
    let too_many = (versions > MAX_VERSIONS).then_some(ProblemKind::TooManyVersions(versions));
    bytes_above(node, MAX_REQUEST).map(ProblemKind::TooLarge).or(too_many)
}

/// Sorts by name, channel and file.
fn order(a: &Crd<'_>, b: &Crd<'_>) -> std::cmp::Ordering {
    let place = |crd: &Crd<'_>| (crd.file, crd.node.span().start);
    a.name.cmp(b.name).then_with(|| a.track().cmp(&b.track())).then_with(|| place(a).cmp(&place(b)))
}

/// The path of a file, without a revision.
fn path(file: &File) -> &str {
    match &file.origin {
        Origin::Git { path, .. } | Origin::Index { path } | Origin::Archive { path } | Origin::Rendered { path } => path,
        Origin::Path(_) | Origin::Stdin | Origin::Cluster => &file.name,
    }
}

/// The length of the directory path that all CRDs share.
fn shared_directory(crds: &[Crd<'_>]) -> usize {
    let Some((first, rest)) = crds.split_first() else { return 0 };
    let shared = rest
        .iter()
        .fold(first.path.len(), |shared, crd| first.path.bytes().zip(crd.path.bytes()).take(shared).take_while(|(a, b)| a == b).count());
    first.path.get(..shared).and_then(|path| path.rfind('/')).map_or(0, |slash| slash + 1)
}

/// Whether two CRDs differ only in their place, and in labels and annotations that Helm adds.
fn is_copy(a: &Crd<'_>, b: &Crd<'_>) -> bool {
    let part = |crd: &Crd<'_>, key: &str| -> BTreeMap<String, String> {
        let map = crd.metadata().and_then(|metadata| metadata.get(key));
        let entries = map.into_iter().flat_map(Node::entries).filter(|entry| !is_of_helm(entry.name(), entry.value));
        entries.map(|entry| (entry.name().to_owned(), entry.value.as_str().unwrap_or(entry.value.source()).to_owned())).collect()
    };
    let same_part = |key: &str| part(a, key) == part(b, key);
    a.node.same(b.node) || (a.api == b.api && a.spec.same(b.spec) && same_part("labels") && same_part("annotations"))
}

fn is_of_helm(key: &str, value: Node<'_>) -> bool {
    let prefix = key.split_once('/').map_or("", |(prefix, _)| prefix);
    prefix == "helm.sh"
        || prefix.ends_with(".helm.sh")
        || prefix == "app.kubernetes.io"
        || value.as_str().is_some_and(has_template_expression)
}

/// The items of a `List`.
fn items_of(node: Node<'_>) -> Option<Node<'_>> {
    let is_list = node.text("kind").is_some_and(|kind| kind.ends_with("List"));
    node.get("items").filter(|items| is_list && items.is_seq())
}

/// The names to use for CRDs without a name. A server refuses such a CRD, but it is read under the name it should have, to report
/// that and to compare the rest.
fn fallback_names(documents: &Documents) -> Vec<String> {
    fn collect(node: Node<'_>, names: &mut Vec<String>) {
        match read_crd::api_of(node) {
            Some(_) if read_crd::is_patch(node) => {}
            Some(Ok(_)) if read_crd::name(node).is_none() => names.push(read_crd::name_in_spec(node)),
            Some(_) => {}
            None => items_of(node).into_iter().flat_map(Node::items).for_each(|item| collect(item, names)),
        }
    }
    let mut names = Vec::new();
    documents.documents.iter().filter_map(|(_, document)| document.tree.as_ref().ok()).for_each(|tree| collect(tree.root(), &mut names));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::ConversionPatch;
    use crate::input::yaml::YamlBudget;

    const HEAD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";

    fn crd(field: &str) -> String {
        let schema = format!("{{openAPIV3Schema: {{type: object, properties: {{{field}: {{type: string}}}}}}}}");
        let versions = format!("[{{name: v1, served: true, storage: true, schema: {schema}}}]");
        let spec = "group: b.c, names: {plural: a, kind: A}, scope: Namespaced";
        format!("{HEAD}metadata: {{name: a.b.c}}\nspec: {{{spec}, versions: {versions}}}\n")
    }

    fn partial(rest: &str) -> String {
        format!("{HEAD}metadata: {{name: a.b.c}}\n{rest}\n")
    }

    fn documents(files: &[(&str, String)]) -> Documents {
        let file = |(name, text): &(&str, String)| File::new(*name, text.as_str(), Origin::Stdin);
        Documents::parse(files.iter().map(file).collect(), &YamlBudget::default())
    }

    fn is_patch(text: &str) -> bool {
        let documents = documents(&[("x.yaml", text.to_owned())]);
        let bundle = Bundle::read(&documents);
        assert_eq!(bundle.crds.is_empty(), bundle.skipped.iter().any(|skipped| skipped.why.starts_with("kustomize patch")));
        bundle.crds.is_empty()
    }

    #[test]
    fn a_document_without_crd_fields_is_a_patch() {
        assert!(is_patch(&partial("spec: {conversion: {strategy: Webhook}}")));
        assert!(is_patch(&partial("spec: {preserveUnknownFields: false}")));
        assert!(is_patch(&partial("$patch: delete")));
        assert!(is_patch(&format!("{HEAD}metadata: {{name: a.b.c, annotations: {{a: b}}}}\n")));
    }

    #[test]
    fn a_crd_with_mistakes_is_a_crd() {
        assert!(!is_patch(&partial("spec: {versions: null}")));
        assert!(!is_patch(&partial("spec: {names: {plural: a}, versions: []}")));
        assert!(!is_patch(&partial("spec: {}")));
        assert!(!is_patch(&partial("")));
        let generated = "annotations: {controller-gen.kubebuilder.io/version: v0.16.0}";
        assert!(!is_patch(&format!("{HEAD}metadata: {{name: a.b.c, {generated}}}\n")));
    }

    #[test]
    fn a_partial_crd_next_to_a_whole_one_is_a_patch() {
        let patch = partial("spec: {versions: [{name: v1}]}");
        assert!(!is_patch(&patch));
        let documents = documents(&[("crd.yaml", crd("x")), ("patch.yaml", patch)]);
        let bundle = Bundle::read(&documents);
        assert_eq!((bundle.crds.len(), bundle.problems.len()), (1, 0));
        assert_eq!(bundle.skipped[0].why, "kustomize patch");
    }

    #[test]
    fn patches_set_the_strategy() {
        let webhook = partial("spec: {conversion: {strategy: Webhook}}");
        let mut documents = documents(&[("crd.yaml", crd("x")), ("patch.yaml", webhook)]);
        let is_webhook = |documents: &Documents| Bundle::read(documents).crds[0].conversion.is_webhook();
        assert!(is_webhook(&documents));
        // A kustomization that lists no patches.
        documents.patches = Some(Vec::new());
        assert!(!is_webhook(&documents));
        let patch = |crd: &str| Some(vec![ConversionPatch { crd: crd.to_owned(), strategy: "Webhook".to_owned() }]);
        documents.patches = patch("a.*");
        assert!(is_webhook(&documents));
        documents.patches = patch("a.b");
        assert!(!is_webhook(&documents));
    }

    #[test]
    fn copies_are_merged_and_variants_distinguished_by_file() {
        let files = [("d/x/crd.yaml", crd("x")), ("d/y/crd.yaml", format!("# copy\n{}", crd("x"))), ("d/z/crd.yaml", crd("z"))];
        let documents = documents(&files);
        let bundle = Bundle::read(&documents);
        let variants: Vec<_> = bundle.crds.iter().map(Crd::variant).collect();
        assert_eq!(variants, [Some("x/crd.yaml"), Some("z/crd.yaml")]);
        assert_eq!(bundle.skipped[0].what, "a.b.c in d/y/crd.yaml");
        assert!(bundle.problems.is_empty());
    }

    #[test]
    fn one_file_with_two_different_crds_of_a_name_is_an_error() {
        let documents = documents(&[("crd.yaml", format!("{}---\n{}", crd("x"), crd("y")))]);
        let bundle = Bundle::read(&documents);
        assert_eq!((bundle.crds.len(), bundle.problems.len()), (1, 1));
        assert!(bundle.problems[0].related.is_some());
    }

    #[test]
    fn a_crd_that_no_server_accepts_is_an_error() {
        let described = |bytes: usize| crd("x").replace("{type: string}", &format!("{{type: string, description: {}}}", "d".repeat(bytes)));
        let read = |text: String| documents(&[("large.yaml", text), ("small.yaml", crd("x").replace("a.b.c", "z.b.c"))]);
        let large = read(described(MAX_REQUEST));
        let bundle = Bundle::read(&large);
        assert_eq!(bundle.crds.iter().map(|crd| crd.name).collect::<Vec<_>>(), ["z.b.c"]);
        assert!(matches!(&bundle.problems[..], [BundleProblem { kind: ProblemKind::TooLarge(bytes), .. }] if *bytes > MAX_REQUEST));
        let allowed = read(described(MAX_REQUEST - 1000));
        let bundle = Bundle::read(&allowed);
        assert_eq!((bundle.crds.len(), bundle.problems.len()), (2, 0));
    }

    #[test]
    fn a_crd_with_too_many_versions_is_an_error() {
        let with = |count: usize| {
            let versions: Vec<String> = (1..=count).map(|index| format!("{{name: v{index}, served: true}}")).collect();
            documents(&[("a.yaml", crd("x").replace("versions: [", &format!("versions: [{}, ", versions.join(", "))))])
        };
        let (few, many) = (with(MAX_VERSIONS - 1), with(MAX_VERSIONS));
        assert!(Bundle::read(&few).problems.is_empty());
        let bundle = Bundle::read(&many);
        assert!(bundle.crds.is_empty());
        assert_eq!(bundle.problems[0].kind, ProblemKind::TooManyVersions(MAX_VERSIONS + 1));
    }

    #[test]
    fn the_counterpart_is_in_the_file_of_the_same_name() {
        let old = documents(&[("old/crd-a.yaml", crd("x")), ("old/crd-b.yaml", crd("y"))]);
        let new = documents(&[("new/crd-a.yaml", crd("y")), ("new/crd-b.yaml", crd("x"))]);
        let (old, new) = (Bundle::read(&old), Bundle::read(&new));
        let paths: Vec<_> = new.crds.iter().filter_map(|crd| Some(crd.counterpart(&old.crds)?.path)).collect();
        assert_eq!(paths, ["old/crd-a.yaml", "old/crd-b.yaml"]);
    }

    #[test]
    fn templates_of_other_kinds_are_ignored() {
        let deployment = "kind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n".to_owned();
        let template = format!("{}\n{{{{- if .Values.x }}}}\nspec: {{}}\n", HEAD.trim_end());
        let documents = documents(&[("a.yaml", deployment), ("b.yaml", template)]);
        let bundle = Bundle::read(&documents);
        assert_eq!(bundle.problems.len(), 1, "only the template of a CRD");
        assert_eq!(bundle.skipped[0].what, "Helm template");
    }
}
