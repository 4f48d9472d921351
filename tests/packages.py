"""Installs the packages of the tests from their lock files, once for all clones on this machine:

    python3 tests/packages.py python tests/requirements.txt     prints the folder with the programs
    python3 tests/packages.py node tests/sdk/2.8.77 tests/oidc  fills their node_modules folders

Packages are kept in $GATELET_CI_CACHE, by default ~/.cache/gatelet-ci, by the lock file's content.
If it is unchanged, nothing is installed and no registry is contacted.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

CACHE = pathlib.Path(os.environ.get("GATELET_CI_CACHE") or pathlib.Path.home() / ".cache" / "gatelet-ci")
#: Packages that no script has used for so long are deleted when others are installed, in seconds.
UNUSED = 30 * 24 * 3600


@contextlib.contextmanager
def installed(kind, lock, *parts, install):
    """Yields the folder where `install` has put a lock file's packages, to one process at a
    time. A folder without a stamp is from a failed installation."""
    key = hashlib.sha256("\0".join([lock.read_text(), *parts]).encode()).hexdigest()[:16]
    folder, stamp = CACHE / kind / key, CACHE / kind / f"{key}.installed"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(CACHE / kind / f"{key}.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not stamp.exists():
            shutil.rmtree(folder, ignore_errors=True)
            install(folder)
            remove_unused(folder.parent)
        stamp.touch()
        yield folder


def remove_unused(folder):
    for stamp in folder.glob("*.installed"):
        if stamp.stat().st_mtime < time.time() - UNUSED:
            stamp.unlink()
            shutil.rmtree(stamp.with_suffix(""), ignore_errors=True)


def python(requirements):
    """Prints the folder of an environment's programs."""

    def install(folder):
        if subprocess.run([sys.executable, "-m", "venv", folder]).returncode:
            raise SystemExit("python3 cannot create environments: apt-get install python3-venv")
        # The lock file lists all packages, so nothing has to be resolved.
        command = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement", requirements]
        subprocess.run([folder / "bin" / "python", *command], check=True)

    if sys.version_info < (3, 11):
        raise SystemExit(f"Python {platform.python_version()} is too old: 3.11 or newer is needed")
    with installed("python", requirements, sys.version, sys.base_prefix, install=install) as folder:
        print(folder / "bin")


def node(folder):
    """Fills a folder's `node_modules` with links to the kept files, if it lacks them."""
    lock, modules = folder / "package-lock.json", folder / "node_modules"
    stamp = modules / ".lock"

    def install(kept):
        kept.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(folder / name, kept)
        # None of these packages needs its install script.
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=kept, check=True, stdout=sys.stderr)

    if stamp.exists() and stamp.read_bytes() == lock.read_bytes():
        return
    with installed("node", lock, sys.platform, platform.machine(), install=install) as kept:
        # Another process may have filled the folder while this process was waiting.
        if not (stamp.exists() and stamp.read_bytes() == lock.read_bytes()):
            shutil.rmtree(modules, ignore_errors=True)
            shutil.copytree(kept / "node_modules", modules, symlinks=True, copy_function=link)
            shutil.copy(lock, stamp)


def link(source, to):
    # Symbolic links are copied, because they are relative, and hard links to them differ between
    # systems.
    try:
        if not os.path.islink(source):
            os.link(source, to)
            return
    except OSError:
        # The folders are on different disks.
        pass
    shutil.copy2(source, to, follow_symlinks=False)


def main():
    kind, *paths = sys.argv[1:]
    for path in paths:
        {"python": python, "node": node}[kind](pathlib.Path(path).resolve())


main()
