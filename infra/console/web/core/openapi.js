// The API's description, which is read once.

let reading;

/** The OpenAPI document of this service. */
export function document() {
  reading ??= fetch("/openapi.json").then((answer) => {
    if (!answer.ok) throw new Error(`/openapi.json: ${answer.status}`);
    return answer.json();
  });
  reading.catch(() => {
    reading = undefined;
  });
  return reading;
}

/** All operations of a document, in its order. */
export function operations(document) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ["get", "post", "put", "patch", "delete"].includes(method))
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path, id: operation.operationId })),
  );
}

/** A schema with references resolved to a depth, which also ends cycles. */
export function resolved(document, schema, depth = 6) {
  if (!schema || depth === 0) return {};
  if (schema.$ref)
    return {
      ...resolved(document, document.components.schemas[schema.$ref.split("/").pop()], depth - 1),
      ...(schema.description && { description: schema.description }),
    };
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices)
    return {
      ...resolved(
        document,
        choices.find((one) => one.type !== "null"),
        depth,
      ),
      description: schema.description,
    };
  if (!schema.allOf) return schema;
  const parts = schema.allOf.map((part) => resolved(document, part, depth));
  return {
    type: "object",
    properties: Object.assign({}, ...parts.map((part) => part.properties)),
    required: parts.flatMap((part) => part.required ?? []),
  };
}

const EXAMPLES = { string: "", integer: 0, number: 0, boolean: false, array: [], object: {} };

/**
 * A request body to start from: the required fields, each with an example, a permitted value, or an
 * empty value.
 */
export function exampleOf(document, schema) {
  const whole = resolved(document, schema);
  const body = {};
  for (const name of whole.required ?? []) {
    const field = resolved(document, whole.properties?.[name]);
    const type = [field.type].flat().find((one) => one !== "null");
    body[name] = field.example ?? field.enum?.[0] ?? EXAMPLES[type] ?? null;
  }
  return body;
}
