"""Follows the pages of docs/guides/, each in its own folder: runs commands, writes files under the
names on the page, keeps servers running until the page ends, signs in to apps in a browser, and
compares each output on the page with what the preceding commands printed. Then follows each page
again, in the same folder and a new shell: nothing may fail, but the answers may say that something
already exists."""

import contextlib
import json
import re
import subprocess

from newcomer import ROOT, URL, Shell, blocks, check

PAGES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/guides/*.md"))

# This page needs the app of examples/react, so `examples.py` follows it while the app is running.
WITH_THE_APP = "docs/guides/testing-your-app.md"

# These pages need more than the others, so `run-openid` follows them.
OPENID = {f"docs/guides/{name}.md" for name in ["any-openid-client", "django", "go", "mcp-server", "mcp-server-python", "protected-static-site"]}

# These pages show files of an example, which must be the same in both places.
EXAMPLES = {"docs/guides/react.md": "examples/react", "docs/guides/node-backend.md": "examples/server"}

# Commands that start a server, with the server's port.
SERVERS = {
    "node server.mjs": 4000, "npm run preview": 5173, "npx next start": 3000,
    "node --env-file=client.env app.mjs": 3000, "node serve.mjs": 5173,
}

# What somebody does once the server of a page has started, as arguments of visit.mjs.
VISITS = {
    "authjs": ["http://localhost:3000/", "Notes", "--denied=You are not signed in."],
    "express": ["http://localhost:3000/", "Notes", "--denied=You are not signed in."],
    "single-page-app": ["http://localhost:5173/", "Notes", "--denied=You are not signed in.", "--renews"],
}
# Programs that may print links to sign in with, and wait until somebody has; with the name that the
# consent page shows.
PROGRAMS = {"node --env-file=client.env notes.mjs": "Notes"}

AWS = "needs an AWS account; tests/deploy/run rehearses a deployment on one machine"
NEWER = "needs a newer version than this clone"
# Blocks that cannot be run on this machine, by page and first line.
NOT_RUN = {
    ("console", "sam deploy --template infra/template.yaml --parameter-overrides Console=on"): AWS,
    ("deploying-to-aws", "pip install aws-sam-cli cargo-lambda"): "changes the Python installation of this machine; tests/deploy/run installs its own",
    ("deploying-to-aws", "aws sts get-caller-identity"): AWS,
    ("deploying-to-aws", "git clone https://example.com/gatelet.git && cd gatelet"): "needs the address of the clone",
    ("deploying-to-aws", "cargo lambda build --release --arm64"): AWS,
    ("deploying-to-aws", "output() {"): AWS,
    ("deploying-to-aws", 'gateway project set "$GATELET_PROJECT_ID" --table "$(output TableName)" \\'): AWS,
    ("deploying-to-aws", "api=$(output ApiUrl)"): AWS,
    ("openid-provider", 'gateway project provider set "$GATELET_PROJECT_ID" acme issuer=https://login.example.com/realms/acme \\'): "needs an issuer, which is tested when it is set; tests/oidc/run signs in with a real one",
    ("own-domain", "aws acm request-certificate --region eu-central-1 --domain-name auth.example.com \\"): AWS,
    ("own-domain", "sam deploy --template infra/template.yaml --parameter-overrides \\"): AWS,
    ("own-domain", "GATELET_API_URL=https://auth.example.com GATELET_SITE_URL=https://auth.example.com \\"): "keeps the port that the pages use",
    ("own-domain", "auth.example.com {"): "is a file of Caddy's; tests/abuse/run has the gateway behind Caddy",
    ("upgrading", "git fetch --tags && git checkout v1.2.3"): NEWER,
    ("upgrading", "cargo lambda build --release --arm64"): AWS,
    ("testing-your-app", "# .github/workflows/test.yml"): "is a file of a CI service",
}


# Blocks that are not complete files, by file and first line.
FRAGMENTS = {
    ("docs/getting-started.md", 'const email = "mary@example.com"; // what the user entered'): "continues app.mjs",
    ("docs/getting-started.md", 'const code = new URLSearchParams(location.search).get("code");'): "continues app.mjs",
    ("docs/getting-started.md", 'const typed = prompt("The code in the email");'): "continues app.mjs",
}


def name_of(block):
    """A block's file name, from its first line or the text before it; None without one."""
    first = re.match(r"(?://|#) (\S+\.\w+)$", block.text.splitlines()[0])
    named = re.match(r"(?:Save this as )?`([^`\s]+\.\w+)`", block.before)
    return first[1] if first else named[1] if named else None


def all_are_named(found):
    """Asserts that each block shows its file's name, unless it is a command or an output."""
    files = [block for block in found if block.kind not in ("sh", "text", "")]
    for block in files:
        is_fragment = (block.file, block.text.splitlines()[0]) in FRAGMENTS
        check(is_fragment != bool(name_of(block)), block, "its first line, or the text before it, has to name its file, unless it is a fragment")
    known = {(block.file, block.text.splitlines()[0]) for block in files}
    if gone := set(FRAGMENTS) - known:
        raise SystemExit(f"these blocks no longer exist, so remove them from FRAGMENTS: {gone}")


def write(block, folder):
    name = name_of(block)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(block.text)
    example = EXAMPLES.get(block.file)
    check(not example or (ROOT / example / name).read_text() == block.text, block, f"{example}/{name} differs")


def is_printed(block, printed):
    """Asserts that every line shown on the page was printed; `…` matches anything."""
    for line in filter(None, block.text.splitlines()):
        shown = ".*".join(map(re.escape, line.strip().split("…")))
        check(re.search(shown, printed), block, f"missing in the output: {line}\nprinted: {printed}")


def read(newcomer, page):
    """Follows a page twice; returns how many blocks were followed and how many skipped."""
    stem = page.removesuffix(".md").rpartition("/")[2]
    folder, found = newcomer.folder / stem, blocks(page)
    folder.mkdir()
    followed = [block for block in found if (stem, block.text.splitlines()[0]) not in NOT_RUN]
    for is_first in [True, False]:
        follow(newcomer, folder, followed, is_first)
    return len(followed), len(found) - len(followed)


def follow(newcomer, folder, found, is_first):
    printed = ""
    with contextlib.ExitStack() as running:
        shell = running.enter_context(Shell(newcomer, folder))
        for block in found:
            command = block.text.strip()
            if command in SERVERS:
                running.enter_context(newcomer.runs(command, SERVERS[command], folder))
                if folder.name in VISITS:
                    visit(*VISITS[folder.name])
            elif command in PROGRAMS:
                printed = signs_in(newcomer, block, folder)
            elif block.kind == "sh":
                printed = shell.run(block.text)
            elif block.kind != "text":
                write(block, folder)
            elif is_first:
                is_printed(block, printed)


def visit(*arguments):
    """Uses an app in a browser."""
    subprocess.run(["node", ROOT / "tests/docs/visit.mjs", *arguments], check=True)


def signs_in(newcomer, block, folder):
    """Runs a program, and signs in with the links that it prints, if any, in one browser; returns its
    output."""
    printed, browser = "", None
    process = newcomer.process(block.text, folder, stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            printed += line
            if link := re.search(r"http\S+/oauth2/authorize\?\S+", line):
                browser = browser or browser_of(PROGRAMS[block.text.strip()])
                print(link[0], file=browser.stdin, flush=True)
                check(browser.stdout.readline(), block, f"the sign-in fails at {link[0]}")
        check(process.wait() == 0, block, f"it exits with {process.returncode}: {printed}")
    finally:
        process.kill()
        if browser:
            browser.stdin.close()
            check(browser.wait() == 0, block, "a page complains")
    return printed


def browser_of(client):
    """Starts a browser, which takes links of a program, and prints a line whenever it has returned."""
    command = ["node", ROOT / "tests/docs/visit.mjs", client, "--program"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def has_no_doubles(newcomer):
    """Asserts that no guide has created a user or a project a second time."""
    lists = newcomer.shell(f"""
{newcomer.gateway()}
curl --silent --fail '{URL}/api/v1/users?limit=200' -H 'x-service-access-type: server' \\
  -H "x-service-project-id: $GATELET_PROJECT_ID" -H "x-service-secret-server-key: $GATELET_SECRET_SERVER_KEY"
echo
gateway project list --data "$GATELET_DATA" --json
""")
    users, _, projects = lists.partition("\n")
    names = [user["primary_email"] for user in json.loads(users)["items"]] + [project["display_name"] for project in json.loads(projects)]
    if twice := {name for name in names if name and names.count(name) > 1}:
        raise SystemExit(f"the second time, the guides create again: {twice}")


def read_all(newcomer):
    """Follows all pages except those that are followed elsewhere."""
    found = [(page.removesuffix(".md").rpartition("/")[2], block.text) for page in PAGES for block in blocks(page)]
    if gone := set(NOT_RUN) - {(page, text.splitlines()[0]) for page, text in found}:
        raise SystemExit(f"these blocks no longer exist, so remove them from NOT_RUN: {gone}")
    commands = {(page, text.strip()) for page, text in found}
    if gone := {*SERVERS, *PROGRAMS} - {command for _, command in commands}:
        raise SystemExit(f"no page has these commands: {gone}")
    if gone := set(VISITS) - {page for page, command in commands if command in SERVERS}:
        raise SystemExit(f"these pages start no server that can be visited: {gone}")
    counts = [read(newcomer, page) for page in PAGES if page not in {WITH_THE_APP, *OPENID}]
    has_no_doubles(newcomer)
    return sum(run for run, _ in counts), sum(left_out for _, left_out in counts)
