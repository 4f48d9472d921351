"""Uses the client from openapi-python-client."""

import os
import time

from gatelet_client import Client
from gatelet_client.api.auth import auth_password_sign_up
from gatelet_client.api.content import content_get_post_page
from gatelet_client.api.emails import emails_outbox_list, emails_outbox_update
from gatelet_client.api.users import users_me_update, users_user_list
from gatelet_client.models import OutboxPatch, OutboxView, ProductErrorCode, SignUp, SimpleStatus, UserOrder, UserPatch

ADDRESS = os.environ["ADDRESS"]


def caller(level, token=None):
    kind = {"client": "Publishable-Client-Key", "server": "Secret-Server-Key"}[level]
    headers = {
        "X-Service-Access-Type": level, "X-Service-Project-Id": os.environ["PROJECT"],
        f"X-Service-{kind}": os.environ[f"{level.upper()}_KEY"], **({"X-Service-Access-Token": token} if token else {}),
    }
    return Client(base_url=os.environ["URL"], headers=headers, raise_on_unexpected_status=True)


client, server = caller("client"), caller("server")
sign_up = SignUp(email=ADDRESS, password="correct horse battery", verification_callback_url="http://localhost:3000/verify")
signed_up = auth_password_sign_up.sync(client=client, body=sign_up)
again = auth_password_sign_up.sync(client=client, body=sign_up)
assert again.code == ProductErrorCode.USER_EMAIL_ALREADY_EXISTS, again

listed = users_user_list.sync(client=server, limit=10, order_by=UserOrder.SIGNED_UP_AT, desc=True)
assert any(user.id == signed_up.user_id and user.primary_email == ADDRESS for user in listed.items), listed

own = caller("client", signed_up.access_token)
patched = users_me_update.sync(client=own, body=UserPatch(display_name="Ada"))
assert patched.display_name == "Ada", patched

for _ in range(100):
    outbox = emails_outbox_list.sync(client=server, limit=10, simple_status=SimpleStatus.OK)
    if outbox.items:
        break
    time.sleep(0.1)
email = outbox.items[0]
assert isinstance(email, OutboxView) and email.rendered_at_millis > 0 and email.subject, email
edited = emails_outbox_update.sync(email.id, client=server, body=OutboxPatch(is_paused=True))
assert edited.code == ProductErrorCode.EMAIL_NOT_EDITABLE, edited

page = content_get_post_page.sync("hello", client=client)
assert page.startswith("<!DOCTYPE html>"), page
