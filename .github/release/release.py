#!/usr/bin/env python3
"""Every step of a release that is more than one command. The release workflow and .ci/release-rehearsal run the same steps.

    release.py check TAG           the tag, Cargo.toml, the hooks' package and the changelog agree
    release.py build TARGET        dist/crdwise-vVERSION-TARGET.tar.gz (.zip for Windows) and its .sha256
    release.py wheel TARGET TAG…   dist/crdwise-VERSION-py3-none-TAG.whl, from the same build
    release.py try ARCHIVE         unpack the archive into an empty directory and review the demo with it
    release.py try-wheel WHEEL     install the wheel into an empty environment and review the demo with it
    release.py sbom                dist/crdwise-vVERSION.cdx.json
    release.py packaging           dist/crdwise.rb for Homebrew and dist/crdwise.yaml for krew, for the archives in dist
    release.py notes               the changelog's section about this version
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
PACKAGE = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]
VERSION = PACKAGE["version"]
DOWNLOADS = f"{PACKAGE['repository']}/releases/download/v{VERSION}"
SHELLS = {"bash": "crdwise.bash", "zsh": "_crdwise", "fish": "crdwise.fish", "powershell": "_crdwise.ps1", "elvish": "crdwise.elv"}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def printed(*command):
    return run(*command, cwd=ROOT, stdout=subprocess.PIPE).stdout.decode()


def epoch():
    """The time that files in archives have: that of the commit, so that the same commit gives the same bytes."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or printed("git", "log", "-1", "--format=%ct"))


def build_environment():
    """No path of the building machine is compiled in, and no clock is read."""
    home = os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo"
    target = os.environ.get("CARGO_TARGET_DIR") or ROOT / "target"
    flags = [f"--remap-path-prefix={home}=/cargo", f"--remap-path-prefix={ROOT}=/crdwise", f"--remap-path-prefix={target}=/target"]
    if sys.platform == "linux":
        flags += ["-C", "force-unwind-tables=no"]  # nothing unwinds: the profile aborts on a panic
        # A fixed address: nothing to relocate at the start, which takes a fifth of its time, and half a megabyte less.
        flags += ["-C", "relocation-model=static"]
        # The compiler writes the tables all the same, because the standard library has debug information: almost a megabyte. The
        # path is relative to the package, so that the flags are the same in every directory.
        flags += ["-C", "link-arg=-Wl,--no-eh-frame-hdr", "-C", "link-arg=-Wl,-T,.github/release/no-unwind-tables.ld"]
    return {**os.environ, "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags), "SOURCE_DATE_EPOCH": str(epoch())}


def check(tag):
    """Says everything that doesn't agree, and stops if anything doesn't."""
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    faults = []
    if tag != f"v{VERSION}":
        faults.append(f"the tag is {tag}, but Cargo.toml says {VERSION}: expected v{VERSION}")
    if hook["version"] != VERSION or hook["dependencies"] != [f"crdwise=={VERSION}"]:
        faults.append(f"pyproject.toml must have version {VERSION} and depend on crdwise=={VERSION}")
    if not notes(required=False):
        faults.append(f"CHANGELOG.md has no section `## {VERSION} (YYYY-MM-DD)`")
    names = {"name": "crdwise", "version": VERSION, "target": "TARGET", "archive-suffix": ".tgz", "repo": PACKAGE["repository"]}
    address = re.sub(r"\{ ([a-z-]+) \}", lambda found: names[found[1]], PACKAGE["metadata"]["binstall"]["pkg-url"])
    if address.replace(".tgz", "") != f"{DOWNLOADS}/crdwise-v{VERSION}-TARGET":
        faults.append(f"cargo binstall would look for {address}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{tag}: Cargo.toml, pyproject.toml and CHANGELOG.md agree")


def notes(required=True):
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(VERSION)} \(\d{{4}}-\d\d-\d\d\)\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if not found and required:
        sys.exit(f"CHANGELOG.md has no section `## {VERSION} (YYYY-MM-DD)`")
    return found.group(1).strip() + "\n" if found else ""


def program_of(target):
    name = "crdwise.exe" if "windows" in target else "crdwise"
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / target / "dist" / name


def build(target):
    command = ["cargo", "build", "--profile", "dist", "--locked", "--target", target]
    run(*command, cwd=ROOT, env=build_environment())
    return archive(target, program_of(target))


def archive(target, program):
    """The program with its licence, manual pages and completions. The program must run here: it writes the last two itself."""
    stem = f"crdwise-v{VERSION}-{target}"
    DIST.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / stem
        folder.mkdir()
        shutil.copy(program, folder)
        for name in ["LICENSE", "README.md", "CHANGELOG.md"]:
            shutil.copy(ROOT / name, folder)
        run(program, "man", "--dir", folder / "man")
        (folder / "completions").mkdir()
        for shell, name in SHELLS.items():
            with open(folder / "completions" / name, "wb") as file:
                run(program, "completions", shell, stdout=file)
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        entries = [(file.relative_to(scratch).as_posix(), file.read_bytes(), file.name == program.name) for file in files]
    made = DIST / (stem + (".zip" if "windows" in target else ".tar.gz"))
    (write_zip if made.suffix == ".zip" else write_tar)(made, entries)
    write_sum(made)
    return made


