"""Measures how an optimized gateway with data on disk delivers emails to its inbox: a single
email, and one to each of ten thousand users.

    cargo build --profile gateway -p gateway && python3 tests/benches/mails.py target/gateway/gateway [recipients]

Only contacts 127.0.0.1, and stops what it starts.
"""

import concurrent.futures
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

GATEWAY = sys.argv[1]
RECIPIENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
PORT = 8798
PROJECT = "6fbbf22e-f4b2-4c6e-95a1-beab6fa41063"
KEY = "0123456789abcdefghjkmnpqrstvwxyz0123456789abc"
HEADERS = {
    "x-stack-project-id": PROJECT,
    "x-stack-access-type": "server",
    "x-stack-secret-server-key": f"ssk_{KEY}",
    "content-type": "application/json",
    # The page key, which requests to the inbox require.
    "authorization": f"Bearer page_{KEY}",
}
local = threading.local()


def call(method, path, body=None):
    if not hasattr(local, "connection"):
        local.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=120)
    local.connection.request(method, path, json.dumps(body) if body is not None else None, HEADERS)
    answer = local.connection.getresponse()
    text = answer.read()
    assert answer.status < 300, (path, answer.status, text[:300])
    return json.loads(text)


def memory(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def cpu(pid):
    """CPU seconds used by the gateway and its renderers."""
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    ticks = 0
    for process in [str(pid), *children]:
        with open(f"/proc/{process}/stat") as stat:
            ticks += sum(int(field) for field in stat.read().rsplit(")", 1)[1].split()[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def start(folder):
    keys = {
        "GATELET_PROJECT_ID": PROJECT,
        "GATELET_PUBLISHABLE_CLIENT_KEY": f"pck_{KEY}",
        "GATELET_SECRET_SERVER_KEY": f"ssk_{KEY}",
        "GATELET_SUPER_SECRET_ADMIN_KEY": f"sak_{KEY}",
        "GATELET_PAGE_KEY": f"page_{KEY}",
    }
    arguments = ["--data", folder, "--listen", f"127.0.0.1:{PORT}", "--limits", "off"]
    gateway = subprocess.Popen([GATEWAY, *arguments], env=keys, stdout=subprocess.DEVNULL)
    for _ in range(200):
        try:
            call("GET", "/health")
            return gateway
        except (OSError, http.client.HTTPException):
            local.__dict__.clear()
            time.sleep(0.05)
    raise SystemExit("the gateway does not answer")


def received():
    return call("GET", "/inbox/api/messages?limit=0")["total"]


def one_mail(user):
    before = received()
    begin = time.perf_counter()
    call("POST", "/api/v1/emails/send-email", {"user_ids": [user], "subject": "Hello", "html": "<p>Hello</p>"})
    while received() == before:
        time.sleep(0.001)
    return (time.perf_counter() - begin) * 1000


def all_users(gateway):
    # The inbox keeps only the ten thousand newest emails, so it is emptied first.
    local.__dict__.clear()
    local.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=120)
    local.connection.request("DELETE", "/inbox/api/messages", headers=HEADERS)
    local.connection.getresponse().read()
    peak, used = 0, cpu(gateway.pid)
    begin = time.perf_counter()
    answer = call("POST", "/api/v1/emails/send-email", {"all_users": True, "subject": "Hello {{ user.primary_email }}", "html": "<p>Hello</p>"})
    accepted = time.perf_counter() - begin
    assert len(answer["results"]) == RECIPIENTS
    print(f"accepted for {RECIPIENTS} users:      {accepted:6.2f} s", flush=True)
    while (count := received()) < RECIPIENTS:
        peak = max(peak, memory(gateway.pid))
        time.sleep(0.1)
    seconds = time.perf_counter() - begin
    print(f"in the inbox of all after:       {seconds:6.2f} s, {count / seconds:.0f} emails/s")
    print(f"CPU time of an email:            {(cpu(gateway.pid) - used) / count * 1000:6.2f} ms")
    print(f"memory while they were sent:     {peak:6.1f} MB at most")


def main():
    with tempfile.TemporaryDirectory() as folder:
        gateway = start(folder)
        try:
            user = call("POST", "/api/v1/users", {"primary_email": "user0@example.com"})["id"]
            print(f"one email, request to inbox:     {statistics.median(one_mail(user) for _ in range(21)):6.1f} ms", flush=True)
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda number: call("POST", "/api/v1/users", {"primary_email": f"user{number}@example.com"}), range(1, RECIPIENTS)))
            print(f"memory before:                   {memory(gateway.pid):6.1f} MB")
            all_users(gateway)
        finally:
            gateway.terminate()
            gateway.wait(timeout=30)


main()
