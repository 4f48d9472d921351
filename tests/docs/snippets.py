"""Runs the blocks of README.md and docs/ as printed, in order, as a newcomer would. `NOT_RUN` of
guides.py lists blocks that cannot run here, with reasons.

A block without handling here fails the test, as does handling without a block.
"""

import json
import pathlib
import re
import sys
import tempfile
import time

import guides
from newcomer import ROOT, URL, Newcomer, blocks, check, has_mail

LONG = "--long" in sys.argv[1:]


def start(newcomer, first, banner):
    """The README's first two blocks; the gateway's output must match the second."""
    run, test = first.lines()
    check(run == "cargo run" and test == "cargo test --workspace", first, "the checks run other commands")
    check(f'"{test}"' in (ROOT / ".ci/checks.py").read_text(), first, "the checks run other tests")
    return newcomer.started(run), banner


def is_shown(lines, banner):
    labels = lambda text: [re.sub(r"(pck|ssk|sak|page)_\S+|[0-9a-f-]{36}", "…", line) for line in text]
    shown = labels(banner.text.splitlines())
    check(labels(lines) == shown, banner, f"the gateway prints {lines}")


def first_requests(newcomer, block):
    printed = newcomer.shell(block.text, keys=False)
    check('"access_token":"eyJ' in printed, block, f"no user was signed up: {printed}")
    check('"primary_email":"ada@example.com"' in printed, block, f"the user is not shown: {printed}")
    check('"displayName":"Lantern Notes"' in printed, block, f"no apps are listed: {printed}")
    check('"unread":' in printed, block, f"the inbox is not read: {printed}")
    check(has_mail(newcomer, "ada@example.com"), block, "no email was sent")


def sdk(newcomer, block):
    printed = newcomer.script(block.text)
    check(re.fullmatch(r"grace\.\d+@example\.com\n", printed), block, f"it prints {printed}")


def mail_server(newcomer, block):
    printed = newcomer.shell(block.text, cwd=ROOT)
    check("smtp.example.com" in printed, block, f"it prints {printed}")
    # The setting is restored for the blocks that follow.
    newcomer.shell("""cargo run -- project set $GATELET_PROJECT_ID 'config.email_config={"type": "shared"}'""", cwd=ROOT)


def install(newcomer, block):
    """The lines with Docker need a container engine; `tests/packaging/run` checks the
    Dockerfile."""
    command = block.lines()[0]
    check(command == "cargo install --path infra/gateway --locked", block, "the test runs another command")
    if LONG:
        newcomer.shell(f"{command} --root '{newcomer.folder}/installed'", cwd=ROOT)
        printed = newcomer.shell("installed/bin/gateway health")
        check("answers" in printed or "ok" in printed, block, f"an installed gateway prints {printed}")


def deploy(_, block):
    """`tests/lambda/run` builds functions, and `tests/deploy/run` deploys the template with `sam`."""
    check(block.lines() == ["cargo lambda build --release --arm64", "sam deploy --template infra/template.yaml --guided"], block, "the rehearsal runs other commands")


def map_of_folders(_, block):
    for name in re.findall(r"^(\w+)", block.text, re.MULTILINE):
        check((ROOT / name).is_dir(), block, f"the folder {name} does not exist")
    tests = block.text.split("tests       ")[1]
    for name in re.findall(r"(\w+)(?: \(|,|$)", re.sub(r"\([^)]*\)", "(", tests)):
        check((ROOT / "tests" / name).is_dir(), block, f"the folder tests/{name} does not exist")


def keys(newcomer, block):
    printed = newcomer.shell(f"{block.text}\nenv", keys=False)
    check("GATELET_SECRET_SERVER_KEY=ssk_" in printed, block, "programs started from the shell do not get the keys")


def in_a_browser(newcomer, block):
    check(re.fullmatch(r"ada\.\d+@example\.com false\n", newcomer.script(block.text)), block, "the user is not shown")


def on_a_server(newcomer, block):
    check(re.search(r"grace\.\d+@example\.com", newcomer.script(block.text)), block, "the users are not listed")


