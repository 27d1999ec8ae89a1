"""A scratch folder with repositories in it, and commands that run there."""

import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CRD = (ROOT / "testdata/demo/old/bookings.yaml").read_text()


def crd(maximum=100):
    """The demo's CRD with another bound, and without a version of the bundle that would have to follow."""
    lines = [line for line in CRD.splitlines() if "bundle-version" not in line]
    return "\n".join(lines).replace("maximum: 100", f"maximum: {maximum}") + "\n"


class Repository:
    def __init__(self, folder, environment):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = environment
        self.git("init", "--quiet", "--initial-branch=main")

    def run(self, *arguments, code=0, environment=None, text=None):
        result = subprocess.run(
            [str(argument) for argument in arguments],
            cwd=self.folder,
            env={**self.environment, **(environment or {})},
            input=text,
            capture_output=True,
            text=True,
            timeout=300,
        )
        said = f"{arguments}\n{result.stdout}\n{result.stderr}"
        assert code is None or result.returncode == code, f"exit code {result.returncode} instead of {code}: {said}"
        return result

    def git(self, *arguments, code=0):
        return self.run("git", *arguments, code=code).stdout.strip()

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def read(self, name):
        return (self.folder / name).read_text()

    def commit(self, message, code=0):
        self.git("add", "--all")
        return self.run("git", "commit", "--message", message, code=code)


class World:
    """Everything a check needs: the program on PATH, and a clean environment."""

    def __init__(self, program, tools):
        self.program = pathlib.Path(program)
        self.tools = pathlib.Path(tools)
        self.scratch = tempfile.TemporaryDirectory(prefix="crdwise-ci-")
        self.folder = pathlib.Path(self.scratch.name)
        (self.folder / "home").mkdir()
        path = [str(self.program.parent), str(self.tools / "venv/bin"), str(self.tools / "kubectl/usr/bin"), os.environ["PATH"]]
        kept = {name: os.environ[name] for name in ("SSL_CERT_FILE", "LANG", "CARGO_HOME", "RUSTUP_HOME") if name in os.environ}
        self.environment = {
            **kept,
            "PATH": os.pathsep.join(path),
            "HOME": str(self.folder / "home"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@b.example",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@b.example",
            "PRE_COMMIT_HOME": str(self.folder / "pre-commit"),
        }

    def repository(self, name):
        return Repository(self.folder / name, self.environment)
