"""Checks of the packaging that no linter makes: that facts stated twice agree, and that workflows
have minimal permissions."""

import fnmatch
import pathlib
import re
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def profiles():
    """An installed gateway is built with the settings of `--profile gateway`."""
    wanted = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]["gateway"]
    found = tomllib.loads((ROOT / "infra/gateway/.cargo/config.toml").read_text())["profile"]["release"]
    assert wanted.pop("inherits") == "release"
    assert found == wanted, f"infra/gateway/.cargo/config.toml has {found}, and the profile gateway {wanted}"
    assert found["panic"] == "unwind", "a panic must not end a gateway, which handles many requests at once"


def workflows():
    """Actions are pinned, and tokens are read-only unless a job declares more permissions."""
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
        # Values that others choose (a branch, a title) are passed to a script as data, and are
        # never a part of it.
        for script in re.findall(r"run: (?:\|\n)?((?:.|\n)*?)(?=\n      -|\n    \S|\n  \S|\Z)", text):
            assert "${{ github.event" not in script and "${{ github.head_ref" not in script, f"{file.name}: {script}"


def context():
    """The image's build has all files that cargo reads."""
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, files):
        parents = [name, *map(str, pathlib.PurePath(name).parents)]
        hidden = any(fnmatch.fnmatch(part, pattern.removeprefix("**/")) or fnmatch.fnmatch(part, pattern) for part in parents for pattern in ignored)
        needed = name.endswith((".rs", ".toml", ".lock", ".html", ".j2", ".css", ".js", ".ld")) and not name.startswith((".git", ".ci"))
        assert not (hidden and needed), f"{name} is not part of the image's build"


profiles()
workflows()
context()
