"""Packaging checks beyond the linters': facts stated twice agree, and workflows have minimal
permissions and run every check."""

import fnmatch
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".ci"))
import checks  # noqa: E402

#: Checks that only prepare others, and run before the checks that need them.
PREPARATIONS = {name for check in checks.checks(long=False) for name in check.after}


def profiles():
    """An installed gateway is built like one of `--profile gateway`."""
    wanted = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]["gateway"]
    found = tomllib.loads((ROOT / "infra/gateway/.cargo/config.toml").read_text())["profile"]["release"]
    assert wanted.pop("inherits") == "release"
    assert found == wanted, f"infra/gateway/.cargo/config.toml has {found}, and the profile gateway {wanted}"
    assert found["panic"] == "unwind", "a panic must not end a gateway, which handles many requests at once"


def features():
    """Builds with the gateway's profile select its package, like published ones: in the
    workspace it would get features for tests."""
    names = subprocess.run(["git", "grep", "-lI", "profile gateway"], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
    for name in names.split():
        for command in re.findall(r"cargo (?:build|rustc)[^\n`&|]*--profile gateway[^\n`&|]*", (ROOT / name).read_text()):
            package = re.search(r"(?:-p|--package) (\w+)", command)
            assert package, f"{name}: {command} selects no package"


def workflows():
    """Actions are pinned, and tokens read-only unless a job declares more."""
    for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
        text = file.read_text()
        uses = re.findall(r"uses: *(\S+)", text)
        assert uses, f"{file.name} uses no action"
        for action in uses:
            assert re.fullmatch(r"actions/[a-z-]+@(v\d+(\.\d+)*|[0-9a-f]{40})", action), f"{file.name}: {action}"
        assert re.search(r"^permissions:\n  contents: read\n(?! )", text, re.MULTILINE), f"{file.name} does not limit the permissions of all jobs to reading"
        assert "pull_request_target" not in text, f"{file.name} runs untrusted code with privileges"
        writes = re.findall(r"^ +([a-z-]+): write", text, re.MULTILINE)
        assert file.name == "release.yml" or not writes, f"{file.name} may write {writes}"
        # Values that others choose (a branch, a title) are passed to scripts as data, never as a
        # part of the script.
        for script in re.findall(r"run: (?:\|\n)?((?:.|\n)*?)(?=\n      -|\n    \S|\n  \S|\Z)", text):
            assert "${{ github.event" not in script and "${{ github.head_ref" not in script, f"{file.name}: {script}"


def groups():
    """Each check is in one group of the workflow, and the artifact of a group has its table."""
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    found = re.findall(r'checks: "(.+)"', workflow)
    kept = re.search(r"~/\.cache/gatelet-ci/(\S+\.txt)\n", workflow)[1]
    for group in found:
        table = checks.table_file(group.split(","))
        assert table.parent == checks.cache.FOLDER and fnmatch.fnmatch(table.name, kept), f"no artifact of ci.yml has {table}"
    listed = [name for group in found for name in group.split(",")]
    wanted = {check.name for check in checks.checks(long=False) if not check.only_long}
    assert len(listed) == len(set(listed)), f"ci.yml runs a check twice: {sorted(listed)}"
    assert set(listed) <= wanted, f"ci.yml names unknown checks: {set(listed) - wanted}"
    missing = wanted - PREPARATIONS - set(listed)
    assert not missing, f"no group of ci.yml has {missing}"


def toolchain():
    """The image is built with a named release that the packages accept, the checks with the
    current stable one, which every machine with rustup has and the workflows install."""
    channel = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert channel == "stable", f"rust-toolchain.toml has {channel}, which machines without a network lack"
    oldest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    dockerfile = (ROOT / "Dockerfile").read_text()
    image = re.search(r"^FROM rust:([\d.]+)-", dockerfile, re.MULTILINE)[1]
    assert f"\nENV RUSTUP_TOOLCHAIN={image}\n" in dockerfile, "the image's build would fetch another toolchain than the image has"
    numbers = lambda version: [int(part) for part in version.split(".")]
    assert numbers(image) >= numbers(oldest), f"the Dockerfile has {image}, and Cargo.toml needs {oldest}"
    for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
        assert not re.search(r"rustup (default|toolchain install \w)", file.read_text()), f"{file.name} names a toolchain of its own"


def tools():
    """The weekly workflow uses the checks' version of cargo-deny."""
    (version,) = re.findall(r"cargo-deny@([\d.]+)", (ROOT / ".github/workflows/weekly.yml").read_text())
    assert version == checks.CARGO_DENY, f"weekly.yml installs {version}, and .ci/checks.py {checks.CARGO_DENY}"


def context():
    """The image's build includes all files that cargo reads."""
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, files):
        parents = [name, *map(str, pathlib.PurePath(name).parents)]
        hidden = any(fnmatch.fnmatch(part, pattern.removeprefix("**/")) or fnmatch.fnmatch(part, pattern) for part in parents for pattern in ignored)
        needed = name.endswith((".rs", ".toml", ".lock", ".html", ".j2", ".css", ".js", ".ld")) and not name.startswith((".git", ".ci"))
        assert not (hidden and needed), f"{name} is not part of the image's build"


profiles()
features()
workflows()
groups()
toolchain()
tools()
context()
