"""SAM CLI with its archives packed quickly: these are a hundred large debug builds, twice, that go no further than this machine."""

import zipfile

from samcli.cli.main import cli

zipfile.ZipFile.__init__.__defaults__ = (*zipfile.ZipFile.__init__.__defaults__[:-1], 1)
cli(prog_name="sam")
