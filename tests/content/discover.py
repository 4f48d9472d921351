"""Finds everything a site offers from its URL, and fetches or calls all of it.

    python3 tests/content/discover.py http://localhost:8787

Starts with nothing but well-known paths. Fails if a document, link, operation, tool or agent does
not answer as described.
"""

import asyncio
import html.parser
import json
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

import a2a.client
import a2a.types
import httpx
import mcp

# The paths that RFC 9309, RFC 9727, the AI catalog and A2A define.
WELL_KNOWN = ["/robots.txt", "/.well-known/api-catalog", "/.well-known/ai-catalog.json", "/.well-known/agent-card.json"]
URL = re.compile(r"https?://[^\s\"'<>()\[\]\\`]+")
COMPARED = ["content-type", "content-length", "etag", "last-modified", "cache-control", "link", "content-security-policy"]


class Answer:
    def __init__(self, url, method="GET", body=None, headers=None):
        request = urllib.request.Request(url, body, headers or {}, method=method)
        try:
            found = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            found = error
        with found:
            self.url, self.status, self.headers, self.body = url, found.status, found.headers, found.read()

    @property
    def kind(self):
        return self.headers.get_content_type()

    @property
    def text(self):
        return self.body.decode()


class Hyperlinks(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.add(attributes.get("id"))
        self.found += [attributes[name] for name in ("href", "src", "action") if attributes.get(name)]
        if tag == "meta" and attributes.get("property") in ("og:url", "og:image"):
            self.found.append(attributes["content"])


def strings(value):
    """A JSON value's texts."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from strings(inner)


def links(answer):
    """A document's link targets, as written there."""
    yield from re.findall(r"<([^>]+)>", answer.headers.get("link") or "")
    if answer.kind == "text/html":
        yield from Hyperlinks(answer.text).found
    elif answer.kind.endswith("json"):
        # URLs in the description of an API are examples and lead nowhere.
        document = json.loads(answer.body)
        if "openapi" not in document:
            yield from (text for text in strings(document) if re.fullmatch(URL, text))
    elif answer.kind.endswith("xml"):
        for element in xml.etree.ElementTree.fromstring(answer.body).iter():
            yield from (text for text in [element.text or "", *element.attrib.values()] if re.fullmatch(URL, text.strip()))
    elif answer.kind in ("text/plain", "text/markdown"):
        yield from (text.rstrip(".,:;") for text in URL.findall(answer.text))


class Site:
    """Every document that can be reached on the site, and what the documents describe."""

    def __init__(self, url):
        self.url, self.answers, self.linked_from, self.broken = url.rstrip("/"), {}, {}, []
        # Pages that require a key, such as the inbox of a local gateway.
        self.private = []
        waiting = [self.url + path for path in WELL_KNOWN]
        while waiting:
            url = waiting.pop()
            if url not in self.answers:
                self.answers[url] = answer = Answer(url)
                waiting += [target for target in self.targets(answer) if target not in self.answers]
        self.check_anchors()

    def targets(self, answer):
        for link in links(answer):
            url, anchor = urllib.parse.urldefrag(urllib.parse.urljoin(answer.url, link))
            if url == self.url or url.startswith(self.url + "/"):
                self.linked_from.setdefault(url, []).append((answer.url, anchor))
                yield url

    def check_anchors(self):
        for url, sources in self.linked_from.items():
            if self.answers[url].kind == "text/html":
                anchors = Hyperlinks(self.answers[url].text).anchors
                self.broken += [f"{source}: {url} has no #{anchor}" for source, anchor in sources if anchor and anchor not in anchors]

    def named(self, kind):
        """The JSON documents of this media type."""
        return [json.loads(answer.body) for answer in self.answers.values() if answer.status == 200 and answer.kind == kind]

    def having(self, *fields):
        """The JSON documents with these fields."""
        documents = self.named("application/json")
        return [document for document in documents if isinstance(document, dict) and all(field in document for field in fields)]

    def check_documents(self, endpoints):
        """Asserts that documents answer 200, with the same headers to HEAD, and that endpoints
        accept only POST. Collects private pages."""
        for url, answer in self.answers.items():
            source = self.linked_from.get(url, [("discovery", "")])[0][0]
            if url in endpoints:
                assert (answer.status, answer.headers["allow"]) == (405, "POST"), f"{url}: {answer.status}"
            elif answer.status == 403:
                self.private.append(url.removeprefix(self.url))
            elif answer.status != 200:
                self.broken.append(f"{source}: {url} answers {answer.status}")
            else:
                head = Answer(url, "HEAD")
                differing = [name for name in COMPARED if head.headers[name] != answer.headers[name]]
                if head.status != 200 or head.body or differing or answer.headers["content-length"] != str(len(answer.body)):
                    self.broken.append(f"{url}: HEAD differs: {head.status} {differing}")
        assert not self.broken, "\n".join(self.broken)


def fitting(schema, known):
    """Arguments for a tool: for each required property, a known value by this name, or else a
    title's last word."""
    def value(name):
        fits = [text for key, text in known if name.lower().endswith(key.lower())]
        return fits[0] if fits else next(text for key, text in known if key == "title").split()[-1]

    return {name: value(name) for name in schema.get("required", [])}


def fields(value):
    """Names and values of a JSON value's texts."""
    if isinstance(value, dict):
        yield from ((key, inner) for key, inner in value.items() if isinstance(inner, str))
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from fields(inner)


async def call_server(url):
    """Calls each tool of an MCP server and reads each resource."""
    async with mcp.Client(url) as client:
        tools = sorted((await client.list_tools()).tools, key=lambda tool: len(tool.input_schema.get("required", [])))
        known = []
        for tool in tools:
            result = await client.call_tool(tool.name, fitting(tool.input_schema, known))
            assert not result.is_error and result.structured_content["data"], f"{tool.name}: {result}"
            known += fields(result.structured_content)
        resources = (await client.list_resources()).resources
        for resource in resources:
            read = (await client.read_resource(resource.uri)).contents[0]
            assert read.text == Answer(str(resource.uri)).text and read.mime_type == resource.mime_type, resource
        for template in (await client.list_resource_templates()).resource_templates:
            uri = re.sub(r"\{(\w+)\}", lambda name: fitting({"required": [name[1]]}, known)[name[1]], template.uri_template)
            assert (await client.read_resource(uri)).contents[0].text, uri
        return len(tools), len(resources)


async def ask_agent(site, card):
    """Sends an agent the example questions of its card; returns their number."""
    async with httpx.AsyncClient() as connection:
        card = await a2a.client.A2ACardResolver(connection, site).get_agent_card()
        agent = a2a.client.ClientFactory(a2a.client.ClientConfig(httpx_client=connection, streaming=False)).create(card)
        examples = [example for skill in card.skills for example in skill.examples]
        for example in examples:
            message = a2a.types.Message(message_id="m1", role=a2a.types.Role.ROLE_USER, parts=[a2a.types.Part(text=example)])
            async for reply in agent.send_message(a2a.types.SendMessageRequest(message=message)):
                assert site in str(reply), f"{example}: {reply}"
        return len(examples)


def call_operations(description):
    """Calls every operation of an API without credentials, with examples as path parameters, no
    query and, unless the method is GET, an empty object as the body. Each must answer with a
    described status. Returns how many there are, and how many succeeded."""
    succeeded, count = 0, 0
    for path, item in description["paths"].items():
        for method, operation in item.items():
            if method not in ("get", "put", "post", "patch", "delete"):
                continue
            count += 1
            server = (operation.get("servers") or item.get("servers") or description["servers"])[0]["url"]
            parameters = [*item.get("parameters", []), *operation.get("parameters", [])]
            examples = {one["name"]: str(one.get("example") or one["schema"].get("example") or "x") for one in parameters if one["in"] == "path"}
            url = server + re.sub(r"\{(\w+)\}", lambda name: urllib.parse.quote(examples[name[1]], safe=""), path)
            answer = Answer(url, method.upper(), None if method == "get" else b"{}", {"content-type": "application/json"})
            documented = operation["responses"]
            assert str(answer.status) in documented, f"{method} {url}: {answer.status} {answer.text[:300]}, documented: {[*documented]}"
            succeeded += answer.status < 300
    return count, succeeded


def run_tool(package):
    """Runs each command in a command-line tool's help."""
    def run(*words):
        done = subprocess.run(["npx", "--yes", package, *words], capture_output=True, text=True, cwd=tempfile.gettempdir(), check=True)
        return done.stdout

    commands = re.findall(r"^  ([a-z]\S+(?: [A-Z]+)?)  ", run("--help"), re.MULTILINE)
    assert commands
    known = []
    for command in sorted(commands, key=lambda command: command.count(" ")):
        name, *wanted = command.split()
        shown = json.loads(run(name, *fitting({"required": wanted}, known).values(), "--json"))
        known += fields(shown)
        assert shown["data"], command
    return len(commands)


def main(url):
    site = Site(url)
    cards = site.named("application/mcp-server-card+json")
    servers = [remote["url"] for card in cards for remote in card["remotes"]]
    agents = site.having("supportedInterfaces", "skills")
    interfaces = [interface["url"] for card in agents for interface in card["supportedInterfaces"]]
    assert servers and interfaces
    site.check_documents({*servers, *interfaces})
    print(f"{len(site.answers)} documents and pages answer; private: {', '.join(sorted(site.private)) or 'none'}")
    for server in servers:
        tools, resources = asyncio.run(call_server(server))
        print(f"{server}: {tools} tools, {resources} resources")
    for card in agents:
        print(f"{card['name']}: {asyncio.run(ask_agent(site.url, card))} questions answered")
    descriptions = site.having("openapi", "paths")
    assert descriptions
    for description in descriptions:
        count, succeeded = call_operations(description)
        print(f"{description['info']['title']}: {count} operations answer as described, {succeeded} without credentials")
    packages = [answer.url for answer in site.answers.values() if answer.kind == "application/gzip"]
    assert packages
    for package in packages:
        print(f"{package}: {run_tool(package)} commands")
    return site


if __name__ == "__main__":
    main(sys.argv[1])
