"""Deploys an older version, uses it, deploys the checked-in one over it, and checks for losses;
see `run`."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import content
import older
import webhook
from client import Client
from runbook import Shell, blocks
from stack import Emulator, Stack

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from pictures import with_image  # noqa: E402

TARGET, TOOLS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
#: A domain that SES has verified.
SENDER = "gatelet.example"
START = time.monotonic()


def step(text):
    print(f"== {text} ({time.monotonic() - START:.0f} s)", flush=True)


def strip_functions(folder):
    """Strips the symbols, nine tenths of a debug build."""
    folder.mkdir()
    crates = [*(ROOT / "functions").iterdir(), ROOT / "infra" / "registry"]
    names = sorted(source.stem for crate in crates for source in crate.glob("src/bin/*.rs"))
    strip = lambda name: subprocess.run(["strip", "-o", folder / name, TARGET / "debug" / name], check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(strip, names))


def lay_out(folder, functions):
    """Copies the checked-in templates, and links the functions where they expect them."""
    shutil.copytree(ROOT / "infra" / "stacks", folder / "infra" / "stacks")
    shutil.copy(ROOT / "infra" / "template.yaml", folder / "infra")
    shutil.copy(ROOT / "infra" / "samconfig.toml", folder / "infra")
    for file in sorted(functions.iterdir()):
        function = folder / "target" / "lambda" / file.name
        function.mkdir(parents=True)
        os.link(file, function / "bootstrap")


def gateway(stack, *arguments, check=True):
    command = [TARGET / "debug" / "gateway", *arguments, "--table", stack.output("TableName")]
    environment = {**os.environ, "AWS_ENDPOINT_URL": stack.endpoint, "GATELET_SECRET": stack.secret()}
    return subprocess.run(command, env=environment, check=check, capture_output=True, text=True)


def new_project(stack, name):
    keys = gateway(stack, "project", "create", name).stdout
    keys = dict(line.split("=", 1) for line in keys.splitlines())
    # The provider's secret is stored sealed, so it must be resealed when the deployment secret is
    # rotated.
    provider = 'config.oauth_providers=[{"id": "github", "client_id": "rehearsal", "client_secret": "of a provider"}]'
    gateway(stack, "project", "set", keys["GATELET_PROJECT_ID"], "config.allow_localhost=true", provider)
    return keys


def parameters(**changed):
    """The stack's parameters. Rate limits are off, because all requests come from one IP
    address here. Projects and keys are not cached, because the SDK's tests expect that a revoked
    key stops working immediately."""
    return {"Limits": "off", "ProjectCacheSeconds": "0", "Architecture": "x86_64", "Sender": f"noreply@{SENDER}", "SenderIdentity": SENDER, **changed}


def asked(stack, path):
    """Status, headers and body of the response to a GET."""
    try:
        with urllib.request.urlopen(stack.url + path, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def has_console(stack):
    answered = content.send(f"{stack.url}/console")
    assert (answered[0], answered[1]["location"]) == (307, "/console/home"), answered
    status, headers, page = asked(stack, "/console/home")
    assert status == 200 and "script-src 'self'" in headers["content-security-policy"], f"{status} {headers}"
    modules = re.findall(r'"(/console/assets/[^"]+)"', page)
    assert len(modules) == 6, modules
    for module in modules:
        status, headers, _ = asked(stack, module)
        assert status == 200 and "immutable" in headers["cache-control"], f"{module}: {status} {headers}"


def rehearse(folder, stack):
    stack.aws("sesv2").create_email_identity(EmailIdentity=SENDER)
    step("sam deploy: an older version")
    old, new = folder / "older", folder / "new"
    strip_functions(folder / "functions")
    lay_out(old, folder / "functions")
    lay_out(new, folder / "functions")
    older.make(old)
    stack.deploy(old, **parameters(AccessTokenSeconds="900"))
    client = Client(stack, new_project(stack, "Rehearsal"))
    assert older.answers(client)
    kept = client.use()
    client.has_tokens_of(seconds=900)

    step("sam deploy: the checked-in version over it")
    # The older version does not contain the function behind `/console`, so the fallback responds
    # with 405.
    for path, expected in [("/console", 405), ("/console/projects", 404)]:
        status, _, page = asked(stack, path)
        assert status == expected, f"the console is off by default, but {path} answers {status}: {page}"
    stack.deploy(new, **parameters(AccessTokenSeconds="600", Console="on"))
    assert not older.answers(client)
    has_console(stack)
    client.has_tokens_of(seconds=600)
    client.has_kept(kept)
    client.loses_no_mail()
    client.has_one_id_for_a_request()
    return client


def replace_secret(stack, shell, client):
    step("the runbook: replacing the deployment secret")
    announce, use, reseal, forget = blocks("Replacing the deployment secret")
    old = client.sign_in("ada@example.com")
    (key,) = client.keys_published()

    shell.run(announce)
    assert len(client.keys_published()) == 2 and client.keys_published()[0] == key, client.keys_published()
    shell.run(use)
    new = client.sign_in("ada@example.com")
    for token in (old["access_token"], new["access_token"]):
        client.ok("GET", "/api/v1/users/me", access_token=token)
    # Values that the SDK's suite has stored are also resealed; a second run finds nothing to
    # reseal.
    resealed = shell.run(reseal)
    assert "Resealed: 0;" not in resealed and "with the current secret: 0" in resealed, resealed
    resealed = shell.run(reseal)
    assert "Resealed: 0;" in resealed, resealed
    shell.run(forget)
    (current,) = client.keys_published()
    assert current != key
    client.ok("GET", "/api/v1/users/me", access_token=new["access_token"])
    status, body = client.send("GET", "/api/v1/users/me", access_token=old["access_token"])
    assert (status, body["code"]) == (401, "UNPARSABLE_ACCESS_TOKEN"), f"{status} {body}"
    # Everyone stays signed in, because refresh tokens from before the replacement still work.
    client.ok("POST", "/api/v1/auth/sessions/current/refresh", {}, refresh_token=old["refresh_token"])


def restore(stack, shell, client):
    step("the runbook: restoring the table")
    copy, switch = blocks("Restoring the table")
    client.sign_up("before@example.com")
    table = stack.output("TableName")
    shell.run(f"moment={time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n{copy}")
    client.sign_up("after@example.com")
    shell.run(switch)
    stack.changed()
    assert stack.output("TableName") not in (table, ""), "the stack works on the restored table"
    client.sign_in("before@example.com")
    status, body = client.send("POST", "/api/v1/auth/password/sign-in", {"email": "after@example.com", "password": "correct horse battery"})
    assert (status, body["code"]) == (400, "EMAIL_PASSWORD_MISMATCH"), f"{status} {body}"
    # The damaged table still exists.
    assert stack.aws("dynamodb").describe_table(TableName=table)["Table"]["ItemCount"] > 0


def internal(stack):
    step("the project internal")
    lines = gateway(stack, "project", "create", "--internal").stdout.splitlines()
    keys = dict(line.split("=", 1) for line in lines)
    keys = {"GATELET_PROJECT_ID": "internal", "GATELET_PUBLISHABLE_CLIENT_KEY": keys["GATELET_INTERNAL_CLIENT_KEY"]}
    status, body = Client(stack, keys).send("POST", "/api/v1/auth/password/sign-up", {"email": "eve@example.com", "password": "correct horse battery"})
    assert (status, body["code"]) == (400, "SIGN_UP_NOT_ENABLED"), f"{status} {body}"


def site(stack):
    step("the site")
    with tempfile.TemporaryDirectory() as folder:
        sample = with_image(ROOT / "infra/gateway/sample", pathlib.Path(folder))
        done = gateway(stack, "content", "publish", sample, check=False)
        assert done.returncode == 1 and "--images" in done.stderr, f"images need a bucket: {done}"
        publish = ["content", "publish", sample, "--images", stack.output("ImagesBucket")]
        assert " images stored, 0 deleted" in gateway(stack, *publish).stdout
        assert "Nothing has changed" in gateway(stack, *publish).stdout
    assert content.answers(stack.url) == 11
    content.has_images(stack)


def doctor(stack):
    step("gateway doctor")
    asked = ["--api-url", stack.url, "--sender", SENDER, "--configuration-set", stack.output("ConfigurationSet")]
    done = gateway(stack, "doctor", *asked, check=False)
    print(done.stdout, done.stderr, flush=True)
    # MiniStack's CloudFormation does not support the expiry and the backups of a table.
    fine = all(line.startswith("ok ") or line.split()[1] in ("expiry", "backups") for line in done.stdout.splitlines())
    assert done.returncode == 0 and fine, "a deployment of the template passes"
    done = gateway(stack, "doctor", "--sender", "nobody.example", check=False)
    assert done.returncode == 1 and "nobody.example are rejected" in done.stdout, done.stdout


def sdk(stack):
    step("the published SDK against the deployment")
    # One file sets limits, one puts a proxy in front of the service, and two make the service call
    # a local address. Each of them needs a separate gateway.
    suite = [file.name for file in sorted((ROOT / "tests/sdk/suite").glob("*.test.js")) if file.name not in ("limits.test.js", "retry.test.js", "test-email.test.js", "webhooks.test.js")]
    settings = {
        "DEPLOYMENT": stack.url,
        "DEPLOYMENT_TABLE": stack.output("TableName"),
        "DEPLOYMENT_MAILS": f"{stack.endpoint}/_ministack/ses/messages",
        "AWS_ENDPOINT_URL": stack.endpoint,
        "GATELET_SECRET": stack.secret(),
        "GATEWAY": str(TARGET / "debug" / "gateway"),
        "VERSIONS": "2.8.108",
    }
    subprocess.run([ROOT / "tests/sdk/run", *(f"suite/{name}" for name in suite)], env={**os.environ, **settings}, check=True)


def main():
    # On SIGTERM, exit normally, so that everything that was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with Emulator(folder / "emulator.log") as emulator:
            stack = Stack(emulator, TOOLS)
            client = rehearse(folder, stack)
            internal(stack)
            site(stack)
            doctor(stack)
            step("a webhook, with a retry")
            webhook.is_delivered(stack, client)
            sdk(stack)
            with Shell(stack, TOOLS, folder / "new", folder, TARGET / "debug" / "gateway") as shell:
                for block in blocks("Deploying"):
                    shell.run(block)
                replace_secret(stack, shell, client)
                restore(stack, shell, client)
            stack.has_no_dead_letters()
    step("the rehearsal has succeeded")


main()
