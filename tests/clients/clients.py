"""Generates clients from a gateway's API document, and runs a program with each."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
# Warnings of OpenAPI Generator about every 3.1 document, and about every schema with
# `additionalProperties: false`.
ALWAYS = ["OpenAPI 3.1 support is still in beta.", "Failed to get the schema name: null"]
LABELS = {"Project": "PROJECT", "Client key": "CLIENT_KEY", "Server key": "SERVER_KEY"}


@contextlib.contextmanager
def gateway(program):
    """A gateway in memory; yields its URL, project and keys as the programs' settings."""
    command = [program, "serve", "--memory", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        settings = {}
        for line in process.stdout:
            if found := re.match(r"Gatelet answers at (\S+)", line):
                settings["URL"] = found[1]
            if (found := re.match(r"  (\S+(?: \S+)?)  +(\S+)$", line)) and found[1] in LABELS:
                settings[LABELS[found[1]]] = found[2]
            if "SERVER_KEY" in settings:
                break
        yield settings
    finally:
        process.terminate()
        process.wait(timeout=15)


def run(folder, *command, **settings):
    """Runs a command in a folder; returns its output."""
    command = [str(part) for part in command]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"this fails with {done.returncode}: {' '.join(command)}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}")
    return done.stdout + done.stderr


def generate(folder, *command):
    """Runs a generator, which must not print any warnings."""
    printed = run(folder, *command)
    lines = [line for line in printed.splitlines() if not any(known in line for known in [*ALWAYS, " INFO "])]
    if warned := [line for line in lines if re.search(r"warn|error|unable|cannot|unsupported|skipping", line, re.IGNORECASE)]:
        raise SystemExit(f"{pathlib.Path(command[0]).name} does not understand the document: {warned[:5]}\n{printed[-5000:]}")


def by_typescript(folder, settings):
    shutil.copytree(HERE / "typescript", folder, dirs_exist_ok=True)
    (folder / "node_modules").symlink_to(MODULES)
    programs = MODULES / ".bin"
    generate(folder, programs / "openapi-ts", "--input", "../openapi.json", "--output", "hey-api", "--no-log-file")
    generate(folder, programs / "openapi-typescript", "../openapi.json", "--output", "openapi-typescript.d.ts")
    run(folder, programs / "tsc")
    for name in ["by-hey-api", "by-openapi-fetch"]:
        run(folder, "node", f"js/{name}.js", ADDRESS=f"{name}@example.com", **settings)


def by_python(folder, settings):
    command = ["openapi-python-client", "generate", "--path", "../openapi.json", "--config", HERE / "openapi-python-client.yml"]
    generate(folder, *command, "--meta", "none", "--output-path", "gatelet_client")
    run(folder, sys.executable, HERE / "by_python.py", PYTHONPATH=str(folder), ADDRESS="by-python@example.com", **settings)


def by_php(folder, settings):
    generate(folder, "openapi-generator-cli", "generate", "--input-spec", "../openapi.json", "--generator-name", "php", "--output", "generated")
    run(folder, "php", HERE / "by-php.php", GENERATED="generated/lib", ADDRESS="by-php@example.com", **settings)


def main():
    with tempfile.TemporaryDirectory() as name, gateway(sys.argv[1]) as settings:
        with urllib.request.urlopen(f"{settings['URL']}/openapi.json") as document:
            pathlib.Path(name, "openapi.json").write_bytes(document.read())
        for language in [by_typescript, by_python, by_php]:
            folder = pathlib.Path(name, language.__name__)
            folder.mkdir()
            language(folder, settings)
            print(f"{language.__name__}: signed up, listed and patched")
    print("3 passed, 0 failed")


main()
