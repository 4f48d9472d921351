"""A deployment's webhook: the table's stream, the recording worker, the delivering one, and a
scheduled retry."""

import contextlib
import queue
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook

ENDPOINTS = "/api/v1/internal/webhook-endpoints"


class Receiver:
    """A local receiver that refuses the first request and accepts the others."""

    def __enter__(self):
        self.received = received = queue.Queue()
        statuses = iter([503])

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                received.put((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(next(statuses, 204))
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next(self, secret, seconds):
        """The id and event of the next message; fails if none arrives or its signature is wrong."""
        headers, body = self.received.get(timeout=seconds)
        headers = {name.lower(): value for name, value in headers.items()}
        return headers["webhook-id"], Webhook(secret).verify(body, headers)


@contextlib.contextmanager
def private_addresses(stack, *functions):
    """Lets these functions call this machine, with a setting for development. The templates have
    no parameter for it, so an operator has to set it on each function."""
    aws, before = stack.aws("lambda"), {}
    for function in functions:
        name = f"gatelet-prod-{function}"
        before[name] = aws.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        more = {**before[name], "GATELET_ALLOW_PRIVATE_ISSUERS": "1"}
        aws.update_function_configuration(FunctionName=name, Environment={"Variables": more})
    try:
        yield
    finally:
        for name, variables in before.items():
            aws.update_function_configuration(FunctionName=name, Environment={"Variables": variables})


def settled(client, place):
    """An endpoint's only delivery, once its outcome is written, which takes a moment."""
    for _ in range(1200):
        (delivery,) = client.ok("GET", f"{place}/deliveries", access="admin")["items"]
        if delivery["status"] != "pending":
            break
        time.sleep(0.1)
    return delivery


def is_delivered(stack, client):
    """Asserts that a signed change reaches a receiver, again after a failure; and that a
    deployment with unchanged settings does not call private addresses."""
    with Receiver() as receiver:
        wanted = {"url": receiver.url, "event_types": ["user.updated"]}
        status, refused = client.send("POST", ENDPOINTS, wanted, access="admin")
        assert (status, refused["code"]) == (400, "WEBHOOK_URL_NOT_ALLOWED"), f"{status} {refused}"
        with private_addresses(stack, "webhooks-endpoint-create", "workers-webhooks"):
            status, endpoint = client.send("POST", ENDPOINTS, wanted, access="admin")
            assert status == 201, f"{status} {endpoint}"
            user = client.sign_in("ada@example.com")
            client.ok("PATCH", "/api/v1/users/me", {"display_name": "Ada Lovelace"}, access_token=user["access_token"])
            first = receiver.next(endpoint["secret"], 240)
            # The schedule looks for due retries once a minute.
            again = receiver.next(endpoint["secret"], 240)
            place = f"{ENDPOINTS}/{endpoint['id']}"
            delivery = settled(client, place)
    assert first == again, f"{first} {again}"
    _, event = first
    data = event["data"]
    assert (event["type"], data["id"], data["display_name"]) == ("user.updated", user["user_id"], "Ada Lovelace"), event
    statuses = [attempt["response_status"] for attempt in delivery["attempts"]]
    assert (delivery["status"], statuses) == ("succeeded", [503, 204]), delivery
    # With its original settings, the deployment no longer calls this machine.
    status, tested = client.send("POST", "/api/v1/internal/send-test-webhook", {"endpoint_id": endpoint["id"]}, access="admin")
    refusal = "the endpoint cannot be reached: its host has no public address"
    assert (status, tested) == (200, {"success": False, "error_message": refusal}), f"{status} {tested}"
    client.ok("DELETE", place, access="admin")
