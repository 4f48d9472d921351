"""A mail server for tests: TLS, one user, and every message as a line of JSON on standard output.

    real.py CERTIFICATE KEY

Prints the port for STARTTLS. Port 2465 is for implicit TLS.
"""

import asyncio
import json
import logging
import ssl
import sys
import warnings

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

# Nothing is logged, because the tests cause errors on purpose: with clients that do not trust the
# server, and with wrong passwords.
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

USER, PASSWORD = b"notes", b"s3cret of the mail server"


def authenticate(server, session, envelope, mechanism, data):
    is_known = isinstance(data, LoginPassword) and (data.login, data.password) == (USER, PASSWORD)
    return AuthResult(success=is_known, handled=False)


class Handler:
    async def handle_DATA(self, server, session, envelope):
        message = {
            "tls": session.ssl is not None or server.transport.get_extra_info("ssl_object") is not None,
            "login": session.authenticated,
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "message": envelope.content.decode("ascii"),
        }
        print(json.dumps(message), flush=True)
        return "250 taken"


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    loop = asyncio.get_running_loop()
    common = {"authenticator": authenticate, "auth_required": True, "hostname": "localhost"}
    later = await loop.create_server(
        lambda: SMTP(Handler(), tls_context=context, require_starttls=True, **common), "127.0.0.1", 0
    )
    await loop.create_server(lambda: SMTP(Handler(), auth_require_tls=False, **common), "127.0.0.1", 2465, ssl=context)
    print(later.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
