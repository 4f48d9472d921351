"""Starts a gateway that serves its table, and `cargo lambda watch` on that table; then invokes
every function with its event.

Events refer to accounts and codes missing from this table, so operations may reject them with their
own errors and a status below 500. Operations that do not depend on such items must succeed.

Also checks the functions' log: each response has a line, and no line has a secret that was sent,
received or set.
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
import urllib.parse
import urllib.request

GATEWAY = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
API, TABLE, WATCH = 8792, 8793, 8794
SECRET = "a deployment secret of this test alone"
KEY = "0123456789abcdefghjkmnpqrstvwxyz0123456789abc"
TABLE_KEY_ID = "gatelet-test"
MUST_SUCCEED = {
    "auth-otp-check-sign-in-code", "auth-otp-send-sign-in-code", "auth-password-sign-up", "content-get-app", "content-get-site",
    "content-list-apps", "content-list-blog-posts", "edge-backend-urls", "edge-check-feature-support", "edge-check-version", "edge-health",
    "edge-welcome", "emails-delivery-info", "emails-outbox-list", "projects-current-read",
    "projects-internal-current-read", "projects-internal-current-update", "projects-jwks-read",
}

WORKERS = ("workers-changes", "workers-endings", "workers-mail-reports", "workers-outbox", "workers-trail", "workers-webhooks")


def wait_for(url, seconds):
    for _ in range(seconds * 10):
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing answers at {url} within {seconds} s")


def start(folder):
    keys = {
        "GATELET_PROJECT_ID": "6fbbf22e-f4b2-4c6e-95a1-beab6fa41063",
        "GATELET_PUBLISHABLE_CLIENT_KEY": "pck_" + KEY,
        "GATELET_SECRET_SERVER_KEY": "ssk_" + KEY,
        "GATELET_SUPER_SECRET_ADMIN_KEY": "sak_" + KEY,
        "GATELET_SECRET": SECRET,
        "GATELET_DYNAMODB_ACCESS_KEY_ID": TABLE_KEY_ID,
        "GATELET_DYNAMODB_SECRET_ACCESS_KEY": KEY,
    }
    arguments = ["--data", folder, "--listen", f"127.0.0.1:{API}", "--dynamodb-port", str(TABLE)]
    gateway = subprocess.Popen([GATEWAY, *arguments], env={**os.environ, **keys}, stdout=subprocess.DEVNULL)
    wait_for(f"http://127.0.0.1:{API}/health", 60)
    functions = {
        "GATELET_TABLE": "gatelet",
        "GATELET_SECRET": SECRET,
        "GATELET_API_URL": f"http://127.0.0.1:{WATCH}",
        "GATELET_STAGE": "test",
        "AWS_LAMBDA_LOG_LEVEL": "trace",
        "AWS_REGION": "local",
        "AWS_ACCESS_KEY_ID": TABLE_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": KEY,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{TABLE}",
    }
    command = ["cargo-lambda", "lambda", "watch", "--invoke-address", "127.0.0.1", "--invoke-port", str(WATCH), "--ignore-changes"]
    log = open(pathlib.Path(folder) / "functions.log", "w+", encoding="utf-8")
    watch = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **functions}, stdout=log, stderr=log, start_new_session=True)
    wait_for(f"http://127.0.0.1:{WATCH}/", 60)
    return gateway, watch, log


# The names of fields and headers whose values are always secret.
SECRET_NAME = re.compile(r"password|secret|token|code|otp|totp|key|verifier|nonce", re.IGNORECASE)
# Harmless values of these fields and headers: names, switches and algorithms.
HARMLESS = re.compile(r"^(true|false|S256|Bearer|[A-Z_]+|[a-z_-]{1,18}|\d{1,3}|https?://.*)$")


def secrets(value, name=""):
    """Every secret in an event or a response, including JSON and forms embedded as text."""
    if isinstance(value, dict):
        return {found for key, inner in value.items() for found in secrets(inner, key)}
    if isinstance(value, list):
        return {found for inner in value for found in secrets(inner, name)}
    if not isinstance(value, str):
        return set()
    if name in ("body", "rawQueryString"):
        try:
            return secrets(json.loads(value))
        except ValueError:
            return secrets(dict(urllib.parse.parse_qsl(value)))
    is_secret = SECRET_NAME.search(name) and name not in ("routeKey", "diagnosticCode") and len(value) >= 6 and not HARMLESS.match(value) and not value.startswith("<")
    return {value} if is_secret else set()


def judge_log(text, sent, answered):
    """Problems in the functions' log."""
    lines = [json.loads(line[line.index("{"):]) for line in text.splitlines() if '"message":"answered"' in line]
    logged = {line["operation"] for line in lines}
    wrong = [f"no line of {name}" for name in sorted(answered - logged)]
    wrong += [f"a line of {line['operation']} lacks {field}" for line in lines for field in ("status", "duration_ms", "_aws") if field not in line]
    # Only the first characters are shown, because the log of this test must not contain secrets
    # either.
    wrong += [f"the secret {secret[:4]}… is in the log" for secret in sorted(sent) if secret in text]
    return wrong


def invoke(name, file):
    command = ["cargo-lambda", "lambda", "invoke", name, "--data-file", str(file), "--invoke-address", "127.0.0.1", "--invoke-port", str(WATCH), "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    if done.returncode != 0:
        return f"failed: {done.stdout[-500:]} {done.stderr[-500:]}"
    return json.loads(done.stdout)


def judge(name, answer):
    """What is wrong with a response, if anything."""
    if not isinstance(answer, dict):
        return str(answer)
    if name.startswith("workers-"):
        return None if answer.keys() & {"moved", "done", "recorded", "linked", "batchItemFailures"} else f"not a worker's answer: {answer}"
    status = answer.get("statusCode", 0)
    if not 200 <= status < 500 or (name in MUST_SUCCEED and status >= 300):
        return f"status {status}: {answer.get('body')}"
    return None


def main():
    wrong, count, seen, answered = [], 0, {SECRET, KEY}, set()
    with tempfile.TemporaryDirectory() as folder:
        gateway, watch, log = start(folder)
        try:
            for file in sorted((ROOT / "events").glob("*/*.json"), key=lambda file: (file.stem == "internal-current-delete", file)):
                area, stem = file.parent.name, file.stem
                name = next(worker for worker in WORKERS if f"{area}-{stem}".startswith(worker)) if area == "workers" else f"{area}-{stem}"
                answer = invoke(name, file)
                problem = judge(name, answer)
                count += 1
                seen |= secrets(json.loads(file.read_text(encoding="utf-8"))) | secrets(answer if isinstance(answer, dict) else {})
                answered |= {name} if not name.startswith("workers-") and not problem else set()
                print(f"   {name}: {problem or 'ok'}", flush=True)
                if problem:
                    wrong.append(name)
            # `cargo lambda watch` also serves each function at the path of its route.
            with urllib.request.urlopen(f"http://127.0.0.1:{WATCH}/api/v1/apps", timeout=60) as answer:
                assert json.load(answer)["data"], "watch does not serve the apps"
            print("   GET /api/v1/apps through watch: ok")
        finally:
            os.killpg(watch.pid, 15)
            gateway.terminate()
            gateway.wait(timeout=15)
            log.seek(0)
            problems = judge_log(log.read(), seen, answered)
            log.close()
    if wrong or not count:
        raise SystemExit(f"{len(wrong)} of {count} events failed: {', '.join(wrong)}")
    if problems:
        raise SystemExit("problems in the log: " + "; ".join(problems[:20]))
    print(f"{count} events answered; none of {len(seen)} secrets is in the log")


main()
