"""The emulator as a process, and a stack on it."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import boto3

NAME = "gatelet"
HERE = pathlib.Path(__file__).resolve().parent


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Emulator:
    """MiniStack on a free port, stopped at the end of the block."""

    def __init__(self, log):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        settings = {
            "GATEWAY_PORT": str(self.port),
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_REGION": os.environ["AWS_REGION"],
            # As on AWS, functions may do only what their roles allow. The access key `test` belongs
            # to the operator, who may do everything.
            "AUTH": "true",
            # Without this address, functions would connect to AWS itself.
            "AWS_ENDPOINT_URL": self.url,
            "LOG_LEVEL": "WARNING",
        }
        self.log = log
        with open(log, "wb") as out:
            command = [sys.executable, HERE / "emulator.py"]
            self.process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(log.parent), **settings}, stdout=out, stderr=out, cwd=log.parent)

    def __enter__(self):
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"{self.url}/_ministack/health", timeout=1)
                return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.end()
        raise SystemExit(f"MiniStack does not start: {self.log.read_text()[-3000:]}")

    def __exit__(self, kind, *_):
        self.end()
        if kind:
            print(self.log.read_text(errors="replace")[-8000:])

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Stack:
    """An operator's tools: `sam deploy`, and the stack's outputs."""

    def __init__(self, emulator, tools):
        self.endpoint = emulator.url
        self.tools = tools
        self.clients = {}
        self.outputs = None

    def aws(self, service):
        if service not in self.clients:
            self.clients[service] = boto3.client(service, endpoint_url=self.endpoint)
        return self.clients[service]

    def deploy(self, folder, **parameters):
        command = [self.tools / "python", HERE / "sam.py", "deploy", "--template", "infra/template.yaml", "--no-confirm-changeset", "--no-progressbar"]
        command += ["--parameter-overrides", *(f"{name}={value}" for name, value in parameters.items())]
        # `sam.py` keeps its archives in the temporary folder, where the next deployment finds them.
        environment = {**os.environ, "AWS_ENDPOINT_URL": self.endpoint, "TMPDIR": str(folder.parent), "SAM_CLI_POLL_DELAY": "0.2"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"sam deploy failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
        self.changed()

    def changed(self):
        """Clears the cached outputs after a deployment."""
        self.outputs = None

    def output(self, name):
        if not self.outputs:
            (stack,) = self.aws("cloudformation").describe_stacks(StackName=NAME)["Stacks"]
            assert stack["StackStatus"] in ("CREATE_COMPLETE", "UPDATE_COMPLETE"), stack["StackStatus"]
            self.outputs = {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}
        return self.outputs[name]

    @property
    def url(self):
        # Many machines do not resolve names below localhost, so the path of the URL names the API.
        api = self.output("ApiEndpoint").split("//")[1].split(".")[0]
        return f"{self.endpoint}/_aws/execute-api/{api}/$default"

    def secret(self):
        return self.aws("secretsmanager").get_secret_value(SecretId=self.output("SecretArn"))["SecretString"]

    def logged(self, group, name, value):
        """Waits for a log line with this value in its field; returns it."""
        for _ in range(1200):
            events = self.aws("logs").filter_log_events(logGroupName=f"/gatelet/prod/{group}")["events"]
            lines = [json.loads(event["message"]) for event in events if event["message"].startswith("{")]
            for line in lines:
                if line.get(name) == value:
                    return line
            time.sleep(0.1)
        raise AssertionError(f"no line of {group} has {name} {value}")

    def has_no_dead_letters(self):
        attributes = self.aws("sqs").get_queue_attributes(QueueUrl=self.output("DeadLetters"), AttributeNames=["All"])["Attributes"]
        assert attributes["ApproximateNumberOfMessages"] == "0", attributes
