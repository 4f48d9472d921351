"""Starts a gateway that serves its table, and `cargo lambda watch` on that table; invokes every function with its event.

An event speaks of accounts and codes that are not in this table, so an operation may refuse it; it must do so in its own words, with a
status below 500. Those that need nothing of the kind must succeed.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

GATEWAY = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
API, TABLE, WATCH = 8792, 8793, 8794
SECRET = "a deployment secret of this test alone"
KEY = "0123456789abcdefghjkmnpqrstvwxyz0123456789abc"
MUST_SUCCEED = {
    "auth-otp-check-sign-in-code", "auth-otp-send-sign-in-code", "auth-password-sign-up", "content-get-app", "content-get-site",
    "content-list-apps", "content-list-blog-posts", "edge-backend-urls", "edge-check-feature-support", "edge-check-version", "edge-health",
    "edge-welcome", "emails-delivery-info", "emails-outbox-list", "projects-current-read",
    "projects-internal-current-read", "projects-internal-current-update", "projects-jwks-read",
}


def wait_for(url, seconds):
    for _ in range(seconds * 10):
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing answers at {url}")


def start(folder):
    keys = {
        "GATELET_PROJECT_ID": "6fbbf22e-f4b2-4c6e-95a1-beab6fa41063",
        "GATELET_PUBLISHABLE_CLIENT_KEY": "pck_" + KEY,
        "GATELET_SECRET_SERVER_KEY": "ssk_" + KEY,
        "GATELET_SUPER_SECRET_ADMIN_KEY": "sak_" + KEY,
        "GATELET_SECRET": SECRET,
    }
    arguments = ["--data", folder, "--listen", f"127.0.0.1:{API}", "--dynamodb-port", str(TABLE)]
    gateway = subprocess.Popen([GATEWAY, *arguments], env={**os.environ, **keys}, stdout=subprocess.DEVNULL)
    wait_for(f"http://127.0.0.1:{API}/health", 10)
    functions = {
        "GATELET_TABLE": "gatelet",
        "GATELET_SECRET": SECRET,
        "GATELET_API_URL": f"http://127.0.0.1:{WATCH}",
        "AWS_REGION": "local",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{TABLE}",
    }
    command = ["cargo-lambda", "lambda", "watch", "--invoke-address", "127.0.0.1", "--invoke-port", str(WATCH), "--ignore-changes"]
    watch = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **functions}, stdout=subprocess.DEVNULL, start_new_session=True)
    wait_for(f"http://127.0.0.1:{WATCH}/", 60)
    return gateway, watch


def invoke(name, file):
    command = ["cargo-lambda", "lambda", "invoke", name, "--data-file", str(file), "--invoke-address", "127.0.0.1", "--invoke-port", str(WATCH), "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    if done.returncode != 0:
        return f"failed: {done.stdout[-500:]} {done.stderr[-500:]}"
    return json.loads(done.stdout)


def judge(name, answer):
    """What is wrong with an answer, or nothing."""
    if not isinstance(answer, dict):
        return str(answer)
    if name.startswith("workers-"):
        return None if "moved" in answer or "batchItemFailures" in answer else f"not a worker's answer: {answer}"
    status = answer.get("statusCode", 0)
    if not 200 <= status < 500 or (name in MUST_SUCCEED and status >= 300):
        return f"status {status}: {answer.get('body')}"
    return None


def main():
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        gateway, watch = start(folder)
        try:
            for file in sorted((ROOT / "events").glob("*/*.json")):
                area, stem = file.parent.name, file.stem
                name = re.sub(r"-(stream|schedule)$", "", f"{area}-{stem}") if area == "workers" else f"{area}-{stem}"
                problem = judge(name, invoke(name, file))
                count += 1
                print(f"   {name}: {problem or 'ok'}", flush=True)
                if problem:
                    wrong.append(name)
            # The same routes as everywhere else: watch serves each function at its path.
            with urllib.request.urlopen(f"http://127.0.0.1:{WATCH}/api/v1/apps", timeout=60) as answer:
                assert json.load(answer)["data"], "watch does not serve the apps"
            print("   GET /api/v1/apps through watch: ok")
        finally:
            os.killpg(watch.pid, 15)
            gateway.terminate()
            gateway.wait(timeout=15)
    if wrong or not count:
        raise SystemExit(f"{len(wrong)} of {count} events failed: {', '.join(wrong)}")
    print(f"{count} events answered")


main()
