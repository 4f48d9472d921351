"""The AWS CLI without long pauses between polls."""

import sys

import quick
from awscli.clidriver import main

quick.answers()
sys.exit(main())
