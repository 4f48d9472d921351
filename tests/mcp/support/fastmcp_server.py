"""An MCP server with PyPI's `fastmcp`, at the URL in RESOURCE, which accepts the access tokens of
ISSUER. Without the second scope, a client cannot write, but can ask for the scope."""

import os
from urllib.parse import urlsplit

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider, require_scopes
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

ISSUER, RESOURCE = os.environ["ISSUER"], os.environ["RESOURCE"]
READ, WRITE = "notes:read", "notes:write"

place = urlsplit(RESOURCE)
base = f"{place.scheme}://{place.netloc}"
verifier = JWTVerifier(jwks_uri=f"{ISSUER}/.well-known/jwks.json", issuer=ISSUER, audience=RESOURCE, algorithm="ES256", required_scopes=[READ])
auth = RemoteAuthProvider(token_verifier=verifier, authorization_servers=[ISSUER], base_url=base, scopes_supported=[READ, WRITE])
mcp = FastMCP("Notes", auth=auth)


@mcp.tool
def read_notes() -> str:
    return f"Notes of {get_access_token().claims['sub']}"


@mcp.tool(auth=require_scopes(WRITE))
def write_note(note: str) -> str:
    return f"Written for {get_access_token().claims['sub']}: {note}"


class StepUp:
    """Names the scope that a tool needs. FastMCP hides tools from clients without their scopes."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        app = self.app
        if scope["type"] == "http" and dict(scope["headers"]).get(b"mcp-name") == b"write_note":
            user = scope["user"]
            if user.is_authenticated and WRITE not in user.scopes:
                challenge = f'Bearer error="insufficient_scope", scope="{READ} {WRITE}", resource_metadata="{base}/.well-known/oauth-protected-resource{place.path}"'
                app = JSONResponse({"error": "insufficient_scope"}, 403, {"www-authenticate": challenge})
        await app(scope, receive, send)


mcp.run("http", show_banner=False, host=place.hostname, port=place.port, path=place.path, log_level="error", middleware=[Middleware(StepUp)])
