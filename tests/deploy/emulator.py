"""MiniStack, with the nested stacks that its CloudFormation handles incompletely.

On AWS a nested stack is a stack like any other. MiniStack 1.5.33 does three things only for the
root: applying the transforms, resolving references to Secrets Manager, and keeping the attributes
of unchanged resources on updates. Here nested stacks get the same. When roles are enforced,
MiniStack requires permission to call SendEmail on every resource; here, as on AWS, permission for
the sender's identity is enough. Conditions on `dynamodb:LeadingKeys` are evaluated, and the HTTP
API writes the access log that its stage defines. MiniStack speaks plain HTTP; here every request
counts as sent over TLS, which policies require. A minute of a schedule takes six seconds.
"""

import email.utils
import json
import re
import time

from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.services import apigateway, cloudwatch_logs, eventbridge, lambda_svc
from ministack.services.cloudformation import _stacks, engine, provisioners

read_template, resolve_refs = engine._parse_template, engine._resolve_refs
deploy, update = provisioners._cfn_nested_stack_deploy, provisioners._update_resource
resource = iam_actions._ses_v2_resource_arn
seconds_of_rate = eventbridge._parse_rate_seconds
context_of_table, run_function = iam_actions.dynamodb_service_context, apigateway.run_reentrant


def transformed(body):
    return engine._apply_transforms(read_template(body))


def resolved(*arguments):
    return engine._resolve_dynamic_references(resolve_refs(*arguments))[0]


def deploy_nested(*arguments, **options):
    # A deployment imports these functions when it starts, so they are replaced while a deployment
    # is running. A stack and its nested stacks are deployed by the same thread, one after another.
    engine._parse_template, engine._resolve_refs = transformed, resolved
    try:
        return deploy(*arguments, **options)
    finally:
        engine._parse_template, engine._resolve_refs = read_template, resolve_refs


def update_nested(kind, physical_id, old, new, stack, logical_id=None, attributes=None):
    known = attributes or _stacks.get(stack, {}).get("_resources", {}).get(logical_id, {}).get("Attributes") or {}
    physical_id, changed = update(kind, physical_id, old, new, stack, logical_id, known)
    return physical_id, {**known, **changed}


def resource_of_mail(method, path, body, region, account):
    if path.rstrip("/") != "/v2/email/outbound-emails":
        return resource(method, path, body, region, account)
    sender = email.utils.parseaddr(json.loads(body)["FromEmailAddress"])[1]
    return f"arn:aws:ses:{region}:{account}:identity/{sender.partition('@')[2]}"


def leading_keys(value):
    """A request's partition keys: in the keys of items, in items to put, and in queries."""
    if isinstance(value, list):
        return [key for item in value for key in leading_keys(item)]
    if not isinstance(value, dict):
        return []
    own = [value[name]["S"] for name in ("pk", ":pk") if isinstance(value.get(name), dict) and "S" in value[name]]
    return own + [key for item in value.values() for key in leading_keys(item)]


def context_with_keys(body):
    keys = leading_keys(json.loads(body or b"{}"))
    return context_of_table(body) | ({"dynamodb:LeadingKeys": keys} if keys else {})


async def run_logged(function, record, event, **options):
    began = time.monotonic()
    result = await run_function(function, record, event, **options)
    context = event.get("requestContext", {})
    if "apiId" in context and "routeKey" in event:
        answer, _ = lambda_svc.lambda_execute_result_to_api_proxy_response(result)
        log_access(context, answer.get("statusCode", 200), int((time.monotonic() - began) * 1000))
    return result


def log_access(context, status, latency):
    """Writes an access log line in the stage's format, if the stage has a log."""
    settings = apigateway._stages[context["apiId"]][context["stage"]].get("accessLogSettings")
    if not settings:
        return
    values = {
        "requestId": context["requestId"],
        "requestTimeEpoch": context["timeEpoch"],
        "httpMethod": context["http"]["method"],
        "path": context["http"]["path"],
        "routeKey": context["routeKey"],
        "status": status,
        "responseLatency": latency,
        "integrationLatency": latency,
        "identity.sourceIp": context["http"]["sourceIp"],
    }
    # API Gateway writes a dash for unknown values.
    line = re.sub(r"\$context\.([A-Za-z.]+)", lambda name: str(values.get(name[1], "-")), settings["format"])
    group = settings["destinationArn"].split(":log-group:")[1].removesuffix(":*")
    cloudwatch_logs._create_log_stream({"logGroupName": group, "logStreamName": "api"})
    cloudwatch_logs._put_log_events({"logGroupName": group, "logStreamName": "api", "logEvents": [{"timestamp": int(time.time() * 1000), "message": line}]})


def shortened(rate):
    seconds = seconds_of_rate(rate)
    return seconds and seconds / 10


def pin_origin(address, _):
    iam_evaluator.pin_request_origin(address, True)


app.pin_request_origin = pin_origin
eventbridge._parse_rate_seconds, eventbridge._SCHEDULER_TICK_INTERVAL = shortened, 1
iam_actions.dynamodb_service_context, apigateway.run_reentrant = context_with_keys, run_logged
iam_actions._ses_v2_resource_arn = resource_of_mail
provisioners._cfn_nested_stack_deploy, provisioners._update_resource = deploy_nested, update_nested
app.main()
