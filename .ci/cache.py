"""The cache between runs of `.ci/run`: tools and compiled crates. It can be deleted at any time."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess

FOLDER = pathlib.Path(os.environ.get("GATELET_CI_CACHE") or pathlib.Path.home() / ".cache" / "gatelet-ci")
COMPILED = FOLDER / "crates"
# The source files of the compiled clone, with the path, digest and modification time of each.
SOURCES = "sources.json"
# The maximum size of the cache of compiled crates, in bytes. Old versions of crates accumulate.
# Above this size, the cache is deleted, and the next run compiles everything.
MAX_BYTES = 24 << 30
# Crates that use one of these variables contain the clone's path in their binary. The next clone is
# in another folder, so these crates are always recompiled.
PATHS_OF_A_CLONE = ("CARGO_MANIFEST_DIR", "CARGO_BIN_EXE", "CARGO_TARGET_TMPDIR", "OUT_DIR")
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
    """The workspace's packages, and the packages among them that contain the clone's path."""
    every, bound = set(), set()
    for package in metadata()["packages"]:
        every.add(package["name"])
        sources = pathlib.Path(package["manifest_path"]).parent.rglob("*.rs")
        if any(word in file.read_text() for file in sources for word in PATHS_OF_A_CLONE):
            bound.add(package["name"])
    return every, bound


def copy(source, to):
    """Copies compiled crates to a folder without any: dependencies of all profiles, and the
    workspace's crates of the development profile. Release builds contain the path of their linker
    script. Returns the number of crates."""
    (ours, bound), count = own(), 0
    for profile in profiles(source):
        left_out = bound if profile == pathlib.Path("debug") else ours
        # `.fingerprint` and `build` contain a folder per compiled unit, named after the package and
        # a hash. File names in `deps` end in the same hash but begin with the name of the target,
        # and two packages may have targets of the same name.
        units = [unit.name.rpartition("-") for unit in (source / profile / ".fingerprint").iterdir()]
        packages = {hash: package for package, _, hash in units}
        for kind in (".fingerprint", "build", "deps"):
            folder = source / profile / kind
            for file in folder.iterdir() if folder.is_dir() else []:
                package, _, hash = file.name.split(".")[0].rpartition("-")
                package = packages.get(hash) if kind == "deps" else package
                if package is None or package in left_out:
                    continue
                # When Cargo recompiles a crate, it overwrites the crate's small files and replaces
                # the large ones. The clones may therefore share only large files and the files of
                # dependencies.
                is_large = kind == "deps" and file.suffix != ".d"
                shared = link if package not in ours or is_large else shutil.copy2
                aim = to / profile / kind / file.name
                aim.parent.mkdir(parents=True, exist_ok=True)
                if file.is_dir():
                    shutil.copytree(file, aim, copy_function=shared)
                else:
                    shared(file, aim)
                count += kind == ".fingerprint"
    return count


def link(source, to):
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)


def sources():
    """The digest and modification time of each file tracked by Git."""
    names = subprocess.run(["git", "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    files = [pathlib.Path(name) for name in names if name and pathlib.Path(name).is_file()]
    return {str(file): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns) for file in files}


def restore():
    """Copies the cached crates into the target folder, unless it already has crates. The crates of
    two builds are never mixed: two compilations of a crate can have the same file name, and crates
    that depend on one do not work with the other.

    Cargo recompiles a crate if one of its files is newer than the compiled crate. A new clone's
    files are newer, so unchanged ones get back their old modification time."""
    if profiles(target()):
        print(f"== {target()} has crates, so none are taken from {FOLDER}", flush=True)
        return
    if not profiles(COMPILED):
        print(f"== nothing is cached in {FOLDER}", flush=True)
        return
    count = copy(COMPILED, target())
    known, unchanged = json.loads((COMPILED / SOURCES).read_text()), 0
    for name, (digest, _) in sources().items():
        if name in known and known[name][0] == digest:
            os.utime(name, ns=(known[name][1], known[name][1]))
            unchanged += 1
    print(f"== cached by an earlier run in {FOLDER}: {count} compiled crates; {unchanged} files did not change", flush=True)


def keep(compiled):
    """Replaces the cache with the crates of the target folder, compiled from the files `compiled`.
    If killed in the middle, this leaves the old cache or none, but never an incomplete one."""
    if compiled != sources():
        print("== nothing is cached for the next run: files were changed during this one", flush=True)
        return
    new = FOLDER / "crates.new"
    shutil.rmtree(new, ignore_errors=True)
    count = copy(target(), new)
    shutil.rmtree(COMPILED, ignore_errors=True)
    size = sum(file.stat().st_size for file in new.rglob("*") if file.is_file())
    if size > MAX_BYTES:
        shutil.rmtree(new)
        print(f"== nothing is cached for the next run: {size >> 20} MiB exceed the maximum of {MAX_BYTES >> 20} MiB", flush=True)
    elif count:
        (new / SOURCES).write_text(json.dumps(compiled))
        new.rename(COMPILED)
        print(f"== cached for the next run in {FOLDER}: {count} compiled crates, {size >> 20} MiB", flush=True)
