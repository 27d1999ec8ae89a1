"""Generated Go packages do what `crdwise convert` does, on the same objects."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Manifests, and the CRDs that test objects are generated from.
PACKAGES = [
    ("testdata/generate/every-step/conversions", ["testdata/generate/every-step/old", "testdata/generate/every-step/new"]),
    ("testdata/generate/preserve/conversions", ["testdata/generate/preserve/old", "testdata/generate/preserve/new"]),
    ("testdata/cases/s0-conversion/complete", ["testdata/cases/s0-conversion/old", "testdata/cases/s0-conversion/new"]),
]


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


def compare(program, folder, manifests, crds, linked=()):
    """`linked` are CRDs whose versions have the same schema, so that no manifest is between them; `convert` also validates with them."""
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
        with_crds = [word for crd in linked for word in ("--crd", crd)]
        done = run([program, "convert", objects, "--to", newest.pop(), "--conversions", manifests, *with_crds])
        check(done, done.returncode if linked and done.returncode == 1 else 0)
        # What needs a manual step isn't valid yet, and stays as it was.
        both = [(item, pair) for item, pair in zip(json.loads(done.stdout)["items"], pairs) if not linked or item != pair["object"]]
        assert both, "nothing was converted"
        pairs = [pair for _, pair in both]
        converted, expected = [item for item, _ in both], [pair["result"] for pair in pairs]
        differ = [index for index, (a, b) in enumerate(zip(converted, expected)) if a != b]
        if differ or len(converted) != len(expected):
            first = differ[0] if differ else 0
            sys.exit(f"{package.name}: {len(differ)} of {len(pairs)} differ\nconvert {converted[first]}\ngo      {expected[first]}")
        print(f"{package.name}: {len(pairs)} objects, equal results")


def there_and_back(program, folder, old, new):
    """Everything that changed: drafted, completed, proved, planned, converted there and back on files, and in Go."""
    manifests = folder / "conversions"
    check(run([program, "conversions", "scaffold", old, new, "-o", manifests]))
    for file in manifests.iterdir():
        file.write_text(file.read_text().replace("guidance: TODO", "guidance: HTTPS listeners terminate TLS"))
    check(run([program, "conversions", "check", old, new, "--conversions", manifests]))
    plan = check(run([program, "conversions", "plan", old, new, "--conversions", manifests]))
    print(len(re.findall(r"^\S+: \d+ steps?$", plan, re.MULTILINE)), "CRDs have a plan")
    compare(program, folder / "gateway", manifests, [old, new], linked=[new])
    made = folder / "objects"
    check(run([program, "fixtures", "write", old, "--dir", made]))
    sources = sorted(made.rglob("*.yaml"))
    before = {file: file.read_text() for file in sources}
    to = ["--conversions", manifests, "--write"]
    check(run([program, "convert", *sources, "--from", "1.0.0", "--to", "1.1.0", *to]))
    changed = [file for file in sources if file.read_text() != before[file]]
    assert changed, "nothing was converted"
    check(run([program, "convert", *sources, "--from", "1.1.0", "--to", "1.0.0", *to]))
    # Indentation and the order of restored keys may be others.
    lines = lambda text: sorted(line.strip() for line in text.splitlines())
    different = [file for file in sources if lines(file.read_text()) != lines(before[file])]
    assert not different, f"{different[0]}\n{before[different[0]]}\n{different[0].read_text()}"
    print(f"{len(changed)} of {len(sources)} files converted there and back")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (manifests, crds) in enumerate(PACKAGES):
            compare(program, folder / str(number), ROOT / manifests, [ROOT / crd for crd in crds])
        if found := gateway():
            there_and_back(program, folder, *found)


main()
