"""Runs a Flask app on this machine for a client of Gatelet, which the variable CLIENT describes."""

import json
import os

from flask import jsonify
from werkzeug.serving import WSGIRequestHandler, make_server

#: `issuer`, `id` and `client_secret`, which is null for a public client.
CLIENT = json.loads(os.environ["CLIENT"])
SCOPES = ["openid", "profile", "email", "teams", "permissions", "offline_access"]


class Quiet(WSGIRequestHandler):
    def log_request(self, *_):
        pass


def start(app):
    """A server for the app, which answers with an error's name instead of a page about it."""
    app.register_error_handler(Exception, lambda error: (jsonify(refused=f"{type(error).__name__}: {error}"), 400))
    # Chromium opens connections that it may never use.
    return make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)


def serve(server):
    """Prints the port, and answers until the process is ended."""
    print(server.server_port, flush=True)
    server.serve_forever()
