"""What one run of `.ci/run` caches for the next: tools, and compiled dependencies. The cache can be
deleted at any time."""

import json
import os
import pathlib
import shutil
import subprocess

FOLDER = pathlib.Path(os.environ.get("GATELET_CI_CACHE") or pathlib.Path.home() / ".cache" / "gatelet-ci")
COMPILED = FOLDER / "crates"
# The maximum size of the compiled dependencies in the cache, in bytes. Those of old versions
# accumulate; a cache that exceeds the maximum is deleted, and the next run compiles everything.
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
    """Hard-links the files of compiled dependencies from one folder into another, which has none
    yet, or copies them if the folders are on different disks. Returns the number of crates."""
    ours, count = own(), 0
    for profile in profiles(source):
        for kind in (".fingerprint", "build", "deps"):
            folder = source / profile / kind
            for file in folder.iterdir() if folder.is_dir() else []:
                if crate(file) in ours:
                    continue
                aim = to / profile / kind / file.name
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
    """Links the cached crates into the target folder, unless it has crates already. The crates of two
    builds are never mixed: two compilations of a crate can have the same file name, and crates that
    depend on one of them cannot be used with the other."""
    if profiles(target()):
        print(f"== {target()} has crates, so none are taken from {FOLDER}", flush=True)
    elif profiles(COMPILED):
        print(f"== cached by an earlier run in {FOLDER}: {copy(COMPILED, target())} compiled crates", flush=True)
    else:
        print(f"== nothing is cached in {FOLDER}", flush=True)


def keep():
    """Replaces the cache with the crates of the target folder. If the run is killed during this, the
    old cache remains or there is none, but there is no incomplete one."""
    new = FOLDER / "crates.new"
    shutil.rmtree(new, ignore_errors=True)
    count = copy(target(), new)
    shutil.rmtree(COMPILED, ignore_errors=True)
    size = sum(file.stat().st_size for file in new.rglob("*") if file.is_file())
    if size > MOST:
        shutil.rmtree(new)
        print(f"== nothing is cached for the next run: {size >> 20} MiB exceed the maximum of {MOST >> 20} MiB", flush=True)
    elif count:
        new.rename(COMPILED)
        print(f"== cached for the next run in {FOLDER}: {count} compiled crates", flush=True)
