"""A web app that signs its users in with PyPI's `idpyoidc`, in Flask. `/login` begins a sign-in; the
page after it shows as JSON what the library found."""

from cryptojwt.key_jar import KeyJar
from flask import Flask, jsonify, redirect, request
from idpyoidc.client.rp_handler import RPHandler

from serve import CLIENT, SCOPES, serve, start

app = Flask(__name__)
server = start(app)
base = f"http://127.0.0.1:{server.server_port}"
handler = RPHandler(
    base_url=base,
    # Without this argument, the library would write new keys to the current folder.
    keyjar=KeyJar(),
    client_configs={
        "gatelet": {
            "issuer": CLIENT["issuer"],
            "client_id": CLIENT["id"],
            "client_secret": CLIENT["client_secret"],
            "client_type": "oidc",
            "redirect_uris": [f"{base}/callback"],
            "response_types_supported": ["code"],
            "scopes_supported": SCOPES,
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "client_authn_methods": ["client_secret_basic", "bearer_header"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "services": {
                "discovery": {"class": "idpyoidc.client.oidc.provider_info_discovery.ProviderInfoDiscovery"},
                "authorization": {"class": "idpyoidc.client.oidc.authorization.Authorization"},
                "accesstoken": {"class": "idpyoidc.client.oidc.access_token.AccessToken"},
                "refresh_accesstoken": {"class": "idpyoidc.client.oidc.refresh_access_token.RefreshAccessToken"},
                "userinfo": {"class": "idpyoidc.client.oidc.userinfo.UserInfo"},
            },
            "add_ons": {
                "pkce": {
                    "function": "idpyoidc.client.oauth2.add_on.pkce.add_support",
                    "kwargs": {"code_challenge_length": 64, "code_challenge_method": "S256"},
                },
            },
        },
    },
)


@app.get("/login")
def login():
    begun = handler.begin("gatelet", req_args={"scope": SCOPES})
    return redirect(begun if isinstance(begun, str) else begun["url"])


@app.get("/callback")
def callback():
    found = handler.finalize(request.args["iss"], request.args.to_dict())
    if "error" in found:
        raise ValueError(found["error"])
    renewed = handler.refresh_access_token(found["state"])
    again = handler.get_user_info(found["state"], access_token=renewed["access_token"])
    return jsonify(claims=found["id_token"].to_dict(), info=found["userinfo"].to_dict(), again=again.to_dict())


serve(server)
