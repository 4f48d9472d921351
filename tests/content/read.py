"""Reads the documents of a gateway's site with the programs they are made for, and calls its
endpoints for agents with their clients. The gateway has its sample content, with an image."""

import datetime
import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.request

import conformance
import discover
import documents

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER.parent / "abuse"), str(FOLDER.parent / "support")]
from pictures import with_image  # noqa: E402
from service import Service  # noqa: E402

# The pages of a gateway that show keys and emails and require the page key.
PRIVATE = ["/console", "/inbox", "/outbox"]


def run(*command, **options):
    subprocess.run(command, check=True, **options)


def lint(site):
    """Applies the rules of `redocly.yaml` to the API's description."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "openapi.json"
        file.write_bytes(urllib.request.urlopen(f"{site}/openapi.json").read())
        quiet = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
        run("redocly", "lint", "--config", FOLDER / "redocly.yaml", "--format", "summary", file, env=quiet)


class BrokenProxy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(502)

    def log_message(self, *_):
        pass


def refuse(site):
    """Asserts the exit status of the site's tool: 1 for a failure, 2 for wrong use."""
    proxy = http.server.HTTPServer(("127.0.0.1", 0), BrokenProxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    broken = ["list-apps", "--site", f"http://127.0.0.1:{proxy.server_port}"]
    wrong = [["get-app"], ["frobnicate"], ["list-apps", "--site", "x"]]
    for status, part, words in [(1, "", ["get-app", "none"]), (1, "502", broken), *((2, "", words) for words in wrong)]:
        done = subprocess.run(["npx", "--yes", f"{site}/cli/site.tgz", *words], capture_output=True, text=True, cwd=tempfile.gettempdir())
        assert done.returncode == status and done.stderr and part in done.stderr, f"{words}: {done}"
    proxy.shutdown()


def publish(service):
    """Publishes the sample content with an image added."""
    with tempfile.TemporaryDirectory() as folder:
        site = with_image(FOLDER.parents[1] / "infra/gateway/sample", folder)
        run(service.gateway, "content", "publish", site, "--data", service.data)


def main(gateway):
    expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=180)
    contact = {"GATELET_SECURITY_CONTACT": "mailto:security@example.com", "GATELET_SECURITY_EXPIRES": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}
    with Service(gateway, environment=contact) as service:
        site = f"http://localhost:{service.port}"
        publish(service)
        documents.main(site)
        lint(site)
        for script in ("documents.mjs", "clients.mjs", "pages.mjs"):
            run("node", FOLDER / script, site)
        found = discover.main(site)
        assert sorted(found.private) == PRIVATE, found.private
        refuse(site)
        conformance.main(site)
    print("1 passed, 0 failed")


main(sys.argv[1])
