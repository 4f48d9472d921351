"""Checks what docs/guides/any-openid-client.md says against the provider: the settings of each
software, the claims, the signatures, and the errors."""

import base64
import configparser
import html
import json
import re
import time
import tomllib
import urllib.error
import urllib.request
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import yaml
from newcomer import ROOT, URL

PAGE = (ROOT / "docs/guides/any-openid-client.md").read_text()
# The verifier and the challenge in RFC 7636, appendix B.
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

# Errors on the page, and what in an authorization request causes each.
ERRORS = {
    "redirect_uri is not one of the client's redirect URIs": {"redirect_uri": "https://localhost:8080/login/oauth2/code/gatelet"},
    "client_id is not the id of a client of this project": {"client_id": "5a1d3e0c-0000-4000-8000-000000000000"},
    "code_challenge is missing: PKCE is required": {"code_challenge": "", "code_challenge_method": ""},
}


def check_settings(newcomer, folder):
    """`folder` has the files of the page."""
    variables = read_variables(newcomer, folder / "client.env")
    issuer = f"{URL}/api/v1/projects/{variables['GATELET_PROJECT_ID']}"
    metadata = json.loads(fetch(f"{issuer}/.well-known/openid-configuration"))
    assert metadata["issuer"] == issuer, metadata
    client, redirect_uri = spring((folder / "application.yml").read_text(), variables, metadata)
    signs_in(issuer, client, redirect_uri, variables)
    refuses(issuer, client, redirect_uri)

    placed = lambda name: (folder / name).read_text().replace("https://auth.example.com", URL).replace("PROJECT_ID", variables["GATELET_PROJECT_ID"])
    grafana = configparser.ConfigParser()
    grafana.read_string(placed("grafana.ini"))
    for key, endpoint in {"auth_url": "authorization_endpoint", "token_url": "token_endpoint", "api_url": "userinfo_endpoint"}.items():
        assert grafana["auth.generic_oauth"][key] == metadata[endpoint], key
    proxy = tomllib.loads(placed("oauth2-proxy.toml"))
    assert proxy["oidc_issuer_url"] == issuer and proxy["code_challenge_method"] in metadata["code_challenge_methods_supported"], proxy
    assert re.search(r'issuer: "(.*)"', placed("gitlab.rb"))[1] == issuer


def read_variables(newcomer, file):
    """The gateway's keys, and the variables in a file."""
    printed = newcomer.shell(f"set -a\n. '{file}'\nenv -0")
    return dict(pair.split("=", 1) for pair in printed.split("\0") if pair)


def spring(text, variables, metadata):
    """Reads the file as Spring Boot does; returns the registration and its redirect URI."""
    read = yaml.safe_load(re.sub(r"\$\{(\w+)\}", lambda name: variables[name[1]], text))
    client = read["spring"]["security"]["oauth2"]["client"]
    ((name, registration),), ((provider, settings),) = client["registration"].items(), client["provider"].items()
    assert (provider, settings["issuer-uri"]) == (name, metadata["issuer"]), client
    assert set(registration["scope"].split(",")) <= set(metadata["scopes_supported"]), client
    assert settings["user-name-attribute"] == "sub", client
    return registration, f"http://localhost:8080/login/oauth2/code/{name}"


def request(client, redirect_uri):
    """The parameters of an authorization request."""
    return {
        "response_type": "code", "client_id": client["client-id"], "redirect_uri": redirect_uri,
        "scope": f"{client['scope'].replace(',', ' ')} teams permissions", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
    }


def signs_in(issuer, client, redirect_uri, variables):
    """A new user signs in to the client, which finds the claims of the page."""
    headers = {
        "x-service-access-type": "client", "x-service-project-id": variables["GATELET_PROJECT_ID"],
        "x-service-publishable-client-key": variables["GATELET_PUBLISHABLE_CLIENT_KEY"], "content-type": "application/json",
    }
    call = lambda path, body, **more: json.loads(fetch(f"{URL}/api/v1{path}", json.dumps(body).encode(), {**headers, **more}))
    email = f"ken.{time.time_ns()}@example.com"
    user = call("/auth/password/sign-up", {"email": email, "password": "correct horse battery"})
    session = {"x-service-access-token": user["access_token"], "x-service-refresh-token": user["refresh_token"]}
    begun = call("/auth/oauth2/authorizations", {"parameters": urlencode(request(client, redirect_uri))})
    done = call("/auth/oauth2/authorizations/complete", {"request": begun["request"], "consent": "allow"}, **session)
    code = parse_qs(urlsplit(done["redirection"]["url"]).query)["code"][0]

    def redeem(secret):
        basic = base64.b64encode(f"{client['client-id']}:{secret}".encode()).decode()
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": VERIFIER}
        return json.loads(fetch(f"{issuer}/oauth2/token", urlencode(form).encode(), {"authorization": f"Basic {basic}"}))

    assert redeem("wrong")["error"] == "invalid_client"
    tokens = redeem(client["client-secret"])
    header, claims, _ = tokens["id_token"].split(".")
    assert decoded(header)["alg"] == "RS256", f"the page has the client's tokens signed with RS256, not as {decoded(header)}"
    assert {"sub": user["user_id"], "email": email, "email_verified": False}.items() <= decoded(claims).items(), decoded(claims)
    info = json.loads(fetch(f"{issuer}/oauth2/userinfo", headers={"authorization": f"Bearer {tokens['access_token']}"}))
    assert (info["sub"], info["email"], info["teams"]) == (user["user_id"], email, []) and "permissions" in info, info
    assert redeem(client["client-secret"])["error"] == "invalid_grant"


def refuses(issuer, client, redirect_uri):
    """The provider names the errors of the page."""
    for error, changes in ERRORS.items():
        assert f"`{error}`" in PAGE, f"the page lacks: {error}"
        query = urlencode(request(client, redirect_uri) | changes)
        answer = unquote_plus(html.unescape(fetch(f"{issuer}/oauth2/authorize?{query}")))
        assert error in answer, f"{error}: {answer}"


def decoded(part):
    """A part of a JWT."""
    return json.loads(base64.urlsafe_b64decode(part + "=="))


class Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(Stays)


def fetch(url, body=None, headers={}):
    """An answer's text, whatever its status, or where it redirects."""
    try:
        with OPENER.open(urllib.request.Request(url, body, headers), timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.headers["location"] or answer.read().decode()
