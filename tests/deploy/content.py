"""A deployment's site: its documents, and the endpoints for agents."""

import json
import re
import urllib.error
import urllib.request

# Documents that are not resources of the site, with their media types.
OTHERS = {
    "/": "text/html",
    "/blog": "text/html",
    "/blog/hello": "text/html",
    "/blog/hello.md": "text/markdown",
    "/apps/notes": "text/html",
    "/feed.json": "application/feed+json",
    "/sitemap.xml": "application/xml",
    "/robots.txt": "text/plain",
    "/.well-known/api-catalog": "application/linkset+json",
    "/mcp/server-card": "application/mcp-server-card+json",
}
# The media types of the resources, except the MCP endpoint, which accepts only POST.
RESOURCES = {
    "docs": "text/html",
    "docsApiReference": "text/html",
    "llmsTxt": "text/plain",
    "llmsFullTxt": "text/plain",
    "indexMd": "text/markdown",
    "feedXml": "application/atom+xml",
    "mcpDiscovery": "application/ai-catalog+json",
    "agentCard": "application/json",
    "cliPackage": "application/gzip",
    "openapi": "application/json",
}


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Returns redirects unfollowed: they point to the deployment's own host, which does not
    resolve here."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def send(url, method="GET", body=None, **headers):
    data = None if body is None else json.dumps({"jsonrpc": "2.0", "id": 1, **body}).encode()
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data, headers | ({"content-type": "application/json"} if data else {}), method=method)
    try:
        with OPENER.open(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def is_document(url, media_type):
    """Asserts that a document has its media type and a validator, by GET and by HEAD."""
    status, headers, body = send(url)
    assert (status, headers.get_content_type()) == (200, media_type) and body, f"{url}: {status} {headers}"
    assert headers["cache-control"].startswith("public"), f"{url}: {headers}"
    head = send(url, "HEAD")
    assert (head[0], head[1]["etag"], head[2]) == (200, headers["etag"], b""), f"HEAD {url}: {head}"
    assert send(url, if_none_match=headers["etag"])[0] == 304, url
    return body


def answers(api):
    """Asserts that the paths of all the site's URLs answer at the API's URL. The URLs themselves
    have the deployment's host, which does not resolve here."""
    site = json.loads(is_document(f"{api}/api/v1/site", "application/json"))["data"]
    resources = {name: url.removeprefix(site["url"]) for name, url in site["resources"].items()}
    assert resources.pop("mcp") == "/mcp"
    assert resources.keys() == RESOURCES.keys(), resources
    documents = {name: is_document(api + path, RESOURCES[name]) for name, path in resources.items()}
    for path, media_type in OTHERS.items():
        is_document(api + path, media_type)
    assert documents["cliPackage"].startswith(b"\x1f\x8b"), "the package arrives as bytes"
    assert site["url"] in documents["openapi"].decode()
    for path in ("/mcp", "/a2a"):
        status, headers, _ = send(api + path)
        assert (status, headers["allow"]) == (405, "POST"), f"{path}: {status} {headers}"
    for path, code in {"/none": "route_not_found", "/blog/none": "post_not_found", "/.well-known/none": "route_not_found", "/cli/none.tgz": "route_not_found"}.items():
        status, _, body = send(api + path)
        assert (status, json.loads(body)["error"]["code"]) == (404, code), path

    status, _, body = send(f"{api}/mcp", "POST", {"method": "tools/call", "params": {"name": "get_app", "arguments": {"appId": "notes"}}})
    assert status == 200 and json.loads(body)["result"]["structuredContent"]["data"]["id"] == "notes", body
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "mail scanner"}]}
    status, _, body = send(f"{api}/a2a", "POST", {"method": "SendMessage", "params": {"message": message}}, a2a_version="1.0")
    assert status == 200 and "codes-that-survive" in str(json.loads(body)["result"]["message"]), body
    return len(documents) + 1


def has_images(stack):
    """Asserts that the function serves a post's images and preview image from the bucket."""
    page = send(f"{stack.url}/blog/hello")[2].decode()
    shown = re.search(r'<img width="64" height="48" [^>]*src="(/images/[^"]+)"', page)[1]
    preview = re.search(r'property="og:image" content="[^"]*(/images/[^"]+)"', page)[1]
    for path in (shown, preview):
        stored = stack.aws("s3").get_object(Bucket=stack.output("ImagesBucket"), Key=path.removeprefix("/"))
        status, headers, body = send(stack.url + path)
        assert (status, body) == (200, stored["Body"].read()), f"{path}: {status}"
        assert (headers["content-type"], headers["cache-control"]) == (stored["ContentType"], stored["CacheControl"]) == ("image/png", "public, max-age=31536000, immutable")
    status, _, body = send(f"{stack.url}{shown.replace('64x48', '64x49')}")
    assert (status, json.loads(body)["error"]["code"]) == (404, "route_not_found"), status
