"""Verifies a message like a Python receiver: reads {secret, headers, body} and prints the event."""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

message = json.load(sys.stdin)
try:
    event = Webhook(message["secret"]).verify(message["body"], message["headers"])
except WebhookVerificationError as error:
    sys.exit(f"refused: {error}")
print(json.dumps(event))
