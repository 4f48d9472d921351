"""Runs the script of docs/guides/importing-users.md in a Python whose default encoding is not
UTF-8, as on many Windows machines, against a recording server."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from newcomer import blocks

# Without a locale, and without Python's workarounds for a missing locale, files are read as ASCII.
WITHOUT_UTF_8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
USERS = [{"primary_email": f"user{number}@example.com", "display_name": "Zoë 佐藤"} for number in range(250)]


class Recorder(http.server.BaseHTTPRequestHandler):
    received = []

    def do_POST(self):
        self.received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(201)
        self.end_headers()

    def log_message(self, *_):
        pass


def imported(script, mark):
    """What the script sends and prints for a file that begins with `mark`."""
    Recorder.received.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        **os.environ, **WITHOUT_UTF_8, "GATELET_URL": f"http://127.0.0.1:{server.server_port}",
        "GATELET_PROJECT_ID": "a", "GATELET_SECRET_SERVER_KEY": "b",
    }
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(json.dumps(user, ensure_ascii=False) + "\n" for user in USERS)
        pathlib.Path(folder, "users.jsonl").write_bytes(mark + lines.encode("utf-8"))
        pathlib.Path(folder, "import.py").write_bytes(script.encode("utf-8"))
        done = subprocess.run([sys.executable, "import.py"], cwd=folder, env=environment, capture_output=True, text=True)
    server.shutdown()
    return list(Recorder.received), done.stdout.splitlines(), done.stderr


def main():
    scripts = [block.text for block in blocks("docs/guides/importing-users.md") if block.text.startswith("# import.py")]
    assert len(scripts) == 1, scripts
    for mark in (b"", b"\xef\xbb\xbf"):
        received, printed, errors = imported(scripts[0], mark)
        assert received == USERS, f"other names: {received[:2]} {errors}"
        progress = [f"line {count}: {count} of {count} created" for count in (100, 200)]
        assert printed == [*progress, "250 of 250 created"], f"{printed} {errors}"
    print("An import keeps names whatever the system's encoding is, and shows its progress")


main()
