//! Kustomizations around the files of an input, for every kind of side.

use super::super::scratch::Scratch;
use super::super::{ConversionPatch, Problem};

const WEBHOOK: &str = "kind: CustomResourceDefinition\nmetadata: {name: a.b.c}\nspec: {conversion: {strategy: Webhook}}\n";

fn project() -> Scratch {
    let scratch = Scratch::repository();
    scratch.write("config/crd/bases/a.yaml", "a: 1").write("config/crd/patches/a.yaml", WEBHOOK);
    scratch.write("config/crd/kustomization.yaml", "patches:\n- path: patches/a.yaml\n- path: patches/missing.yaml\n");
    scratch
}

fn strategies(scratch: &Scratch, input: &str) -> Vec<ConversionPatch> {
    let found = scratch.loader().kustomizations(&scratch.load(&[input]).files);
    assert_eq!(found.problems, Vec::<Problem>::new());
    assert!(found.found);
    found.conversions
}

#[test]
fn the_kustomization_above_the_bases_counts_on_every_side() {
    let scratch = project();
    scratch.commit();
    let webhook = [ConversionPatch { crd: "a.b.c".to_owned(), strategy: "Webhook".to_owned() }];
    for input in ["config/crd/bases", "config/crd", "config/crd/bases/a.yaml", "HEAD:config/crd/bases", ":config/crd/bases", "HEAD:config"]
    {
        assert_eq!(strategies(&scratch, input), webhook, "{input}");
    }
    let found = scratch.loader().kustomizations(&scratch.load(&["HEAD:config/crd/bases"]).files);
    assert_eq!(found.patching, ["config/crd"]);
}

#[test]
fn each_side_has_its_own_patches() {
    let scratch = project();
    scratch.commit();
    scratch.write("config/crd/kustomization.yaml", "patches:\n#- path: patches/a.yaml\n");
    assert_eq!(strategies(&scratch, "config/crd/bases"), []);
    assert_eq!(strategies(&scratch, "HEAD:config/crd/bases").len(), 1);
}

#[test]
fn a_patch_outside_of_the_repository_is_not_read() {
    let scratch = project();
    let outside = scratch.outside("patch.yaml");
    std::fs::write(&outside, WEBHOOK).unwrap();
    let climbing = "patches:\n- path: ../../../patch.yaml\n";
    scratch.write("config/crd/kustomization.yaml", climbing);
    scratch.commit();
    assert_eq!(strategies(&scratch, "config/crd/bases"), []);
    assert_eq!(strategies(&scratch, "HEAD:config/crd/bases"), []);
}

#[test]
fn without_a_kustomization_nothing_is_found() {
    let scratch = Scratch::repository();
    scratch.write("a/b/x.yaml", "a: 1");
    assert!(!scratch.loader().kustomizations(&scratch.load(&["a/b"]).files).found);
}
