"""A site with an image, for the suites that need one."""

import pathlib
import shutil
import struct
import zlib


def png(width, height, colour):
    """A picture of one color."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def with_image(sample, folder):
    """Copies the sample content into the folder, and adds an image to its first post."""
    site = pathlib.Path(folder) / "site"
    shutil.copytree(sample, site)
    (site / "images").mkdir()
    (site / "images" / "gate.png").write_bytes(png(64, 48, (10, 92, 90)))
    with open(site / "blog" / "hello.md", "a") as post:
        post.write("\n![A teal gate](../images/gate.png)\n")
    return site