def write_tar(made, entries):
    with open(made, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content, is_program in entries:
            about = tarfile.TarInfo(name)
            about.size, about.mtime, about.mode = len(content), epoch(), 0o755 if is_program else 0o644
            tar.addfile(about, io.BytesIO(content))


def write_zip(made, entries):
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content, is_program in entries:
            about = zipfile.ZipInfo(name, time.gmtime(epoch())[:6])
            about.external_attr, about.compress_type = (0o755 if is_program else 0o644) << 16, zipfile.ZIP_DEFLATED
            packed.writestr(about, content)


def sum_of(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write_sum(file):
    file.with_name(file.name + ".sha256").write_text(f"{sum_of(file)}  {file.name}\n", newline="\n")
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB, sha256 {sum_of(file)}")


def wheel(target, *tags):
    """Maturin finds everything built already, if `build` ran for the same target."""
    command = ["maturin", "build", "--profile", "dist", "--locked", "--target", target, "--out", DIST]
    folder = ROOT / ".github/release/wheel"
    copies = [shutil.copy(ROOT / name, folder) for name in ("LICENSE", "README.md")]  # it takes them from beside its own file only
    try:
        run(*command, *[part for tag in tags for part in ("--compatibility", tag)], cwd=folder, env=build_environment())
    finally:
        for copy in copies:
            os.remove(copy)


def try_archive(name):
    """What a user does first, with nothing but the archive and the demo."""
    file = pathlib.Path(name)
    expected = file.with_name(file.name + ".sha256").read_text().split()[0]
    if sum_of(file) != expected:
        sys.exit(f"{file}: the checksum is wrong")
    with tempfile.TemporaryDirectory() as scratch:
        shutil.unpack_archive(file, scratch)
        (folder,) = pathlib.Path(scratch).iterdir()
        program = folder / ("crdwise.exe" if file.suffix == ".zip" else "crdwise")
        for needed in ["LICENSE", "man/crdwise.1", "man/crdwise-review.1", "completions/crdwise.bash", "completions/_crdwise.ps1"]:
            if not (folder / needed).is_file():
                sys.exit(f"{file}: {needed} is missing")
        review(program, scratch)
        print(f"{file.name}: {program.stat().st_size / 1e6:.1f} MB unpacked; the demo's review is right")


def try_wheel(name):
    with tempfile.TemporaryDirectory() as scratch:
        environment = pathlib.Path(scratch) / "environment"
        run(sys.executable, "-m", "venv", environment)
        (scripts,) = [folder for folder in (environment / "bin", environment / "Scripts") if folder.is_dir()]
        python = next(scripts.glob("python*"))
        start = time.monotonic()
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", pathlib.Path(name).resolve())
        took = time.monotonic() - start
        review(next(scripts.glob("crdwise*")), scratch)
        print(f"{pathlib.Path(name).name}: installed in {took:.1f} s; the demo's review is right")


def review(program, folder):
    demo = ROOT / "testdata/demo"
    result = subprocess.run([program, "review", demo / "old", demo / "new", "--format", "json"], cwd=folder, capture_output=True, timeout=60)
    report = json.loads(result.stdout)
    found = (result.returncode, report["tool"], report["verdict"])
    if found != (1, f"crdwise {VERSION}", "semantic-breaking"):
        sys.exit(f"{program}: the demo's review is {found}")


def sbom():
    """CycloneDX 1.6: the crates that are compiled in, with their licences and checksums."""
    metadata = json.loads(printed("cargo", "metadata", "--format-version", "1", "--locked"))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root, reached = metadata["resolve"]["root"], {}
    pending = [root]
    while pending:
        node = pending.pop()
        if node in reached:
            continue
        linked = [d["pkg"] for d in nodes[node]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
        reached[node] = linked
        pending += linked
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    sums = {(package["name"], package["version"]): package.get("checksum") for package in lock}

    def purl(package):
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(package):
        about = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"], "purl": purl(package)}
        if package["license"]:
            about["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if checksum := sums.get((package["name"], package["version"])):
            about["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return about

    crates = sorted((packages[node] for node in reached if node != root), key=purl)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**component(packages[root]), "type": "application"}},
        "components": [component(package) for package in crates],
        "dependencies": sorted(
            ({"ref": purl(packages[node]), "dependsOn": sorted({purl(packages[one]) for one in linked})} for node, linked in reached.items()),
            key=lambda entry: entry["ref"],
        ),
    }
    DIST.mkdir(exist_ok=True)
    made = DIST / f"crdwise-v{VERSION}.cdx.json"
    made.write_text(json.dumps(document, indent=1) + "\n", newline="\n")
    print(f"{made.relative_to(ROOT)}: {len(crates)} crates")


def packaging():
    """Fills in the templates beside this file. A target that wasn't built leaves its part out."""
    for template, made in [("homebrew.rb", "crdwise.rb"), ("krew.yaml", "crdwise.yaml")]:
        parts = re.split(r"^ *# for (\S+)\n(.*?)^ *# end\n", (ROOT / ".github/release" / template).read_text(), flags=re.MULTILINE | re.DOTALL)
        text = parts[0]
        for target, part, rest in zip(parts[1::3], parts[2::3], parts[3::3]):
            archives = list(DIST.glob(f"crdwise-v{VERSION}-{target}.[tz]*[pz]"))
            for file in archives:
                text += part.replace("@URL@", f"{DOWNLOADS}/{file.name}").replace("@SHA256@", sum_of(file))
            text += rest
        for key in ["description", "homepage", "license"]:
            text = text.replace(f"@{key.upper()}@", PACKAGE[key])
        (DIST / made).write_text(text.replace("@VERSION@", VERSION), newline="\n")
        print(f"dist/{made}")


STEPS = {
    "check": check, "build": build, "wheel": wheel, "try": try_archive, "try-wheel": try_wheel, "sbom": sbom, "packaging": packaging,
    "notes": lambda: print(notes(), end=""), "version": lambda: print(VERSION),
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in STEPS:
        sys.exit(__doc__)
    STEPS[sys.argv[1]](*sys.argv[2:])
