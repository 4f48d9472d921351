"""Makes an older version of the checked-in deployment, without an area and with different code
in some functions."""

import re

#: The area that the older version lacks.
MISSING = "Content"
#: A function, and the other function whose code it has in the older version.
OLD_CODE = ("edge-check-version", "edge-health")


def make(folder):
    template = folder / "infra" / "template.yaml"
    text = template.read_text()
    younger = re.sub(rf"  {MISSING}:\n(?:    .*\n)+\n", "", text)
    assert younger != text, "the template has no such stack"
    # Stacks that depended on the missing stack now depend on the stack before it.
    before = re.search(rf"  {MISSING}:\n    Type: .*\n    DependsOn: (\w+)\n", text)[1]
    younger = younger.replace(f"    DependsOn: {MISSING}\n", f"    DependsOn: {before}\n").replace(f", {MISSING},", ",")
    assert MISSING not in re.findall(r"DependsOn: .*", younger).__str__(), "something still comes after the stack"
    template.write_text(younger)
    # `edge-check-version` gets the code of `edge-health`, so that it responds differently. The
    # `users-*` functions respond in the same way, but from different files.
    name, other = OLD_CODE
    functions = folder / "target" / "lambda"
    replace(functions / name / "bootstrap", (functions / other / "bootstrap").read_bytes())
    for function in functions.glob("users-*"):
        replace(function / "bootstrap", (function / "bootstrap").read_bytes() + b"older")


def replace(file, content):
    # The folders of other versions contain links to the same file.
    file.unlink()
    file.write_bytes(content)
    file.chmod(0o755)


def answers(client):
    """Whether the older version responds."""
    # The fallback of every version knows this path; 405 means that no function handles it.
    without_area = client.send("GET", "/api/v1/apps")[0] == 405
    old_code = client.send("POST", "/api/v1/check-version", {"clientVersion": "0.0.0"})[0] == 404
    assert without_area == old_code, (without_area, old_code)
    return old_code
