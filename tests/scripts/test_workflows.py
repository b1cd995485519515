"""The workflows: what they may do, what they name, and how a proposal becomes a pull request."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# Variables that every step on GitHub has.
GIVEN = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_REPOSITORY")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_pinned_and_may_do_little(path: Path) -> None:
    uses = re.findall(r"uses: (.*)", path.read_text())
    assert uses
    for use in uses:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use
    flow = yaml.safe_load(path.read_text())
    assert flow["permissions"] == {"contents": "read"}
    assert flow["concurrency"]
    for name, job in flow["jobs"].items():
        assert job["timeout-minutes"]
        assert name in ("deploy", "propose", "release") or "permissions" not in job
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize(
    "path", [path for path in WORKFLOWS if "propose:" in path.read_text()], ids=lambda p: p.name
)
def test_a_job_that_may_write_runs_nothing_that_was_fetched(path: Path) -> None:
    """What was read from the web is made into a patch by a job that may not write.

    Another one only applies it.
    """
    jobs = yaml.safe_load(path.read_text())["jobs"]
    assert jobs["propose"]["permissions"] == {
        "contents": "write",
        "pull-requests": "write",
        "actions": "write",
    }
    checkout, download, run = jobs["propose"]["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert download["uses"].startswith("actions/download-artifact@")
    assert download["with"] == {"name": "proposal", "path": "build/proposal"}
    assert run["run"].startswith(".ci/propose ")
    assert "${{" not in run["run"], (
        "values go through the environment, where no shell reads them as code"
    )
    (before,) = [job for name, job in jobs.items() if name == jobs["propose"]["needs"]]
    patch, upload = before["steps"][-2:]
    assert patch["run"].startswith(".ci/patch bibliography") and ".github" not in patch["run"]
    assert upload["with"]["path"] == run["env"]["PATCH"] == "build/proposal/changes.patch"
    assert before["outputs"]["changed"]


def git(folder: Path, *words: str) -> str:
    names = ["-c", "user.name=Jane", "-c", "user.email=jane@acme.example"]
    return subprocess.run(
        ["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


class Proposals:
    """Two checkouts of a small repository, their remote, and a `gh` that writes down its calls."""

    def __init__(self, folder: Path, already: str = "0") -> None:
        self.folder, self.work, self.remote = folder, folder / "work", folder / "remote.git"
        (self.work / ".ci").mkdir(parents=True)
        for name in ("patch", "propose"):
            shutil.copy(ROOT / ".ci" / name, self.work / ".ci" / name)
        (self.work / "bibliography").mkdir()
        (self.work / "bibliography" / "old.bib").write_text("old\n")
        (self.work / ".gitignore").write_text("build/\n")
        git(self.work, "init", "-q", "-b", "main")
        git(self.work, "add", "-A")
        git(self.work, "commit", "-qm", "first")
        git(folder, "clone", "-q", "--bare", str(self.work), str(self.remote))
        git(folder, "clone", "-q", str(self.remote), "other")
        self.calls = folder / "made"
        self.calls.touch()
        (folder / "tools").mkdir()
        answer = f'[ "$2" = list ] && echo {already} || echo "$@" >> {self.calls}'
        (folder / "tools" / "gh").write_text(f"#!/bin/sh\n{answer}\n")
        (folder / "tools" / "gh").chmod(0o755)

    def patch(self) -> str:
        """What the job that may not write says, its patch in a file."""
        command = [self.work / ".ci" / "patch", "bibliography"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def propose(self, branch: str = "papers-2026-11-22") -> subprocess.CompletedProcess[str]:
        """What the job that may write does with it."""
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'tools'}:{os.environ['PATH']}",
            "PATCH": str(self.work / "build" / "proposal" / "changes.patch"),
            "GH_TOKEN": "t",
            "GITHUB_REPOSITORY": "acme/book",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.file://{self.remote}.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://x-access-token:t@github.com/acme/book.git",
        }
        program = self.folder / "other" / ".ci" / "propose"
        command = [program, branch, "New works", "A body; $(touch x)"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("already", ["0", "1"])
def test_a_patch_becomes_a_pull_request_whose_checks_are_asked_for(
    tmp_path: Path, already: str
) -> None:
    """What one checkout changed, new files too, arrives on a branch of the other, at any size."""
    both = Proposals(tmp_path, already)
    assert both.patch() == "changed=no\n"
    # More than the megabyte that an output of a job may hold.
    (both.work / "bibliography" / "old.bib").write_text("new\n" * 1_000_000)
    (both.work / "bibliography" / "more.bib").write_text("more\n")
    (both.work / "elsewhere.txt").write_text("not this\n")
    assert both.patch() == "changed=yes\n"
    done = both.propose()
    assert done.returncode == 0, done.stderr
    branch = "papers-2026-11-22"
    assert git(both.remote, "log", "-1", "--format=%s", branch) == "New works\n"
    assert git(both.remote, "show", "--stat=80", "--format=", branch).count("|") == 2
    assert git(both.remote, "show", f"{branch}:bibliography/more.bib") == "more\n"
    calls = both.calls.read_text().splitlines()
    created = [call for call in calls if call.startswith("pr create")]
    assert len(created) == (already == "0")
    if created:
        assert created[0].startswith(f"pr create --repo acme/book --head {branch} --base main")
    asked = [call.split()[2] for call in calls if call.startswith("workflow run")]
    assert asked == ["test.yml", "site.yml", "data.yml"]


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/x.yml",
        "bibliography/../.ci/patch",
        "bibliography/__init__.py",
        "bibliography/topics.schema.json",
        "bibliography/a/b.bib",
        "README.md",
    ],
)
def test_a_patch_of_anything_else_is_refused(tmp_path: Path, path: str) -> None:
    both = Proposals(tmp_path)
    (both.work / "bibliography" / "old.bib").write_text("new\n")
    target = (both.work / path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("#!/bin/sh\n")
    git(both.work, "add", "-A")
    patch = both.work / "build" / "proposal" / "changes.patch"
    patch.parent.mkdir(parents=True)
    patch.write_text(git(both.work, "diff", "--cached", "--binary", "HEAD"))
    done = both.propose()
    assert done.returncode == 1 and "nothing is proposed" in done.stderr
    assert both.calls.read_text() == "" and "papers" not in git(both.remote, "branch")


@pytest.mark.parametrize("change", ["link", "program", "removal"])
def test_a_patch_that_makes_no_plain_file_is_refused(tmp_path: Path, change: str) -> None:
    both = Proposals(tmp_path)
    old = both.work / "bibliography" / "old.bib"
    if change == "program":
        old.chmod(0o755)
    else:
        old.unlink()
    if change == "link":
        old.symlink_to("/etc/passwd")
    assert both.patch() == "changed=yes\n"
    done = both.propose()
    assert done.returncode == 1 and both.calls.read_text() == ""


def test_a_proposal_has_a_branch_of_its_own(tmp_path: Path) -> None:
    both = Proposals(tmp_path)
    (both.work / "bibliography" / "old.bib").write_text("new\n")
    both.patch()
    for branch in ("main", "papers-x", "link-status/../main"):
        assert both.propose(branch).returncode == 1
    assert git(both.remote, "log", "-1", "--format=%s", "main") == "first\n"


def test_what_proposals_ask_for_can_be_asked_for() -> None:
    """A workflow without `workflow_dispatch` would not start on a proposal."""
    for name in re.findall(r"\w+\.yml", (ROOT / ".ci" / "propose").read_text()):
        flow = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())
        # YAML reads the word `on` as true.
        assert "workflow_dispatch" in flow[True], name


def expressions(value: object) -> list[str]:
    """The expressions of GitHub in any text of a workflow; the condition of a step is one."""
    if isinstance(value, dict):
        conditions = [str(value["if"])] if "if" in value else []
        return conditions + [text for child in value.values() for text in expressions(child)]
    if isinstance(value, list):
        return [text for child in value for text in expressions(child)]
    return re.findall(r"\$\{\{(.*?)\}\}", value) if isinstance(value, str) else []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_names_only_what_there_is(path: Path) -> None:
    """Jobs, steps and outputs that expressions name exist, and are reached through `needs`.

    This and the next test say what actionlint would; it comes as a program from elsewhere, which
    no locked requirement can hold.
    """
    jobs = yaml.safe_load(path.read_text())["jobs"]
    for job in jobs.values():
        needs = job.get("needs", [])
        needs = [needs] if isinstance(needs, str) else needs
        ids = {step["id"] for step in job["steps"] if "id" in step}
        for text in expressions(job):
            for job_name, output in re.findall(r"\bneeds\.([\w-]+)\.outputs\.([\w-]+)", text):
                assert job_name in needs and output in jobs[job_name]["outputs"], text
            for step in re.findall(r"\bsteps\.([\w-]+)\.outputs\.", text):
                assert step in ids, text
            contexts = set(re.findall(r"(?<![\w.'])([a-z]+)\.", re.sub(r"'[^']*'", "", text)))
            assert contexts <= {"github", "needs", "steps", "matrix", "vars", "env"}, text
        assert set(needs) <= jobs.keys()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_runs_is_there_and_can_be_read(path: Path) -> None:
    """Commands are sound for a shell, hold no expression, and call targets and files of ours."""
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for job in yaml.safe_load(path.read_text())["jobs"].values():
        assert job["runs-on"] == "ubuntu-24.04"
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            command = step.get("run", "true")
            assert "${{" not in command, "values go through the environment"
            subprocess.run(["bash", "-n"], input=command, text=True, check=True)
            assert set(re.findall(r"^make (\w+)", command, re.MULTILINE)) <= set(targets)
            for program in re.findall(r"^\.ci/(\w+)", command, re.MULTILINE):
                assert os.access(ROOT / ".ci" / program, os.X_OK)
            for module in re.findall(r"-m (scripts\.\w+)", command):
                assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file()
            variables = re.findall(r"\$\{?([A-Z][A-Z_]+)\}?", command)
            assert set(variables) <= {*step.get("env", {}), *job.get("env", {}), *GIVEN}, command


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_workflow_gives_strangers_more_than_a_token_to_read(path: Path) -> None:
    """Code of a fork runs under `pull_request` alone, and no job keeps or gets a secret."""
    text = path.read_text()
    events = yaml.safe_load(text)[True]
    assert not {"pull_request_target", "workflow_run", "issue_comment", "issues"} & set(events)
    assert "secrets." not in text and "self-hosted" not in text


def test_zizmor_finds_nothing() -> None:
    command = [Path(sys.executable).with_name("zizmor"), "--offline", "--no-progress", ".github"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_is_the_authors_at_one_version() -> None:
    """Go asks the public log of checksums, which a moved tag would not pass."""
    job = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]["workflows"]
    (install,) = [step for step in job["steps"] if "go install" in step.get("run", "")]
    assert install["run"] == 'go install "github.com/rhysd/actionlint/cmd/actionlint@$VERSION"'
    assert re.fullmatch(r"v\d+\.\d+\.\d+", install["env"]["VERSION"])
    assert not {"GONOSUMDB", "GONOSUMCHECK", "GOFLAGS", "GOPRIVATE"} & set(install["env"])
