"""`.ci/run fast`: the checks most likely to fail, in about a minute. To run it before each
commit, install the hook with `git config core.hooksPath .ci/hooks`.

Checks the format, compilation except for the Lambdas' programs, rendered files, the contract tests,
and the lints and tests of files that differ from `origin/main`. It uses the target folder and profile of
daily work, so `cargo test` compiles nothing twice.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import cache

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Changes to shared code affect most tests. If more modules are affected, run the complete checks
# instead.
MAX_MODULES = 12


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout


def changed():
    """The files that differ from `origin/main` or, without that branch, from the last commit but
    one."""
    known = subprocess.run(["git", "rev-parse", "--verify", "--quiet", "origin/main"], cwd=ROOT, stdout=subprocess.DEVNULL)
    base = output("git", "merge-base", "origin/main", "HEAD").strip() if known.returncode == 0 else "HEAD~1"
    untracked = output("git", "ls-files", "--others", "--exclude-standard")
    return sorted({*output("git", "diff", "--name-only", base).splitlines(), *untracked.splitlines()})


def modules_of_api():
    """The modules of the API tests: `teams::team_create` for `tests/api/teams/team_create.rs`."""
    folder = ROOT / "tests/api"
    names = (file.relative_to(folder).with_suffix("") for file in folder.rglob("*.rs"))
    return {"::".join(part for part in name.parts if part != "mod") for name in names} - {"main", ""}


def selection(files):
    """The tests of these files: for each test program, its filters (none means all tests)."""
    wanted, modules = collections.defaultdict(set), modules_of_api()
    for file in files:
        path = pathlib.PurePosixPath(file)
        parts = path.parts
        if path.suffix != ".rs":
            continue
        match parts:
            case ("tests", "api", *rest):
                wanted["tests/api"].add("::".join(part for part in pathlib.PurePosixPath(*rest).with_suffix("").parts if part != "mod"))
            case ("tests", "support", *_):
                wanted["tests/api"].add("auth::password")
            case ("tests", suite, *_) if (ROOT / "tests" / suite / "main.rs").is_file() and suite != "coldstart":
                wanted[f"tests/{suite}"] = set()
            case ("functions", area, "src", *rest):
                words = set(pathlib.PurePosixPath(*rest).with_suffix("").parts) - {"lib", "mod", "bin"}
                found = {module for module in modules if module.startswith(f"{area}::") and words & set(module.split("::"))}
                wanted["tests/api"] |= found
                wanted[f"{area}-functions/lib" if area != "workers" else "workers/lib"] = set()
            case ("shared", crate, "src", *rest):
                wanted[f"{crate}/lib"] = set()
                words = {word for part in pathlib.PurePosixPath(*rest).with_suffix("").parts for word in (part, f"{part}s")}
                wanted["tests/api"] |= {module for module in modules if words & set(module.split("::"))}
            case ("infra", "gateway", "tests", "process", *rest):
                wanted["gateway/process"].add(pathlib.PurePosixPath(*rest).parts[0].removesuffix(".rs") + "::")
            case ("infra", "gateway", *_):
                wanted["gateway/lib"] = set()
            case ("infra", "registry", *_):
                wanted["registry/lib"] = set()
            case ("infra", "console", *_):
                wanted["web-console/lib"] = set()
            case ("infra", *_):
                wanted["infra/lib"] = set()
    wanted["tests/api"].discard("main")
    # Drop modules that are inside another selected module.
    for filters in wanted.values():
        filters -= {one for one in filters if any(one != other and one.startswith(other) for other in filters)}
    if not wanted["tests/api"]:
        del wanted["tests/api"]
    return wanted


def lints(files):
    """The command that lints the crates of these files; `None` if no crate has changed."""
    folders = {pathlib.Path(package["manifest_path"]).parent.relative_to(ROOT).as_posix(): package["name"] for package in cache.metadata()["packages"]}
    sources = [pathlib.PurePosixPath(file) for file in files if file.endswith((".rs", "Cargo.toml"))]
    # A file belongs to the crate of the nearest parent folder with a manifest.
    owners = (next((folders[str(parent)] for parent in source.parents if str(parent) in folders), None) for source in sources)
    crates = sorted({owner for owner in owners if owner})
    packages = [part for crate in crates for part in ("--package", crate)]
    return ["cargo", "clippy", "--quiet", *packages, "--lib", "--tests", "--no-deps", "--", "--deny", "warnings"] if crates else None


def build():
    """Compiles programs and tests; returns `infra`, and the test programs by package and target as
    in `selection`."""
    command = ["cargo", "build", "--workspace", "--tests", "--bin", "gateway", "--bin", "infra", "--message-format", "json-render-diagnostics"]
    crates = {package["manifest_path"]: package["name"] for package in cache.metadata()["packages"]}
    programs = {}
    for line in output(*command).splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or not message["executable"]:
            continue
        package, crate = pathlib.Path(message["manifest_path"]).parent, crates[message["manifest_path"]]
        name, kind = message["target"]["name"], message["target"]["kind"]
        if not message["profile"]["test"]:
            programs.setdefault(name, (package, message["executable"]))
        elif "lib" in kind:
            programs[f"{crate}/lib"] = (package, message["executable"])
        else:
            programs[f"{crate}/{name}"] = (package, message["executable"])
    return programs


class Steps:
    def __init__(self):
        self.start = time.monotonic()
        self.failed = []

    def run(self, name, command, folder=ROOT):
        began = time.monotonic()
        environment = os.environ | {"CARGO_MANIFEST_DIR": str(folder), "CARGO": shutil.which("cargo") or "cargo"}
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        passed = done.returncode == 0
        text = done.stdout.decode(errors="replace")
        count = sum(int(number) for number in re.findall(r"^test result: .*? (\d+) passed", text, re.M))
        print(f"[{time.monotonic() - began:5.1f} s] {name}: {'passed' if passed else 'FAILED'}{f' ({count} tests)' if count else ''}", flush=True)
        if not passed:
            self.failed.append(name)
            print(text[-20_000:], flush=True)

    def end(self):
        seconds = round(time.monotonic() - self.start)
        if self.failed:
            print(f"== failed after {seconds} s: {', '.join(self.failed)}", flush=True)
            return 1
        print(f"== passed in {seconds} s; `.ci/run` runs everything", flush=True)
        return 0


def main():
    os.chdir(ROOT)
    steps, files = Steps(), changed()
    steps.run("format", ["cargo", "fmt", "--all", "--check"])
    began = time.monotonic()
    try:
        programs = build()
    except subprocess.CalledProcessError:
        steps.failed.append("compilation")
        return steps.end()
    print(f"[{time.monotonic() - began:5.1f} s] compilation: passed", flush=True)
    steps.run("rendered files", [programs["infra"][1], "render", "--check"])
    if command := lints(files):
        steps.run("lints", command)
    wanted = selection(files)
    wanted["tests/contract"] = set()
    # The tests in `tests/whole` check a complete run of the API tests.
    wanted.pop("tests/whole", None)
    for name, filters in sorted(wanted.items()):
        # A library without unit tests does not have a test program.
        if name not in programs:
            continue
        chosen = sorted(filters)[:MAX_MODULES]
        package, program = programs[name]
        steps.run(f"{name} {' '.join(chosen)}".strip(), [program, "--quiet", *chosen], package)
        if left := sorted(filters)[MAX_MODULES:]:
            print(f"          left to the complete checks: {' '.join(left)}", flush=True)
    return steps.end()


if __name__ == "__main__":
    sys.exit(main())
