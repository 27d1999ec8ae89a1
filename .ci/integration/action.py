"""Runs the steps of action.yml as GitHub's runner does, as far as this action uses it; and GitHub's comments and releases."""

import functools
import hashlib
import http.server
import json
import pathlib
import re
import shutil
import tarfile
import threading

import yaml

from world import ROOT

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


def look_up(expression, context):
    """`a.b.c || d.e`: the first that is there."""
    for name in expression.split("||"):
        value = context
        for key in name.strip().split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value not in (None, ""):
            return str(value)
    return ""


def outputs_of(text):
    """Lines of a GITHUB_OUTPUT file; the form for values of several lines is never needed."""
    assert "<<" not in text, text
    return dict(line.split("=", 1) for line in text.splitlines())


def run(repository, inputs, github, environment=None):
    """The exit code, what the steps wrote, and their outputs by step."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    given = {name: about.get("default", "") for name, about in action["inputs"].items()}
    unknown = set(inputs) - set(given)
    assert not unknown, unknown
    temp = repository.folder.parent / f"{repository.folder.name}-runner"
    temp.mkdir(exist_ok=True)
    summary = temp / "summary.md"
    summary.write_text("")
    context = {"inputs": {**given, **inputs}, "github": {"action_path": str(ROOT), **github}, "steps": {}}
    log, code, uploaded = "", 0, []
    for step in action["runs"]["steps"]:
        if "uses" in step:  # steps of others; the runner's part ends with what they are given
            given = {name: EXPRESSION.sub(lambda m: look_up(m.group(1), context), str(value)) for name, value in step["with"].items()}
            context["steps"][step["id"]] = {"outputs": {}}
            uploaded.append(given)
            continue
        assert not EXPRESSION.search(step["run"]), "an expression is spliced into a shell"
        output = temp / "output"
        output.write_text("")
        variables = {name: EXPRESSION.sub(lambda m: look_up(m.group(1), context), value) for name, value in step["env"].items()}
        runner = {
            "RUNNER_TEMP": str(temp),
            "RUNNER_TOOL_CACHE": str(temp / "tools"),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_REPOSITORY": "rail/tickets",
            "GITHUB_ACTIONS": "true",
            **(environment or {}),
        }
        script = temp / "step.sh"
        script.write_text(step["run"])
        shell = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script]
        result = repository.run(*shell, code=None, environment={**runner, **variables})
        log += result.stdout + result.stderr
        context["steps"][step["id"]] = {"outputs": outputs_of(output.read_text())}
        if result.returncode != 0:
            code = result.returncode
            break
    for upload in uploaded:
        assert not upload["path"] or pathlib.Path(upload["path"]).read_text().startswith("<!doctype html>"), upload
    values = {name: EXPRESSION.sub(lambda m: look_up(m.group(1), context), about["value"]) for name, about in action["outputs"].items()}
    return code, log, values, summary.read_text()


class Comments:
    """As much of GitHub as keeps the comments of a pull request."""

    def __init__(self, comments=()):
        self.comments = list(comments)
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, value):
                body = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def note(self):
                outer.requests.append((self.command, self.path, self.headers.get("Authorization")))

            def body(self):
                return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

            def do_GET(self):
                self.note()
                page = int(re.search(r"[?&]page=(\d+)", self.path).group(1))
                self.answer(outer.comments[(page - 1) * 100 : page * 100])

            def do_POST(self):
                self.note()
                comment = {"id": 1000 + len(outer.comments), "user": {"login": "github-actions[bot]"}, "body": self.body()}
                outer.comments.append(comment)
                self.answer(comment)

            def do_PATCH(self):
                self.note()
                number = int(self.path.rsplit("/", 1)[1])
                comment = next(comment for comment in outer.comments if comment["id"] == number)
                comment["body"] = self.body()
                self.answer(comment)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}"


class Releases:
    """The action's own files, and a server that offers its releases, both with the same address."""

    def __init__(self, folder):
        self.served, self.action = folder / "served", folder / "action"
        self.served.mkdir(parents=True)
        handler = functools.partial(Quiet, directory=self.served)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.action.mkdir()
        shutil.copytree(ROOT / ".github/action", self.action / ".github/action")
        manifest = (ROOT / "Cargo.toml").read_text()
        address = f'repository = "http://127.0.0.1:{self.server.server_port}"'
        manifest, replaced = re.subn(r'^repository = ".*"$', address, manifest, flags=re.MULTILINE)
        assert replaced == 1, "Cargo.toml names the project's address once"
        (self.action / "Cargo.toml").write_text(manifest)
        self.version = re.search(r'^version = "(.*)"$', manifest, re.MULTILINE).group(1)

    def publish(self, program, target, version=None):
        """Offers the program as the release does, and says which files it is in."""
        version = version or self.version
        folder = self.served / f"releases/download/v{version}"
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"crdwise-v{version}-{target}"
        archive = folder / f"{stem}.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
            tar.add(program, f"{stem}/crdwise")
        checksum = folder / f"{archive.name}.sha256"
        checksum.write_text(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n")
        return archive, checksum


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
