"""Does what the pages of docs/guides/ say, each in a folder of its own: shells run, files are written under the names that the pages
give them, servers stay up until the page ends, and what a page shows is printed by the commands before it."""

import contextlib
import re

from newcomer import ROOT, Shell, blocks, check

PAGES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/guides/*.md"))

# Needs the app of examples/react: `examples.py` reads it while that runs.
WITH_THE_APP = "docs/guides/testing-your-app.md"

# What these pages print is the code of an example.
EXAMPLES = {"docs/guides/react.md": "examples/react", "docs/guides/node-backend.md": "examples/server"}

# What starts a server, and the port where it answers.
SERVERS = {"node server.mjs": 4000, "npm run preview": 5173, "npx next start": 3000}

AWS = "needs an account of AWS; tests/deploy/run rehearses a deployment on one machine"
NEWER = "needs a newer version than this clone is"
# Blocks that cannot run here, by page and first line.
NOT_RUN = {
    ("deploying-to-aws", "aws sts get-caller-identity"): AWS,
    ("deploying-to-aws", "git clone https://example.com/gatelet.git && cd gatelet"): "needs the address of the clone",
    ("deploying-to-aws", "cargo lambda build --release --arm64"): AWS,
    ("deploying-to-aws", "output() {"): AWS,
    ("deploying-to-aws", 'gateway project set "$GATELET_PROJECT_ID" --table "$(output TableName)" \\'): AWS,
    ("deploying-to-aws", "api=$(output ApiUrl)"): AWS,
    ("own-domain", "aws acm request-certificate --region eu-central-1 --domain-name auth.example.com \\"): AWS,
    ("own-domain", "sam deploy --template infra/template.yaml --parameter-overrides \\"): AWS,
    ("own-domain", "GATELET_API_URL=https://auth.example.com GATELET_SITE_URL=https://auth.example.com \\"): "keeps the port that the pages use",
    ("own-domain", "auth.example.com {"): "is a file of Caddy's; tests/abuse/run has the gateway behind Caddy",
    ("upgrading", "git fetch --tags && git checkout v1.2.3"): NEWER,
    ("upgrading", "cargo lambda build --release --arm64"): AWS,
    ("testing-your-app", "name: test"): "is a file of a CI service",
}


def name_of(block):
    """The file that a block is: as its first line says, or the text before it."""
    first = re.match(r"(?://|#) (\S+\.\w+)$", block.text.splitlines()[0])
    named = re.match(r"(?:As )?`([^`\s]+\.\w+)`", block.before)
    return first[1] if first else named[1] if named else None


def write(block, folder):
    name = name_of(block)
    check(name, block, "neither its first line nor the text before it names the file that this is")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(block.text)
    example = EXAMPLES.get(block.file)
    check(not example or (ROOT / example / name).read_text() == block.text, block, f"{example}/{name} differs")


def is_printed(block, printed):
    """Every line of what a page shows is in what was printed; `…` stands for anything."""
    for line in filter(None, block.text.splitlines()):
        shown = ".*".join(map(re.escape, line.strip().split("…")))
        check(re.search(shown, printed), block, f"this is not printed: {line}\nbut: {printed}")


def read(newcomer, page):
    """Does what a page says; gives how many blocks it has, and how many of them were left out."""
    stem = page.removesuffix(".md").rpartition("/")[2]
    folder = newcomer.folder / stem
    folder.mkdir()
    found, left_out, printed = blocks(page), 0, ""
    with contextlib.ExitStack() as running:
        shell = running.enter_context(Shell(newcomer, folder))
        for block in found:
            command = block.text.strip()
            if (stem, block.text.splitlines()[0]) in NOT_RUN:
                left_out += 1
            elif command in SERVERS:
                running.enter_context(newcomer.runs(command, SERVERS[command], folder))
            elif block.kind == "sh":
                printed = shell.run(block.text)
            elif block.kind == "text":
                is_printed(block, printed)
            else:
                write(block, folder)
    return len(found) - left_out, left_out


def read_all(newcomer):
    """All pages but the one that needs the app."""
    known = {(page.removesuffix(".md").rpartition("/")[2], block.text.splitlines()[0]) for page in PAGES for block in blocks(page)}
    if gone := set(NOT_RUN) - known:
        raise SystemExit(f"these blocks are gone: {gone}")
    counts = [read(newcomer, page) for page in PAGES if page != WITH_THE_APP]
    return sum(run for run, _ in counts), sum(left_out for _, left_out in counts)
