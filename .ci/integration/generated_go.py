"""Generated Go packages do what `crdwise convert` does, on the same objects."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Manifests, and the CRDs that test objects are generated from.
PACKAGES = [
    ("testdata/generate/every-step/conversions", ["testdata/generate/every-step/old", "testdata/generate/every-step/new"]),
    ("testdata/cases/s0-conversion/complete", ["testdata/cases/s0-conversion/old", "testdata/cases/s0-conversion/new"]),
]
EVERY_STEP = {"rename", "move", "copy", "drop", "add", "set", "default", "mapValues", "split", "merge", "wrap", "unwrap", "mapToList", "listToMap", "scale", "retype"}


def gateway():
    """Gateway API 1.0 to 1.1, experimental, where the corpus is beside the checkout."""
    corpus = ROOT.parent / "shared/corpus/gateway-api"
    old, new = corpus / "v1.0.0/experimental", corpus / "v1.1.0/experimental"
    return (old, new) if old.exists() else None


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    return done


def check(done, code=0):
    if done.returncode != code:
        sys.exit(f"{done.args}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def without_preserved(item):
    """A controller neither stores nor restores preserved values; `convert` does."""
    annotations = item.get("metadata", {}).get("annotations", {})
    for name in [name for name, text in annotations.items() if text.startswith('{"old":') or text.startswith('{"new":')]:
        del annotations[name]
    if not annotations:
        item.get("metadata", {}).pop("annotations", None)
    if not item.get("metadata"):
        item.pop("metadata", None)
    return item


def compare(program, folder, manifests, crds):
    flags = [word for crd in crds for word in ("--crd", crd)]
    check(run([program, "conversions", "generate", "go", "--conversions", manifests, *flags, "-o", folder]))
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOCACHE": str(ROOT / "target/ci/go"), "GOPROXY": "off"}
    for package in sorted(path for path in folder.iterdir() if path.is_dir()):
        if unformatted := check(run(["gofmt", "-l", "."], cwd=package)):
            sys.exit(f"{package.name}: not formatted: {unformatted}")
        check(run(["go", "vet", "./..."], cwd=package, env=environment))
        results = package / "results.json"
        check(run(["go", "test", "./..."], cwd=package, env={**environment, "CRDWISE_RESULTS": str(results)}))
        pairs = json.loads(results.read_text())
        newest = {pair["result"]["apiVersion"].split("/")[1] for pair in pairs}
        assert len(newest) == 1, newest
        objects = package / "objects.json"
        objects.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pair["object"] for pair in pairs]}))
        text = check(run([program, "convert", objects, "--to", newest.pop(), "--conversions", manifests]))
        converted = [without_preserved(item) for item in json.loads(text)["items"]]
        expected = [without_preserved(pair["result"]) for pair in pairs]
        differ = [index for index, (a, b) in enumerate(zip(converted, expected)) if a != b]
        if differ or len(converted) != len(expected):
            first = differ[0] if differ else 0
            sys.exit(f"{package.name}: {len(differ)} of {len(pairs)} differ\nconvert {converted[first]}\ngo      {expected[first]}")
        print(f"{package.name}: {len(pairs)} objects, equal results")


def main():
    program = sys.argv[1]
    text = (ROOT / PACKAGES[0][0] / "gadget.yaml").read_text()
    missing = [kind for kind in EVERY_STEP if f"- {kind}:" not in text]
    assert not missing, f"no step of kind {missing}"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (manifests, crds) in enumerate(PACKAGES):
            compare(program, folder / str(number), ROOT / manifests, [ROOT / crd for crd in crds])
        if found := gateway():
            old, new = (side / "gateway.networking.k8s.io_backendtlspolicies.yaml" for side in found)
            manifests = folder / "conversions"
            check(run([program, "conversions", "scaffold", old, new, "-o", manifests]))
            check(run([program, "conversions", "check", old, new, "--conversions", manifests]))
            check(run([program, "conversions", "plan", old, new, "--conversions", manifests]))
            compare(program, folder / "gateway", manifests, [old, new])


main()
