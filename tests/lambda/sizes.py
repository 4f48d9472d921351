"""Compares functions' sizes with `sizes.json`, because size slows down each cold start. No built
function may exceed 2.54 MB zipped.

    python3 tests/lambda/sizes.py DIR            # DIR is the output folder of `cargo lambda build --release`
    python3 tests/lambda/sizes.py DIR --accept   # accepts the current sizes
"""

import json
import pathlib
import sys
import zlib

TABLE = pathlib.Path(__file__).with_name("sizes.json")
# A new compiler changes sizes by one or two percent.
MAX_GROWTH = 1.05
# The maximum size of the zip file of a function, in bytes.
MAX_BYTES = 2_540_000
# The fingerprints of common passwords. Every function that sets a password must contain these
# fingerprints, and no other function may.
COMMON = pathlib.Path(__file__).parent.parent.parent / "shared/model/src/password/common.bin"
TAKE_PASSWORDS = {
    "auth-password-reset", "auth-password-set", "auth-password-sign-up", "auth-password-update", "users-me-update", "users-user-create", "users-user-update"
}
# Binaries in a build of the whole workspace that are not functions.
NO_FUNCTIONS = {"gateway", "infra"}


def main():
    folder, accept = pathlib.Path(sys.argv[1]), "--accept" in sys.argv[2:]
    known = json.loads(TABLE.read_text(encoding="utf-8"))
    zipped = {file.parent.name: len(zlib.compress(file.read_bytes())) for file in sorted(folder.glob("*/bootstrap"))}
    sizes, grown = {}, []
    for name, before in known.items():
        binary = (folder / name / "bootstrap").read_bytes()
        sizes[name] = len(binary)
        if len(binary) > before * MAX_GROWTH:
            grown.append(name)
        growth = (len(binary) / before - 1) * 100
        print(f"   {name}: {len(binary):,} bytes, {zipped[name]:,} zipped, {growth:+.1f} % against sizes.json")
    heavy = [f"{name} ({size:,})" for name, size in zipped.items() if size > MAX_BYTES and name not in NO_FUNCTIONS]
    common = COMMON.read_bytes()
    for file in sorted(folder.glob("*/bootstrap")):
        name = file.parent.name
        if name not in NO_FUNCTIONS and (common in file.read_bytes()) != (name in TAKE_PASSWORDS):
            raise SystemExit(f"{name}: the list of common passwords is {'missing' if name in TAKE_PASSWORDS else 'included unnecessarily'}")
    if heavy:
        raise SystemExit(f"above the limit of {MAX_BYTES:,} bytes when zipped: {', '.join(heavy)}")
    if accept:
        TABLE.write_text(json.dumps(sizes, indent=4) + "\n", encoding="utf-8")
    elif grown:
        raise SystemExit(
            f"{', '.join(grown)} grew by more than {MAX_GROWTH - 1:.0%}. `cargo bloat` or `nm --size-sort` on a build with\n"
            "CARGO_PROFILE_RELEASE_STRIP=none shows what was added. If the growth is justified, say so in CHANGELOG.md under Unreleased, and accept\n"
            f"the new sizes with: python3 tests/lambda/sizes.py {folder} --accept"
        )


main()
