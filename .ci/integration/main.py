"""Each check is a function; its name says what must hold. Arguments: the program, the folder with tools, and names of single checks."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

import jsonschema
import xmlschema
import yaml

import action
import cluster
from world import ROOT, World, crd


def review_in_a_repository_with_commits_and_tags(world):
    repository = world.repository("history")
    repository.write("config/crd/bookings.yaml", crd())
    repository.commit("first")
    repository.git("tag", "v1.0.0")
    repository.write("config/crd/bookings.yaml", crd(700))
    repository.commit("wider")
    repository.git("tag", "v1.1.0")
    repository.write("config/crd/bookings.yaml", crd(7))
    repository.commit("narrower")
    review = ["crdwise", "review", "config/crd", "--format", "json"]
    for arguments, code, verdict in [
        (["--against", "HEAD~1"], 1, "semantic-breaking"),
        (["--against", "HEAD"], 0, "none"),
        (["--against", "HEAD~1", "--exit-zero"], 0, "semantic-breaking"),
        (["--against-tag", "v*"], 1, "semantic-breaking"),
        (["--against", "main", "--merge-base"], 0, "none"),
    ]:
        report = json.loads(repository.run(*review, *arguments, code=code).stdout)
        assert report["verdict"] == verdict, (arguments, report["verdict"])
    wider = json.loads(repository.run("crdwise", "review", "v1.0.0:config/crd", "v1.1.0:config/crd", "--format", "json").stdout)
    assert (wider["verdict"], wider["bump"]["recommended"]) == ("additive", "1.1.0"), wider["bump"]
    repository.run(*review, "--against", "nowhere", code=3)
    repository.run(*review, "--against", "--output=x", code=2)


def hooks_run_by_pre_commit(world):
    hooks = world.repository("hooks")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks.folder)
    hooks.run("pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")
    hooks.commit("hooks")
    repository = world.repository("hooked")
    repository.write(
        ".pre-commit-config.yaml",
        f"repos:\n- repo: {hooks.folder}\n  rev: {hooks.git('rev-parse', 'HEAD')}\n"
        "  hooks:\n  - id: crdwise-lint-system\n    args: [--fail-on, never]\n  - id: crdwise-review-system\n",
    )
    repository.write("config/crd/bookings.yaml", crd())
    repository.write("chart/templates/x.yaml", "{{ not yaml }}\n")
    repository.commit("first")
    repository.run("pre-commit", "install")

    def head():
        return repository.git("rev-parse", "HEAD")

    before = head()
    repository.write("config/crd/bookings.yaml", crd(7))
    refused = repository.commit("narrower", code=1)
    assert "bound-narrowed" in refused.stdout + refused.stderr and head() == before, refused
    # What is staged counts, not what lies beside it.
    repository.write("config/crd/bookings.yaml", crd(700))
    repository.git("add", "--all")
    repository.write("config/crd/bookings.yaml", crd(7))
    repository.git("commit", "--quiet", "--message", "wider")
    assert head() != before and "maximum: 7\n" in repository.read("config/crd/bookings.yaml")
    repository.git("checkout", "--quiet", "--", "config/crd/bookings.yaml")
    before = head()
    repository.write("chart/templates/x.yaml", "{{ still not yaml }}\n")
    repository.commit("a template")
    assert head() != before
    before = head()
    repository.git("rm", "--quiet", "config/crd/bookings.yaml")
    repository.run("git", "commit", "--message", "gone", code=1)
    assert head() == before
    repository.git("reset", "--quiet", "--hard")
    repository.run("pre-commit", "run", "--all-files")


def init_writes_files_that_their_tools_take(world):
    repository = world.repository("fresh")
    repository.write("deploy/crds/bookings.yaml", crd())
    said = repository.run("crdwise", "init").stdout
    assert said.count("wrote  ") == 3, said
    repository.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", ".github/workflows/crdwise.yml")
    # Only the user can say which commit of the action to pin.
    policies = {"actions/*": "hash-pin", "crdwise/*": "ref-pin"}
    repository.write("zizmor.yml", json.dumps({"rules": {"unpinned-uses": {"config": {"policies": policies}}}}))
    repository.run("zizmor", "--offline", "--no-progress", "--quiet", "--config", "zizmor.yml", ".github/workflows/crdwise.yml")
    repository.run("pre-commit", "validate-config", ".pre-commit-config.yaml")
    repository.run("crdwise", "lint", "deploy/crds", "--exit-zero")
    assert repository.run("crdwise", "init").stdout.count("left   ") == 3
    # The action with what the workflow gives it.
    repository.commit("first")
    base = repository.git("rev-parse", "HEAD")
    repository.write("deploy/crds/bookings.yaml", crd(7))
    repository.commit("narrower")
    steps = yaml.safe_load(repository.read(".github/workflows/crdwise.yml"))["jobs"]["review"]["steps"]
    inputs = next(step["with"] for step in steps if step["uses"].startswith("crdwise/crdwise@v"))
    event = {"event": {"pull_request": {"number": 1, "base": {"sha": base}}}}
    code, log, _, summary = action.run(repository, {**inputs, "binary": str(world.program)}, event)
    assert code == 1 and summary.startswith("<!-- crdwise -->") and (repository.folder / "crdwise.sarif").exists(), log
    # The job for GitLab.
    job = yaml.safe_load((ROOT / "src/cli/init/gitlab.yml").read_text().replace("@CRDS@", "deploy/crds").replace("@", ""))["crdwise"]
    repository.run("bash", "-e", "-c", job["script"][0], code=1, environment={"CI_MERGE_REQUEST_DIFF_BASE_SHA": base})
    assert json.loads(repository.read("gl-code-quality.json"))


def a_pull_request(world, name):
    """A clone as checkout leaves it, and the event."""
    origin = world.repository(f"{name}-origin")
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    origin.write("config/crd/bookings.yaml", crd())
    origin.commit("first")
    origin.git("checkout", "--quiet", "-b", "topic")
    origin.write("config/crd/bookings.yaml", crd(7))
    origin.commit("narrower")
    origin.git("checkout", "--quiet", "main")
    origin.write("README.md", "moved on\n")
    origin.commit("moved on")
    base = origin.git("rev-parse", "HEAD")
    origin.git("checkout", "--quiet", "-b", "merged")
    origin.git("merge", "--quiet", "--no-edit", "topic")
    clone = world.repository(name)
    clone.git("remote", "add", "origin", f"file://{origin.folder}")
    clone.git("fetch", "--quiet", "--depth=1", "origin", "merged")
    clone.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
    request = {"number": 12, "base": {"sha": base}, "head": {"repo": {"full_name": "rail/tickets"}}}
    return clone, {"event": {"pull_request": request}}


KEYS = {"verdict", "bump", "breaking", "places", "errors", "warnings", "notes", "complete"}


def the_action_in_a_pull_request(world):
    clone, github = a_pull_request(world, "request")
    forged = {"id": 1, "user": {"login": "mallory"}, "body": "<!-- crdwise -->\nall is well"}
    comments = action.Comments([forged])
    inputs = {"binary": str(world.program), "token": "t0ken"}
    environment = {"GITHUB_API_URL": comments.address}
    code, log, outputs, summary = action.run(clone, inputs, github, environment)
    assert code == 1, log
    assert set(outputs) == KEYS and outputs["verdict"] == "semantic-breaking" and outputs["bump"] == "minor", outputs
    assert int(outputs["errors"]) > 0 and outputs["complete"] == "true", outputs
    line = next(number for number, text in enumerate(crd(7).splitlines(), 1) if "maximum: 7" in text)
    assert f"::error file=config/crd/bookings.yaml,line={line}," in log, log
    assert summary.startswith("<!-- crdwise -->\n") and "bound-narrowed" in summary
    assert (clone.folder / "crdwise.sarif").exists()
    assert [method for method, *_ in comments.requests] == ["GET", "POST"], comments.requests
    assert all(token == "Bearer t0ken" for *_, token in comments.requests) and "t0ken" not in log
    assert comments.comments[0]["body"] == forged["body"], "somebody else's comment stays"
    action.run(clone, inputs, github, environment)
    assert [method for method, *_ in comments.requests][2:] == ["GET", "PATCH"], "one comment, kept up to date"
    assert len(comments.comments) == 2 and len(comments.comments[1]["body"]) < 60_000


def the_action_without_leave_to_comment(world):
    clone, github = a_pull_request(world, "fork")
    comments = action.Comments()
    environment = {"GITHUB_API_URL": comments.address}
    inputs = {"binary": str(world.program), "token": "t0ken", "fail-on": "never", "sarif": ""}
    github["event"]["pull_request"]["head"]["repo"]["full_name"] = "mallory/tickets"
    code, log, outputs, summary = action.run(clone, inputs, github, environment)
    assert code == 0 and int(outputs["errors"]) > 0 and "bound-narrowed" in summary, log
    assert not comments.requests and "from a fork" in log, log
    github["event"]["pull_request"]["head"]["repo"]["full_name"] = "rail/tickets"
    code, log, *_ = action.run(clone, {**inputs, "token": ""}, github, environment)
    assert code == 0 and not comments.requests and "no token" in log, log
    # A platform that refuses is told, and fails nothing.
    code, log, *_ = action.run(clone, inputs, github, {"GITHUB_API_URL": "http://127.0.0.1:9"})
    assert code == 0 and "could not be read" in log, log
    assert not (clone.folder / "crdwise.sarif").exists()


def the_action_with_hostile_inputs(world):
    clone, github = a_pull_request(world, "hostile")
    binary = str(world.program)
    for inputs, expected in [
        ({"paths": "$(touch pwned)"}, 3),
        ({"paths": "config/crd; touch pwned"}, 3),
        ({"paths": "--format=json=pwned"}, 2),
        ({"against": "--output=pwned"}, 2),
        ({"against": "`touch pwned`"}, 3),
        ({"against-tag": "$(touch pwned)"}, 3),
        ({"policy": "x'; touch pwned #"}, 2),
        ({"fail-on": "error\nverdict=none"}, 2),
    ]:
        code, log, outputs, summary = action.run(clone, {"binary": binary, **inputs}, github)
        assert code == expected, (inputs, code, log)
        could_not_run(log, outputs, summary)
        assert not list(clone.folder.glob("**/pwned")), inputs
        assert set(outputs) == KEYS, outputs
    code, log, outputs, summary = action.run(clone, {"binary": binary}, {"event": {}})
    assert code == 2 and "no commit to compare with" in summary, log
    could_not_run(log, outputs, summary)
    code, _, outputs, _ = action.run(clone, {"binary": binary, "paths": "config/crd\nconfig/crd/bookings.yaml\n"}, github)
    assert code == 1 and outputs["verdict"] == "semantic-breaking"


def could_not_run(log, outputs, summary):
    """What must show where there is no review: a reason, and no verdict."""
    assert "\n::error title=crdwise could not run::" in "\n" + log, log
    assert "## API review: could not run" in summary and "0 errors" not in summary, summary
    assert summary.split("<pre>")[1].split("</pre>")[0].strip(), "the reason"
    assert outputs["verdict"] == "" and outputs["errors"] == "" and outputs["complete"] == "false", outputs


def the_action_that_could_not_run(world):
    clone, github = a_pull_request(world, "stopped")
    comments = action.Comments()
    environment = {"GITHUB_API_URL": comments.address}
    inputs = {"binary": str(world.program), "token": "t0ken"}
    for more, code, reason in [
        ({"paths": "config/nowhere"}, 3, "config/nowhere"),
        ({"policy": "recomended"}, 2, "did you mean `recommended`?"),
        ({"against": "no-such-branch"}, 3, "no-such-branch"),
    ]:
        exit_code, log, outputs, summary = action.run(clone, {**inputs, **more}, github, environment)
        assert exit_code == code, (more, log)
        could_not_run(log, outputs, summary)
        assert reason in summary, summary
    assert len(comments.comments) == 1 and "could not run" in comments.comments[0]["body"], "the comment says so, too"
    # A base that can't be parsed is no base.
    clone.write("config/crd/bookings.yaml", "spec: [\n")
    clone.commit("broken")
    clone.write("config/crd/bookings.yaml", crd())
    clone.commit("mended")
    exit_code, log, outputs, summary = action.run(clone, {**inputs, "against": "HEAD~1"}, github, environment)
    assert exit_code in (0, 3), log
    if exit_code == 3:
        could_not_run(log, outputs, summary)


def the_action_on_a_push_and_against_a_tag(world):
    repository = world.repository("push")
    repository.write("config/crd/bookings.yaml", crd())
    repository.commit("first")
    repository.git("tag", "v1.0.0")
    before = repository.git("rev-parse", "HEAD")
    repository.write("config/crd/bookings.yaml", crd(700))
    repository.commit("wider")
    binary = str(world.program)
    for inputs, github in [({}, {"event": {"before": before}}), ({"against-tag": "v*"}, {"event": {}}), ({"against": "HEAD~1"}, {"event": {}})]:
        code, log, outputs, _ = action.run(repository, {"binary": binary, **inputs}, github)
        assert code == 0 and outputs["verdict"] == "additive" and outputs["bump"] == "minor", (inputs, log, outputs)


def the_action_installs_only_what_it_has_verified(world):
    clone, github = a_pull_request(world, "install")
    releases = action.Releases(world.folder / "releases")
    machine = os.uname().machine.replace("arm64", "aarch64")
    good = world.folder / "good"
    # A program that says that it ran; the real one is large, and the review's business is tested above.
    good.write_text('#!/bin/sh\n[ "$1" = --version ] || touch ran\necho "crdwise released"\n')
    good.chmod(0o755)
    target = f"{machine}-unknown-linux-musl"
    github["action_path"] = str(releases.action)

    def install(**inputs):
        """What the install step does on a runner that has nothing yet, for an action pinned by commit."""
        shutil.rmtree(world.folder / "install-runner", ignore_errors=True)
        return action.run(clone, inputs, {**github, "action_ref": "8f4b7f84864484a7bf31766abe9204da3cbe65b3"})

    def refused(said, **inputs):
        code, log, *_ = install(**inputs)
        assert code == 2 and f"::error title=crdwise::{said}" in log and "crdwise released" not in log, (said, code, log)
        assert not (world.folder / "install-runner/tools").exists(), "nothing is kept"

    refused("can't download")  # no such release
    archive, checksum = releases.publish(good, target)
    code, log, *_ = install()
    assert code == 0 and f"release {releases.version}, checksum verified" in log and "crdwise released" in log, log
    code, log, *_ = action.run(clone, {}, github)
    assert code == 0 and "from the runner's tool cache" in log, log
    releases.publish(good, target, "9.8.7")
    code, log, *_ = install(version="v9.8.7")
    assert code == 0 and "release 9.8.7, checksum verified" in log, log
    refused("the input `version` must be", version="latest; touch pwned")

    bytes_, sum_ = archive.read_bytes(), checksum.read_text()
    checksum.write_text("0" * 64 + sum_[64:])
    refused("the checksum of")
    checksum.write_text("")
    refused(f"http://127.0.0.1:{releases.server.server_port}/releases/download/v{releases.version}/{checksum.name} is not")
    # Names another file whose sum is right.
    checksum.write_text(hashlib.sha256(b"").hexdigest() + "  /dev/null\n")
    refused("the checksum of")
    checksum.unlink()
    refused("can't download")
    checksum.write_text(sum_)
    archive.write_bytes(bytes_[: len(bytes_) // 2])
    refused("the checksum of")
    checksum.write_text(hashlib.sha256(archive.read_bytes()).hexdigest() + "\n")
    refused("can't unpack")
    releases.server.shutdown()
    releases.server.server_close()
    refused("can't download")  # offline
    # A program that is there needs no network.
    code, log, *_ = action.run(clone, {"binary": str(good)}, github)
    assert code == 0 and "crdwise released" in log, log


def formats_satisfy_their_schemas(world):
    demo = ["crdwise", "review", ROOT / "testdata/demo/old", ROOT / "testdata/demo/new"]
    repository = world.repository("formats")
    files = {"sarif": "a.sarif", "junit": "a.xml", "gitlab": "a.json"}
    repository.run(*demo, *[f"--format={name}={file}" for name, file in files.items()], code=1)
    repository.run("crdwise", "lint", ROOT / "testdata/demo/new", "--all", "--format=sarif=b.sarif", "--format=junit=b.xml", "--exit-zero")
    multitool = world.tools / "npm/sarif-multitool/package"
    schema = json.loads((multitool / "sarif-2.1.0.json").read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    for log in ["a.sarif", "b.sarif"]:
        errors = [error.message for error in validator.iter_errors(json.loads(repository.read(log)))]
        assert not errors, errors
        program = multitool / "Sarif.Multitool"
        program.chmod(0o755)
        for kind in ["Sarif", "Ghas"]:
            validate = [program, "validate", log, "--rule-kind", kind, "--level", "Error", "--output", f"{log}.{kind}.json"]
            options = {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
            said = repository.run(*validate, "--json-schema", multitool / "sarif-2.1.0.json", environment=options).stdout
            assert "1 files scanned" in said and " error " not in said, said
    jenkins = xmlschema.XMLSchema(str(world.tools / "npm/junit-schema/package/test/resources/jenkins-junit.xsd"))
    for report in ["a.xml", "b.xml"]:
        errors = [error.reason for error in jenkins.iter_errors(str(repository.folder / report))]
        assert not errors, errors
    for issue in json.loads(repository.read("a.json")):
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}, issue
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}, issue


def own_files_satisfy_their_schemas(world):
    run = lambda *command: subprocess.run(command, cwd=ROOT, env=world.environment, check=True, capture_output=True, timeout=120)
    run("check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml")
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *map(str, (ROOT / ".github/workflows").glob("*.yml")))
    run("zizmor", "--offline", "--no-progress", "--quiet", "--min-severity", "medium", "action.yml", ".github/workflows")
    scripts = [*(ROOT / ".github/action").iterdir(), *(ROOT / ".ci/steps").iterdir()]
    scripts += [ROOT / ".ci/run", ROOT / ".ci/venv", ROOT / ".ci/release-rehearsal", ROOT / "docs/build"]
    run("shellcheck", *[str(script) for script in scripts if script.read_text().startswith("#!/usr/bin/env bash")])


def completions_and_pages_are_sound(world):
    repository = world.repository("pages")
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"]:
        assert "crdwise" in repository.run("crdwise", "completions", shell).stdout
    script = repository.run("crdwise", "completions", "bash").stdout
    ask = script + '\nCOMP_WORDS=(crdwise review --format ""); COMP_CWORD=3; _crdwise crdwise "" --format; echo "${COMPREPLY[*]}"\n'
    said = repository.run("bash", "-c", ask).stdout.split()
    assert {"sarif", "github", "junit", "markdown"} <= set(said), said
    repository.run("crdwise", "man", "--dir", "man")
    assert (repository.folder / "man/crdwise-review.1").exists()


def a_cluster_is_an_input(world):
    repository = world.repository("cluster")
    repository.write("crd.json", json.dumps({**crd_document(cluster.widgets(50))}))
    other = {**cluster.widgets(), "metadata": {"name": "others.example.org"}}
    other = json.loads(json.dumps(other).replace("widget", "other").replace("Widget", "Other"))
    # More CRDs than one page holds.
    many = [json.loads(json.dumps(other).replace("others", f"others{n}")) for n in range(cluster.PAGE + 20)]
    with cluster.Server({cluster.CRDS: [cluster.widgets(), *many]}) as server:
        repository.write("kubeconfig", server.kubeconfig())
        settings = {"KUBECONFIG": str(repository.folder / "kubeconfig")}
        review = ["crdwise", "review", "--format", "json"]
        for name in ["kube:", "kube:here"]:
            report = json.loads(repository.run(*review, name, "crd.json", code=1, environment=settings).stdout)
            assert report["old"]["crds"] == cluster.PAGE + 21 and report["old"]["source"] == name, report["old"]["source"]
            found = [finding for finding in report["findings"] if finding["crd"] == "widgets.example.org" and finding["class"] == "semantic-breaking"]
            assert [finding["path"] for finding in found] == ["spec.size"], found
            assert found[0]["before"]["file"] == f"{name}/widgets.example.org", found[0]["before"]
        lint = repository.run("crdwise", "lint", "kube:", "--format", "json", "--fail-on", "never", environment=settings)
        assert json.loads(lint.stdout)["new"]["crds"] == cluster.PAGE + 21
        assert {method for method, _ in server.requests} == {"GET"}, server.requests
    # A version that objects are stored at can't go.
    with cluster.Server({cluster.CRDS: [cluster.widgets(versions=("v1beta1", "v1"), stored=("v1beta1", "v1"))]}) as server:
        repository.write("kubeconfig", server.kubeconfig())
        repository.write("crd.json", json.dumps(crd_document(cluster.widgets())))
        report = json.loads(repository.run(*review, "kube:", "crd.json", code=1, environment=settings).stdout)
        assert "stored-version-removed" in {finding["rule"] for finding in report["findings"]}, report["findings"]


def crd_document(item):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **item}


def a_cluster_that_fails_says_why(world):
    repository = world.repository("failing-cluster")
    repository.write("crd.json", json.dumps(crd_document(cluster.widgets())))
    many = [json.loads(json.dumps(cluster.widgets()).replace("widget", f"widget{n}").replace("Widget", f"Widget{n}")) for n in range(600)]

    def says(server, name="kube:", program=None):
        repository.write("kubeconfig", server.kubeconfig())
        settings = {"KUBECONFIG": str(repository.folder / "kubeconfig"), **(program or {})}
        start = time.monotonic()
        command = ["crdwise", "review", name, "crd.json", "--kubectl-timeout", "2"]
        said = repository.run(*command, code=3, environment=settings).stderr
        assert time.monotonic() - start < 12, "the timeout holds"
        return said

    with cluster.Server({cluster.CRDS: many}) as server:
        assert "has no context `nowhere`" in says(server, "kube:nowhere")
        message = 'customresourcedefinitions.apiextensions.k8s.io is forbidden: User "ci" cannot list resource'
        server.faults[cluster.CRDS] = (403, "Forbidden", message)
        said = says(server)
        assert "not allowed" in said and message in said and "permission to `list`" in said, said
        server.faults[cluster.CRDS] = (401, "Unauthorized", "Unauthorized")
        assert "authentication failed" in says(server)
        server.faults[cluster.CRDS] = (500, "InternalError", "etcd \x1b[2J is gone")
        said = says(server)
        assert "is gone" in said and "\x1b" not in said, said
        server.faults[cluster.CRDS] = "hang"
        assert "no answer within 2 seconds" in says(server)
        server.faults[cluster.CRDS] = "stall"
        assert "no answer within 2 seconds" in says(server)
        server.faults[cluster.CRDS] = "cut"
        assert "can't be reached" in says(server)
        # The second page fails: what the first one held must not look like all of it.
        for fault, words in [((410, "Expired", "The provided continue parameter is too old"), "run it again"), ("hang", "no answer within")]:
            server.requests.clear()
            server.faults[cluster.CRDS], server.fault_after = fault, 1
            assert words in says(server)
    # kubectl complains about servers far from its own version only where somebody asks for it.
    for version in ["1.16", "1.99"]:
        with cluster.Server({cluster.CRDS: [cluster.widgets()]}, version=version) as server:
            repository.write("kubeconfig", server.kubeconfig())
            settings = {"KUBECONFIG": str(repository.folder / "kubeconfig")}
            repository.run("crdwise", "review", "kube:", "crd.json", environment=settings)
    # A server of another time, which has no apiextensions/v1.
    with cluster.Server({}, version="1.15") as server:
        assert "needs Kubernetes 1.16 or later" in says(server)
    assert "can't be reached" in says(server)
    paths = os.pathsep.join([str(world.program.parent), str(repository.folder)])
    (repository.folder / "git").symlink_to(shutil.which("git"))
    assert "install kubectl" in says(server, program={"PATH": paths})


def objects_of_a_cluster_are_named(world):
    repository = world.repository("objects")
    repository.write("new.json", json.dumps(crd_document(cluster.widgets(50))))
    objects = [cluster.widget(n, 98765 if n in (17, 700, 1199) else 1) for n in range(1200)]
    path = "/apis/example.org/v1/widgets"
    with cluster.Server({cluster.CRDS: [cluster.widgets(100000)], path: objects}) as server:
        repository.write("kubeconfig", server.kubeconfig())
        settings = {"KUBECONFIG": str(repository.folder / "kubeconfig")}
        command = ["crdwise", "review", "kube:", "new.json", "--objects", "kube:"]
        result = repository.run(*command, "--format", "json", code=1, environment=settings)
        report = json.loads(result.stdout)
        assert report["objects"]["checked"] == 1200 and report["objects"]["hit"] == 3, report["objects"]
        hit = [finding["objects"] for finding in report["findings"] if finding.get("objects", {}).get("count")]
        assert [one["names"] for one in hit] == [["shop/w00017", "shop/w00700", "shop/w01199"]], hit
        assert hit[0]["managers"] == [{"name": "argocd", "objects": 3}], hit
        pages = [uri for _, uri in server.requests if uri.startswith(path)]
        assert len(pages) == 3 and all("limit=500" in uri for uri in pages), pages
        assert "98765" not in result.stdout
        validate = ["crdwise", "validate", "kube:", "--crd", "new.json"]
        said = repository.run(*validate, code=1, environment=settings).stdout
        assert "1200 checked, 3 rejected" in said and said.count("shop/w") == 3 and "98765" not in said, said
        # The second page fails: the run is not complete.
        server.requests.clear()
        server.faults[path], server.fault_after = (403, "Forbidden", "widgets is forbidden"), 1
        failed = repository.run(*command, code=3, environment=settings)
        assert "widgets.example.org: not allowed" in failed.stderr, failed.stderr
        assert {method for method, _ in server.requests} == {"GET"}, server.requests


def charts_are_rendered_by_helm(world):
    repository = world.repository("chart")
    template = crd().replace("maximum: 100", "maximum: {{ .Values.max }}")
    # An include grows by lines, and a second document comes first in the alphabet: places must hold all the same.
    template = template.replace("metadata:\n", 'metadata:\n  labels:\n    {{- include "w.labels" . | nindent 4 }}\n', 1)
    other = crd().replace("bookings", "airports").replace("Booking", "Airport").replace("booking", "airport")
    text = "{{- if .Values.crds }}\n" + template + "---\n" + other + "{{- end }}\n"
    repository.write("charts/w/Chart.yaml", "apiVersion: v2\nname: w\nversion: 1.0.0\n")
    repository.write("charts/w/templates/_helpers.tpl", '{{- define "w.labels" }}\na: b\nc: d\ne: f\n{{- end }}\n')
    repository.write("charts/w/templates/crds.yaml", text)
    repository.write("charts/w/values.yaml", "max: 100\ncrds: true\n")
    repository.write("charts/plain/Chart.yaml", "apiVersion: v2\nname: plain\nversion: 1.0.0\n")
    repository.write("charts/plain/templates/crd.yaml", "{{- if .Values.x }}\n" + crd().replace("rail.example.com", "x.example.com") + "{{- end }}\n")
    repository.commit("first")
    repository.write("charts/w/values.yaml", "max: 7\ncrds: true\n")
    line = next(number for number, text in enumerate(text.splitlines(), 1) if "{{ .Values.max }}" in text)
    review = ["crdwise", "review", "charts", "--against", "HEAD"]
    result = repository.run(*review, "--format", "github", code=1)
    assert f"::error file=charts/w/templates/crds.yaml,line={line}," in result.stdout, result.stdout
    assert "note: charts/w was rendered by `helm template`" in result.stderr, result.stderr
    # What can be read without Helm is, also where its values leave it out.
    report = json.loads(repository.run(*review, "--format", "json", code=1).stdout)
    assert report["new"]["crds"] == 3, report["new"]
    repository.run("tar", "-czf", "w.tgz", "-C", "charts", "w")
    assert "w.tgz/w/templates/crds.yaml" in repository.run("crdwise", "lint", "w.tgz", "--format", "json", "--fail-on", "never").stdout
    # A post-renderer, a plugin or a cluster is nothing that a chart can ask for.
    repository.write("charts/w/templates/lookup.yaml", '{{- $x := lookup "v1" "Namespace" "" "default" }}\n')
    repository.run(*review, code=1)
    repository.write("charts/w/values.yaml", "max: 7\ncrds: false\n")
    assert "Helm renders no CRD from it" in repository.run(*review, code=3).stderr
    repository.write("charts/w/templates/fails.yaml", '{{- fail "no such value" }}\n')
    assert "no such value" in repository.run(*review, code=3).stderr


def kustomizations_are_rendered_by_kubectl(world):
    repository = world.repository("kustomize")
    repository.write("config/crd/bases/bookings.yaml", "# generated\n" + crd())
    patch = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: bookings.rail.example.com\n"
        "  annotations:\n    team: a\n"
    )
    name = yaml.safe_load(crd())["metadata"]["name"]
    repository.write("config/crd/patches/team.yaml", patch.replace("bookings.rail.example.com", name))
    repository.write("config/crd/kustomization.yaml", "resources:\n- bases/bookings.yaml\npatchesStrategicMerge:\n- patches/team.yaml\n")
    repository.write("config/default/kustomization.yaml", "bases:\n- ../crd\n")
    repository.commit("first")
    repository.write("config/crd/bases/bookings.yaml", "# generated\n" + crd(7))
    line = next(number for number, text in enumerate(crd(7).splitlines(), 2) if "maximum: 7" in text)
    for folder in ["config/crd", "config/crd/bases", "config/default"]:
        result = repository.run("crdwise", "review", folder, "--against", "HEAD", "--render", "--format", "json", code=1)
        assert "was rendered by `" in result.stderr, result.stderr
        found = [finding for finding in json.loads(result.stdout)["findings"] if finding["rule"] == "bound-narrowed"]
        assert [finding["after"]["line"] for finding in found] == [line], found
        assert found[0]["after"]["file"] == "config/crd/bases/bookings.yaml", found
        assert found[0]["before"]["file"] == "HEAD:config/crd/bases/bookings.yaml", found
    for reference in ["https://127.0.0.1:9/x.yaml", "github.com/x/y?ref=v1", "../../../etc"]:
        repository.write("config/crd/kustomization.yaml", f"resources:\n- {reference}\n")
        said = repository.run("crdwise", "lint", "config/crd", "--render", code=3).stderr
        assert "crdwise downloads nothing" in said, said


def main(program, tools, *only):
    world = World(program, tools)
    checks = [value for value in globals().values() if callable(value) and getattr(value, "__module__", "") == __name__]
    checks = [check for check in checks if check.__name__ not in {"main", "a_pull_request", "could_not_run", "crd_document"} and (not only or check.__name__ in only)]
    failed = 0
    for check in checks:
        start = time.monotonic()
        try:
            check(world)
            outcome = "ok"
        except (AssertionError, subprocess.CalledProcessError) as error:
            failed += 1
            detail = getattr(error, "stdout", None) or b""
            outcome = f"FAILED\n{error}\n{detail.decode(errors='replace')}"
        print(f"{check.__name__.replace('_', ' ')} ... {outcome} ({time.monotonic() - start:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
