"""Tries what a release offers, before it is one: arguments are the folder with its files, and the target they are for."""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import yaml

import action
from world import ROOT, World, crd


def the_action_runs_the_archive(world, dist, target):
    """Summary, annotations, SARIF and the page, with the release that the action downloads itself."""
    releases = action.Releases(world.folder / "releases")
    folder = releases.served / f"releases/download/v{releases.version}"
    folder.mkdir(parents=True)
    for file in dist.glob(f"*-{target}.tar.gz*"):
        shutil.copy(file, folder)
    repository = world.repository("action")
    repository.write("config/crd/bookings.yaml", crd())
    repository.commit("first")
    before = repository.git("rev-parse", "HEAD")
    repository.write("config/crd/bookings.yaml", crd(7))
    repository.commit("narrower")
    github = {"action_path": str(releases.action), "event": {"before": before}}
    code, log, outputs, summary = action.run(repository, {}, github)
    assert code == 1 and "checksum verified" in log and outputs["verdict"] == "semantic-breaking", log
    assert "::error file=config/crd/bookings.yaml" in log and "bound-narrowed" in summary
    assert json.loads(repository.read("crdwise.sarif"))["runs"][0]["results"]


def pre_commit_runs_the_wheel(world, dist, target):
    """As a user has it: the repository's address and tag, which lead to this checkout, and an index that has the wheel."""
    package = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    address = re.search(r'^repository = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    source = world.repository("source")
    for name in [".pre-commit-hooks.yaml", "pyproject.toml"]:
        shutil.copy(ROOT / name, source.folder)
    source.commit("release")
    source.git("tag", f"v{package}")
    world.environment["PIP_FIND_LINKS"] = f"{dist} {os.environ.get('PIP_FIND_LINKS', '')}".strip()
    for name in ["PIP_INDEX_URL", "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR"]:
        if name in os.environ:
            world.environment[name] = os.environ[name]
    repository = world.repository("hooked")
    repository.git("config", "--global", f"url.file://{source.folder}.insteadOf", address)
    repository.write("config/crd/bookings.yaml", crd())
    # `crdwise init` writes the configuration; the program comes from the wheel as well.
    archive = next(dist.glob(f"*-{target}.tar.gz"))
    shutil.unpack_archive(archive, world.folder / "archive")
    program = next((world.folder / "archive").glob("*/crdwise"))
    repository.run(program, "init")
    assert yaml.safe_load(repository.read(".pre-commit-config.yaml"))["repos"][0] == {
        "repo": address, "rev": f"v{package}", "hooks": [{"id": "crdwise-lint"}, {"id": "crdwise-review"}],
    }
    repository.commit("first")
    repository.write("config/crd/bookings.yaml", crd(7))
    repository.git("add", "--all")
    start = time.monotonic()
    said = repository.run("pre-commit", "run", "crdwise-review", code=1).stdout
    first = time.monotonic() - start
    assert "bound-narrowed" in said, said
    start = time.monotonic()
    repository.run("pre-commit", "run", "crdwise-review", code=1)
    print(f"pre-commit: {first:.1f} s to the first result with an empty cache, {time.monotonic() - start:.1f} s after that")


def the_manifests_have_the_archive(world, dist, target):
    archive = next(dist.glob(f"*-{target}.tar.gz"))
    checksum = archive.with_name(archive.name + ".sha256").read_text().split()[0]
    krew = yaml.safe_load((dist / "crdwise.yaml").read_text())
    (platform,) = krew["spec"]["platforms"]
    assert platform["uri"].endswith(f"/{archive.name}") and platform["sha256"] == checksum, platform
    formula = (dist / "crdwise.rb").read_text()
    assert checksum in formula and f'url "{platform["uri"]}"' in formula and "@" not in formula, formula
    bill = json.loads(next(dist.glob("*.cdx.json")).read_text())
    names = {component["name"] for component in bill["components"]}
    assert {"clap", "serde_json", "jsonschema"} <= names and "kube-cel" not in names, names


def main(dist, target):
    world = World(pathlib.Path(tempfile.gettempdir()) / "no-crdwise-here/crdwise", ROOT / "target/ci")
    world.environment["PATH"] = os.environ["PATH"]
    for check in [the_action_runs_the_archive, pre_commit_runs_the_wheel, the_manifests_have_the_archive]:
        check(world, pathlib.Path(dist).resolve(), target)
        print(f"{check.__name__.replace('_', ' ')} ... ok", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
