"""Follows the guides to software that signs its users in with Gatelet, as guides.py follows a page,
and signs in to each app in a browser (visit.mjs)."""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

import any_client
import guides
from newcomer import ROOT, Newcomer

PAGES = sorted(guides.OPENID)

RUN = "env $(cat client.env)"
APACHE = f"{RUN} /usr/sbin/apache2 -d . -f apache.conf -D FOREGROUND"
CHECKER = f"{RUN} .venv/bin/python checker.py"
DJANGO = f"{RUN} .venv/bin/python manage.py runserver 3000"
GO = f"{RUN} ./notes"
MCP = "node server.mjs"
MCP_PYTHON = ".venv/bin/python server.py"
NGINX = "/usr/sbin/nginx -p . -e stderr -c nginx.conf"

# Commands that start a server, each with the server's port.
SERVERS = {APACHE: 3000, CHECKER: 4180, DJANGO: 3000, GO: 3000, MCP: 3000, MCP_PYTHON: 8000, NGINX: 4000}

# Programs that print links or open a browser, and what the consent page calls them.
PROGRAMS = {"node client.mjs": "Example client", ".venv/bin/python client.py": "FastMCP Client"}

# What somebody does once a server has started, as arguments of visit.mjs.
VISITS = {
    APACHE: ["http://localhost:3000", "Handbook", "--denied=You are not signed in."],
    DJANGO: ["http://localhost:3000", "Notes", "--denied=Sign in", "--private=/private/"],
    GO: ["http://localhost:3000", "Notes", "--denied=You are not signed in: access_denied"],
    NGINX: ["http://localhost:4000", "Handbook", "--denied=You are not signed in."],
}

INSTALLS = "changes this machine"
NOT_RUN = {
    ("protected-static-site", "sudo apt-get install apache2 libapache2-mod-auth-openidc"): INSTALLS,
    ("protected-static-site", "sudo apt-get install nginx"): INSTALLS,
}


class Visitor(Newcomer):
    """A newcomer who uses each app that they have started."""

    def __init__(self, folder):
        super().__init__(folder)
        self.visited = []
        # Go's modules must be writable, so that they can be removed with the folder.
        self.environment |= {"GOPATH": str(folder / "go-modules"), "GOFLAGS": "-modcacherw"}
        # The browser that Python's programs open prints the link.
        self.environment["BROWSER"] = "echo %s"

    @contextlib.contextmanager
    def runs(self, command, port, cwd):
        with super().runs(command, port, cwd):
            if command in VISITS:
                subprocess.run(["node", ROOT / "tests/docs/visit.mjs", *VISITS[command]], check=True)
                self.visited.append(command)
            yield


def main():
    guides.SERVERS.update(SERVERS)
    guides.PROGRAMS.update(PROGRAMS)
    guides.NOT_RUN.update(NOT_RUN)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # Apache and nginx, when started by root, read the site as a different user.
        folder.chmod(0o755)
        newcomer = Visitor(folder)
        with newcomer.started(os.environ["GATEWAY"]):
            followed = skipped = 0
            for page in PAGES:
                started_at = time.monotonic()
                counts = guides.read(newcomer, page)
                followed, skipped = followed + counts[0], skipped + counts[1]
                print(f"{page}: {time.monotonic() - started_at:.0f} s", flush=True)
            any_client.check_settings(newcomer, folder / "any-openid-client")
    if sorted(newcomer.visited) != sorted([*VISITS, *VISITS]):
        raise SystemExit(f"each app is used each time that its page is followed: {newcomer.visited}")
    if skipped != len(NOT_RUN):
        raise SystemExit(f"{len(NOT_RUN) - skipped} blocks in NOT_RUN no longer exist: remove them")
    print(f"{followed} blocks of guides work as documented, and users sign in to {len(VISITS)} apps")


if __name__ == "__main__":
    main()