def by_email(newcomer, app, send, page, typed):
    """Runs two scripts, each of which requests an email: the first continues as the page behind
    the link, the second with the typed code."""
    client = app.text.split("await app.signUp")[0]
    # A script has neither a page nor a user, so this code replaces both.
    wait = """
const emails = async () => {
  const headers = { authorization: `Bearer ${process.env.GATELET_PAGE_KEY}` };
  return (await (await fetch("http://localhost:8787/inbox/api/messages?to=mary@example.com", { headers })).json()).items;
};
const earlier = (await emails()).length;
const received = async () => {
  for (;;) {
    const all = await emails();
    if (all.length > earlier) return all[0].text;
  }
};
"""
    for block, set_up in [
        (page, 'globalThis.location = new URL((await received()).match(/http\\S+code=\\S+/)[0]);'),
        (typed, 'const entered = (await received()).match(/asked for it: (\\S{6})/)[1];\nglobalThis.prompt = () => entered;'),
    ]:
        after = "console.log((await app.getUser()).primaryEmail);"
        printed = newcomer.script("\n".join([client, wait, send.text, set_up, block.text, after]))
        check(printed == "mary@example.com\n", block, f"it prints {printed}")


def without_the_sdk(newcomer, block):
    check('"access_token":"eyJ' in newcomer.shell(block.text), block, "no user was signed up")


def audit_log(newcomer, read, export, keep, verify, expect, accept):
    """The operator's commands, run by the gateway of this clone."""
    command = newcomer.gateway()
    check('"operation":"auth-password-sign-up"' in newcomer.shell(read.text), read, "no sign-up is in the audit log")
    newcomer.shell(command + export.text)
    lines = (newcomer.folder / "audit-log.jsonl").read_text().splitlines()
    check(any(json.loads(line)["operation"] == "auth-password-sign-up" for line in lines), export, "no sign-up is exported")
    check("config.audit_log_retention_days: 90 → 365" in newcomer.shell(command + keep.text), keep, "the setting is not shown")
    # The gateway links entries a few seconds after they are written.
    for _ in range(600):
        printed = newcomer.shell(command + verify.text)
        if "not yet linked" not in printed:
            break
        time.sleep(0.1)
    check("in order" in printed and "last link: " in printed, verify, f"it prints {printed}")
    newcomer.shell(command + expect.text)
    newcomer.shell(command + accept.text)


def npm_install(newcomer, block):
    newcomer.shell(block.text)


def main():
    readme, guide = blocks("README.md"), blocks("docs/getting-started.md")
    audit, emails = blocks("docs/operations/audit-log.md"), blocks("docs/emails.md")
    # Numbers from `tests/benches/run` and the benchmarks.
    figures = blocks("docs/operations/figures.md")
    for name in sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")):
        if name not in {block.file for block in [*guide, *audit, *emails, *figures]} and name not in guides.PAGES:
            check(not blocks(name), name, "its blocks are not run")
    check({block.kind for block in figures} == {"text"}, figures[-1], "these blocks are not run")
    guides.all_are_named([block for page in ["README.md", "docs/getting-started.md", *guides.PAGES] for block in blocks(page)])
    first, banner, requests, script, installed, deployed = readme
    (server,), (folders,) = emails, blocks("CONTRIBUTING.md")[:1]
    load, npm, browser, on_server, send, page, typed, curl = guide

    with tempfile.TemporaryDirectory() as folder:
        newcomer = Newcomer(pathlib.Path(folder))
        started, banner = start(newcomer, first, banner)
        with started as lines:
            is_shown(lines, banner)
            first_requests(newcomer, requests)
            keys(newcomer, load)
            npm_install(newcomer, npm)
            for name in ["README.md", "infra/console/web/views/quick-start.js"]:
                check(npm.text.split("@")[-1].strip() in (ROOT / name).read_text(), npm, f"{name} installs another version of the SDK")
            newcomer.shell(requests.text, keys=False)
            for _ in range(2):
                sdk(newcomer, script)
                in_a_browser(newcomer, browser)
                on_a_server(newcomer, on_server)
                by_email(newcomer, browser, send, page, typed)
                without_the_sdk(newcomer, curl)
            mail_server(newcomer, server)
            audit_log(newcomer, *audit)
            install(newcomer, installed)
            deploy(newcomer, deployed)
            map_of_folders(newcomer, folders)
            run, left_out = guides.read_all(newcomer)
    print(f"{len(readme) + len(guide) + len(audit) + len(emails) + run} blocks of README.md and docs/ work as documented")
    print(f"{left_out} blocks were skipped, see NOT_RUN in tests/docs/guides.py")


if __name__ == "__main__":
    started_at = time.monotonic()
    main()
    print(f"in {time.monotonic() - started_at:.0f} s")
