"""Publishes a large blog, and times publications and requests over HTTP.

    python3 tests/benches/content.py GATEWAY [POSTS]

GATEWAY is a gateway's binary, such as target/gateway/gateway after
`cargo build --profile gateway -p gateway`. Only contacts 127.0.0.1.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from measure import resident_megabytes, start, stop

PORT = 8793
BASE = f"http://127.0.0.1:{PORT}"
PATHS = ["/api/v1/blog-posts", "/blog", "/feed.xml", "/sitemap.xml", "/llms.txt", "/llms-full.txt", "/docs", "/blog/post-5000", "/api/v1/site"]
WORDS = "The quick brown fox jumps over the lazy dog while nobody watches. "
REPETITIONS = 5


def post(number):
    """A post of 3 KB with a unique title and time."""
    day, minute = divmod(number, 1440)
    date = f"20{10 + day // 28 // 12:02}-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}T{minute // 60:02}:{minute % 60:02}:00Z"
    return f'+++\ntitle = "Post number {number}"\npublished_at = {date}\n+++\n# Post number {number}\n\n{WORDS * 45}\n'


def publish(gateway, data, site, what):
    began = time.perf_counter()
    said = subprocess.run([gateway, "content", "publish", site, "--data", data], check=True, capture_output=True, text=True).stdout
    written = re.search(r"(\d+) items written", said)
    print(f"| {what} | {time.perf_counter() - began:.1f} s | {written.group(1) if written else 0} |")


def fetch(path):
    with urllib.request.urlopen(BASE + path) as answer:
        return answer.read()


def main():
    gateway, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        data, site = f"{folder}/data", pathlib.Path(folder, "site")
        (site / "blog").mkdir(parents=True)
        (site / "site.toml").write_text('name = "Large"\ndescription = "A large blog."\n', encoding="utf-8")
        for number in range(count):
            (site / "blog" / f"post-{number}.md").write_text(post(number), encoding="utf-8")
        process, _ = start(gateway, data, PORT)
        try:
            print(f"| publication of {count} posts | time | items written |\n|---|---|---|")
            publish(gateway, data, site, "all posts")
            publish(gateway, data, site, "the same again")
            changed = site / "blog" / f"post-{count // 2}.md"
            changed.write_text(changed.read_text(encoding="utf-8") + "\nAnother sentence.\n", encoding="utf-8")
            publish(gateway, data, site, "one changed post")
            (site / "blog" / "new.md").write_text(post(count), encoding="utf-8")
            publish(gateway, data, site, "one new post")
            began = time.perf_counter()
            subprocess.run([gateway, "content", "rollback", "--data", data], check=True, capture_output=True)
            print(f"| rollback | {time.perf_counter() - began:.1f} s | 2 |")
            print("\n| path | size | time |\n|---|---|---|")
            for path in PATHS:
                times = []
                for _ in range(REPETITIONS):
                    began = time.perf_counter()
                    size = len(fetch(path))
                    times.append((time.perf_counter() - began) * 1000)
                print(f"| `{path}` | {size / 1024:,.0f} KB | {statistics.median(times):.0f} ms |")
            print(f"\nmemory afterwards: {resident_megabytes(process):.0f} MB")
        finally:
            stop(process)


if __name__ == "__main__":
    main()
