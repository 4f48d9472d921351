"""Lets an AWS program poll without its pauses of up to half a minute. The pauses help to stay
within AWS's request limits, which an emulator does not have."""

import types

import botocore.waiter

#: Seconds between two questions.
PAUSE = 0.2


def answers():
    clock = botocore.waiter.time
    botocore.waiter.time = types.SimpleNamespace(sleep=lambda seconds: clock.sleep(min(seconds, PAUSE)))
