"""Prints sentences of the repository drawn at random, for an editor who has not written them:

    python3 tests/docs/sample.py SEED [COUNT]

The same seed draws the same sentences from the same tree. They come in equal parts from comments,
documents, texts of errors and hints, and texts of the console and the command line.
"""

import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMENT = re.compile(r"^\s*(?://[/!]?|#) (.*)$")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
#: Where a sentence ends. Abbreviations are followed by a lower-case letter.
END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\[“])")
MIN_WORDS = 5


def files(*patterns: str) -> list[Path]:
    names = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name]


def paragraphs(lines: list[tuple[int, str]]):
    """Joins consecutive lines; each paragraph with the number of its first line."""
    start, text, last = 0, [], 0
    for number, line in [*lines, (0, "")]:
        if text and (number != last + 1 or not line.strip() or re.match(r"[-*#|\d]", line)):
            yield start, " ".join(text)
            text = []
        if line.strip():
            start = start if text else number
            text.append(line.strip())
        last = number


def sentences(path: Path, lines: list[tuple[int, str]]):
    for number, text in paragraphs(lines):
        for sentence in END.split(text):
            if len(sentence.split()) >= MIN_WORDS:
                yield f"{path.relative_to(ROOT)}:{number}", sentence


def comments(path: Path):
    matches = [(number, COMMENT.match(line)) for number, line in enumerate(path.read_text().splitlines(), 1)]
    return sentences(path, [(number, match[1]) for number, match in matches if match])


def document(path: Path):
    fenced, lines = False, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fenced ^= line.startswith("```")
        if not fenced and not line.startswith(("```", "|", "<")):
            lines.append((number, line))
    return sentences(path, lines)


def quoted(path: Path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not COMMENT.match(line):
            for text in QUOTED.findall(line):
                yield from sentences(path, [(number, text)])


#: Each kind of prose: the files that have it, and how to find it in a file.
KINDS = [
    (files("*.rs", "*.js", "*.py", "*.sh"), comments),
    (files("*.md", ":!infra/*costs*", ":!docs/errors.md", ":!docs/all-operations.md"), document),
    (files("shared/errors/src/*.rs", "shared/api/src/content/error.rs", "shared/model/src/*.rs", "infra/gateway/src/cli/*.rs"), quoted),
    (files("infra/console/web/texts*.js", "infra/gateway/src/cli/**/*.rs"), quoted),
]


def main() -> None:
    seed, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    drawn = random.Random(seed)
    for paths, find in KINDS:
        found = sorted({sentence for path in paths for sentence in find(path)})
        for place, sentence in drawn.sample(found, count // len(KINDS)):
            print(f"{place}\n  {sentence}")


if __name__ == "__main__":
    main()
