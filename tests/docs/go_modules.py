"""Makes a module proxy for Go from Debian's packages, for machines that reach no other:

    python3 tests/docs/go_modules.py FOLDER
    GOPROXY=file://FOLDER GOSUMDB=off tests/docs/run-openid

Debian 12 has version 2 of go-oidc. What docs/guides/go.md uses of it is the same in version 3, whose
path the proxy gives it.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# Each package, its module, and the modules that it needs.
OIDC, OAUTH2, NET, CRYPTO = "github.com/coreos/go-oidc", "golang.org/x/oauth2", "golang.org/x/net", "golang.org/x/crypto"
CACHE_CONTROL, JOSE = "github.com/pquerna/cachecontrol", "gopkg.in/square/go-jose.v2"
PACKAGES = {
    "golang-github-coreos-go-oidc-dev": (OIDC, [OAUTH2, CACHE_CONTROL, JOSE]),
    "golang-golang-x-oauth2-dev": (OAUTH2, [NET]),
    "golang-github-pquerna-cachecontrol-dev": (CACHE_CONTROL, []),
    "golang-gopkg-square-go-jose.v2-dev": (JOSE, [CRYPTO]),
    "golang-golang-x-net-dev": (NET, []),
    "golang-golang-x-crypto-dev": (CRYPTO, []),
}
# The path of a module in the proxy, and of its files in it, if they differ from Debian's.
MOVED = {OIDC: (f"{OIDC}/v3", "oidc/", "v3.0.0")}


def version_of(package):
    """A version for Go, from a package's: `1:0.7.0+dfsg-1` is v0.7.0."""
    text = subprocess.run(["dpkg-deb", "--field", package, "Version"], capture_output=True, text=True, check=True).stdout
    major, minor, patch = re.match(r"(?:\d+:)?(\d+)\.(\d+)(?:\.(\d+))?", text).groups()
    return f"v{major}.{minor}.{patch or 0}"


def write(proxy, source, module, version, prefix, requires):
    """Writes what Go asks a proxy for (https://go.dev/ref/mod#goproxy-protocol)."""
    folder = proxy / module / "@v"
    folder.mkdir(parents=True)
    text = f"module {module}\n\ngo 1.17\n" + "".join(f"\nrequire {name} {needed}" for name, needed in requires) + "\n"
    (folder / "list").write_text(f"{version}\n")
    (folder / f"{version}.info").write_text(json.dumps({"Version": version}))
    (folder / f"{version}.mod").write_text(text)
    with zipfile.ZipFile(folder / f"{version}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{module}@{version}/go.mod", text)
        for file in sorted(source.rglob("*")):
            if file.is_file() and file.name != "go.mod":
                archive.write(file, f"{module}@{version}/{prefix}{file.relative_to(source)}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # The packages are not installed, because one of them needs a replacement for systemd.
        subprocess.run(["apt-get", "download", "-q", *PACKAGES], cwd=folder, check=True)
        proxy = folder / "proxy"
        found = {package: next(folder.glob(f"{package}_*.deb")) for package in PACKAGES}
        names = {module: MOVED.get(module, (module, "", version_of(found[package]))) for package, (module, _) in PACKAGES.items()}
        for package, (module, needs) in PACKAGES.items():
            subprocess.run(["dpkg-deb", "--extract", found[package], folder], check=True)
            path, prefix, version = names[module]
            write(proxy, folder / "usr/share/gocode/src" / module, path, version, prefix, [(names[need][0], names[need][2]) for need in needs])
        # Moved only when complete, so that the folder is never incomplete.
        shutil.move(proxy, sys.argv[1])


main()
