"""Reads a site's documents with PyPI packages."""

import collections
import json
import pathlib
import urllib.request

import feedparser
import llms_txt
import lxml.etree
import openapi_spec_validator
import protego
import sectxt

ATOM = "{http://www.w3.org/2005/Atom}"
SCHEMAS = pathlib.Path(__file__).parent / "node_modules/sitemap/schema"


def fetched(site, path):
    with urllib.request.urlopen(site + path) as answer:
        return answer.read()


def read_feed(site):
    body = fetched(site, "/feed.xml")
    parsed = feedparser.parse(body)
    assert not parsed.bozo and len(parsed.entries) == 3, parsed
    feed = lxml.etree.fromstring(body)
    entries = list(feed.iter(f"{ATOM}entry"))
    # RFC 4287, sections 4.1.1 and 4.1.2: a feed or an entry contains exactly one of each of these
    # elements.
    for element in [feed, *entries]:
        count = collections.Counter(child.tag for child in element)
        assert all(count[ATOM + name] == 1 for name in ("id", "title", "updated")), lxml.etree.tostring(element)
        assert element.find(f"{ATOM}updated").text.endswith("Z"), lxml.etree.tostring(element)
        kinds = collections.Counter(link.get("rel") for link in element.findall(f"{ATOM}link"))
        assert kinds["alternate"] == 1, kinds
    assert feed.find(f"{ATOM}author/{ATOM}name").text
    assert feed.find(f"{ATOM}link[@rel='self']").get("href") == f"{site}/feed.xml"
    assert feed.find(f"{ATOM}updated").text == max(entry.find(f"{ATOM}updated").text for entry in entries)
    ids = [entry.find(f"{ATOM}id").text for entry in entries]
    assert len(set(ids)) == len(ids), ids


def read_sitemap(site):
    schema = lxml.etree.XMLSchema(lxml.etree.parse(SCHEMAS / "sitemap.xsd"))
    schema.assertValid(lxml.etree.fromstring(fetched(site, "/sitemap.xml")))


def read_robots(site):
    robots = protego.Protego.parse(fetched(site, "/robots.txt").decode())
    assert robots.can_fetch(f"{site}/blog/hello", "any") and not robots.can_fetch(f"{site}/api/v1/auth/sessions", "any")
    assert list(robots.sitemaps) == [f"{site}/sitemap.xml"]


def read_llms(site):
    parsed = llms_txt.parse_llms_file(fetched(site, "/llms.txt").decode())
    assert parsed.title and parsed.summary and {"Apps", "Posts", "API", "Optional"} <= set(parsed.sections), parsed
    links = [link for section in parsed.sections.values() for link in section]
    assert len(links) > 10 and all(link.title and link.url.startswith("http") for link in links), links


def read_openapi(site):
    openapi_spec_validator.validate(json.loads(fetched(site, "/openapi.json")))


def read_security(site):
    parsed = sectxt.Parser(fetched(site, "/.well-known/security.txt"))
    assert parsed.is_valid() and not parsed.errors, parsed.errors
    fields = {line["field_name"]: line["value"] for line in parsed.lines if line["type"] == "field"}
    assert fields.keys() == {"contact", "expires"} and fields["contact"] == "mailto:security@example.com", fields


def main(site):
    for read in (read_feed, read_sitemap, read_robots, read_llms, read_openapi, read_security):
        read(site)
        print(f"{read.__name__}: ok", flush=True)
