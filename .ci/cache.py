"""What one run of `.ci/run` caches for the next: tools, and compiled dependencies. The cache can be
deleted at any time."""

import json
import os
import pathlib
import shutil
import subprocess

FOLDER = pathlib.Path(os.environ.get("GATELET_CI_CACHE") or pathlib.Path.home() / ".cache" / "gatelet-ci")
COMPILED = FOLDER / "compiled"
# The maximum size of the compiled dependencies in the cache, in bytes. Those of old versions
# accumulate; when all together exceed the maximum, they are deleted, and the current ones are
# cached anew.
MOST = 12 << 30
_metadata = None


def metadata():
    global _metadata
    if _metadata is None:
        command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
        _metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return _metadata


def target():
    return pathlib.Path(metadata()["target_directory"])


def logs():
    """The folder with the output of the last run's checks."""
    return target() / "checks"


def profiles(root):
    """The folders of compiled crates, by profile and platform."""
    return [folder.parent.relative_to(root) for folder in root.glob("**/.fingerprint") if folder.is_dir()] if root.is_dir() else []


def own():
    """The workspace's crates and programs, as Cargo names their files. They are always recompiled,
    because the files of a new clone are newer than the cache."""
    names = {name for package in metadata()["packages"] for name in (package["name"], *(it["name"] for it in package["targets"]))}
    return {name.replace("-", "_") for name in names}


def crate(file):
    """The crate that a file or folder of `.fingerprint`, `build` or `deps` belongs to."""
    name = file.name.split(".")[0].rpartition("-")[0].replace("-", "_")
    return name.removeprefix("lib") if file.suffix in (".rlib", ".rmeta", ".so") else name


def copy(source, to):
    """Hard-links the files of compiled dependencies from one folder into another, or copies them if
    the folders are on different disks."""
    ours, count = own(), 0
    for profile in profiles(source):
        for kind in (".fingerprint", "build", "deps"):
            folder = source / profile / kind
            for file in folder.iterdir() if folder.is_dir() else []:
                aim = to / profile / kind / file.name
                if crate(file) in ours or aim.exists():
                    continue
                aim.parent.mkdir(parents=True, exist_ok=True)
                if file.is_dir():
                    shutil.copytree(file, aim, copy_function=link)
                else:
                    link(file, aim)
                count += kind == ".fingerprint"
    return count


def link(source, to):
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)


def restore():
    count = copy(COMPILED, target())
    print(f"== cached by an earlier run in {FOLDER}: {count} compiled crates" if count else f"== nothing is cached in {FOLDER}", flush=True)


def keep():
    size = sum(file.stat().st_size for file in COMPILED.rglob("*") if file.is_file()) if COMPILED.is_dir() else 0
    if size > MOST:
        shutil.rmtree(COMPILED)
    count = copy(target(), COMPILED)
    print(f"== cached for the next run in {FOLDER}: {count} more compiled crates", flush=True)
