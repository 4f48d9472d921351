"""Reads the documents of a gateway's site with the programs for which they are made."""

import asyncio
import collections
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

import feedparser
import llms_txt
import lxml.etree
import mcp
import openapi_spec_validator
import protego
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest
import httpx

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "abuse"))
from service import Service  # noqa: E402

ATOM = "{http://www.w3.org/2005/Atom}"
PAGES = ["/blog", "/apps", "/blog/hello", "/blog/one-table-is-enough", "/apps/notes"]


def fetched(site, path):
    with urllib.request.urlopen(site + path) as answer:
        return answer.read()


def read_feed(site):
    body = fetched(site, "/feed.xml")
    parsed = feedparser.parse(body)
    assert not parsed.bozo and len(parsed.entries) == 3, parsed
    feed = lxml.etree.fromstring(body)
    # RFC 4287, sections 4.1.1 and 4.1.2: each exactly once.
    for element in [feed, *feed.iter(f"{ATOM}entry")]:
        count = collections.Counter(child.tag for child in element)
        assert all(count[ATOM + name] == 1 for name in ("id", "title", "updated")), lxml.etree.tostring(element)
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None


def read_sitemap(site):
    schemas = FOLDER / "node_modules/sitemap/schema"
    schema = lxml.etree.XMLSchema(lxml.etree.parse(schemas / "sitemap.xsd"))
    schema.assertValid(lxml.etree.fromstring(fetched(site, "/sitemap.xml")))


def read_texts(site):
    robots = protego.Protego.parse(fetched(site, "/robots.txt").decode())
    assert robots.can_fetch(f"{site}/blog/hello", "any") and not robots.can_fetch(f"{site}/api/v1/auth/sessions", "any")
    assert list(robots.sitemaps) == [f"{site}/sitemap.xml"]
    parsed = llms_txt.parse_llms_file(fetched(site, "/llms.txt").decode())
    assert parsed.title and parsed.summary and {"Apps", "Posts", "API", "Optional"} <= set(parsed.sections), parsed
    openapi_spec_validator.validate(json.loads(fetched(site, "/openapi.json")))


async def call_tools(site):
    """This client speaks the newest revision, without a session."""
    async with mcp.Client(f"{site}/mcp") as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools][0] == "list_apps", tools
        found = await client.call_tool("search", {"query": "mail scanner"})
        assert "codes-that-survive" in found.structured_content["data"][0]["url"], found
        missing = await client.call_tool("get_app", {"appId": "none"})
        assert missing.is_error


async def ask_agent(site):
    async with httpx.AsyncClient() as client:
        card = await A2ACardResolver(client, site).get_agent_card()
        agent = ClientFactory(ClientConfig(httpx_client=client, streaming=False)).create(card)
        message = Message(message_id="m1", role=Role.ROLE_USER, parts=[Part(text="Which apps are there?")])
        replies = [reply async for reply in agent.send_message(SendMessageRequest(message=message))]
        assert "Notes" in str(replies[0]), replies


def run_tool(site):
    """npx runs the package of the site; its exit status tells a failure from wrong use."""
    def status(*words):
        done = subprocess.run(["npx", "--yes", f"{site}/cli/site.tgz", *words], capture_output=True, text=True, cwd=tempfile.gettempdir())
        return done.returncode, done.stdout + done.stderr

    code, shown = status("list-apps")
    assert code == 0 and "displayName: Notes" in shown, shown
    code, shown = status("get-app", "notes", "--json")
    assert code == 0 and json.loads(shown)["data"]["id"] == "notes", shown
    assert status("get-app", "none")[0] == 1 and status("frobnicate")[0] == 2


def main(gateway):
    with Service(gateway) as service:
        site = f"http://localhost:{service.port}"
        for read in (read_feed, read_sitemap, read_texts, run_tool):
            read(site)
            print(f"{read.__name__}: ok")
        asyncio.run(call_tools(site))
        asyncio.run(ask_agent(site))
        subprocess.run(["node", FOLDER / "read.mjs", site, *PAGES], check=True)
    print("1 passed, 0 failed")


main(sys.argv[1])
