"""A program with the client of PyPI's `fastmcp`, which calls the tools of the server at RESOURCE. It
opens the browser that the variable BROWSER names. DOCUMENT is the URL of its metadata document; an
empty one makes it register itself. Prints what it got as JSON."""

import asyncio
import json
import os
import warnings

from fastmcp import Client
from fastmcp.client.auth import OAuth

# The tokens are only kept until the program ends.
warnings.filterwarnings("ignore", message="Using in-memory token storage")


async def main():
    oauth = OAuth(client_name="Scribe", client_metadata_url=os.environ["DOCUMENT"] or None)
    async with Client(os.environ["RESOURCE"], auth=oauth) as client:
        read = await client.call_tool("read_notes", {})
        first = oauth.context.current_tokens
        written = await client.call_tool("write_note", {"note": "Milk"})
        second = oauth.context.current_tokens
    got = {
        "client_id": oauth.context.client_info.client_id,
        "read": read.data,
        "written": written.data,
        "tokens": [first.access_token, second.access_token],
    }
    print(json.dumps(got), flush=True)


asyncio.run(main())
