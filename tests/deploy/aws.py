"""The AWS CLI without long pauses between its questions."""

import sys

import quick
from awscli.clidriver import main

quick.answers()
sys.exit(main())
