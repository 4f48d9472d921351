"""Runs the conformance suite of the Model Context Protocol against a site.

The suite expects tools and resources that exist only to be tested, so a product fails the scenarios
that need them. Those listed here pass, but for the checks named with their reason.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SUITE = pathlib.Path(__file__).parent / "node_modules/@modelcontextprotocol/conformance/dist/index.js"

STATELESS = "2026-07-28"
SESSIONS = "2025-11-25"
# Without tools of its own, the suite can make no server that asks for input, streams or logs.
UNTESTABLE = {"server-stateless": 4}
SCENARIOS = {
    STATELESS: [
        "tools-list", "resources-list", "prompts-list", "caching", "server-stateless", "http-header-validation", "dns-rebinding-protection",
        "server-sse-multiple-streams", "sep-2164-resource-not-found", "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
    ],
    SESSIONS: ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"],
}


def checks(url, scenario, revision):
    """The checks of a scenario by status."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["node", SUITE, "server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        found = list(pathlib.Path(folder).rglob("checks.json"))
        assert len(found) == 1, f"{scenario}: {done.stdout}{done.stderr}"
        return json.loads(found[0].read_text())


def main(site):
    for revision, scenarios in SCENARIOS.items():
        for scenario in scenarios:
            for check in (found := checks(f"{site}/mcp", scenario, revision)):
                if check["status"] not in ("SUCCESS", "INFO"):
                    print(scenario, check["status"], check["id"], check.get("errorMessage") or check.get("description"))
            print(f"{revision} {scenario}: {len(found)} checks", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
