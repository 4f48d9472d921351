"""A web app that signs its users in with PyPI's `authlib`, in Flask. `/login` begins a sign-in; the
page after it shows as JSON what the library found."""

import secrets

from authlib.integrations.flask_client import OAuth
from authlib.integrations.requests_client import OAuth2Session
from flask import Flask, jsonify

from serve import CLIENT, SCOPES, serve, start

app = Flask(__name__)
app.secret_key = secrets.token_hex()
method = "client_secret_basic" if CLIENT["client_secret"] else "none"
gatelet = OAuth(app).register(
    "gatelet",
    client_id=CLIENT["id"],
    client_secret=CLIENT["client_secret"],
    server_metadata_url=f"{CLIENT['issuer']}/.well-known/openid-configuration",
    client_kwargs={"scope": " ".join(SCOPES), "code_challenge_method": "S256", "token_endpoint_auth_method": method},
)
server = start(app)


@app.get("/login")
def login():
    return gatelet.authorize_redirect(f"http://127.0.0.1:{server.server_port}/callback")


@app.get("/callback")
def callback():
    token = gatelet.authorize_access_token()
    info = gatelet.userinfo(token=token)
    session = OAuth2Session(CLIENT["id"], CLIENT["client_secret"], token_endpoint_auth_method=method, token=token)
    renewed = session.refresh_token(gatelet.load_server_metadata()["token_endpoint"])
    again = gatelet.userinfo(token=renewed)
    return jsonify(
        claims=token["userinfo"], info=info, again=again, scope=token["scope"], rotated=renewed["refresh_token"] != token["refresh_token"]
    )


serve(server)
