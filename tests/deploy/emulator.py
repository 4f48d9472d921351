"""MiniStack, with what its CloudFormation leaves out of nested stacks put back.

A nested stack of AWS is a stack like any other. MiniStack 1.5.33 does three things for the root alone: it applies the transforms, it
resolves the references to Secrets Manager, and it remembers at an update what a resource that did not change has told of itself.
Here its own functions for these do the same for the nested stacks. Where roles are in force, it asks for SendEmail on everything, and AWS
for SendEmail on the sender's identity.
"""

import email.utils
import json

from ministack import app
from ministack.core import iam_actions
from ministack.services.cloudformation import _stacks, engine, provisioners

read_template, resolve_refs = engine._parse_template, engine._resolve_refs
deploy, update = provisioners._cfn_nested_stack_deploy, provisioners._update_resource
resource = iam_actions._ses_v2_resource_arn


def transformed(body):
    return engine._apply_transforms(read_template(body))


def resolved(*arguments):
    return engine._resolve_dynamic_references(resolve_refs(*arguments))[0]


def deploy_nested(*arguments, **options):
    # They are imported by each call, so they are exchanged for its duration; a stack is deployed by one thread.
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


iam_actions._ses_v2_resource_arn = resource_of_mail
provisioners._cfn_nested_stack_deploy, provisioners._update_resource = deploy_nested, update_nested
app.main()
