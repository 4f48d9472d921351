//! Describes one operation of the OpenAPI document.

use std::collections::BTreeMap;

use api::http::describe::SchemaParts;
use api::http::{Interface, Route};
use http::StatusCode;
use model::limit::Limit;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{Object, SchemaType, Type};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::{Content, KnownFormat, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder, Schema, SchemaFormat};
use wire::level::Level;

use super::schemas::Schemas;
use super::{common, errors, security};
use crate::operation::Operation;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The documentation of an operation. `site_url` is the base URL of the content API, if it is a
/// different one.
pub(super) fn describe(operation: &Operation, schemas: &Schemas, site_url: Option<&str>) -> OperationBuilder {
    let (route, description) = (&operation.route, &operation.description);
    let is_content = route.interface == Interface::Content;
    let mut described = OperationBuilder::new()
        .operation_id(Some(route.name))
        .summary(Some(route.summary))
        .description(Some(access_text(description.level)))
        .tag(operation.area())
        .securities(Some(security::requirements(description.level)))
        .extensions(Some(ExtensionsBuilder::new().add("x-access", description.level.map_or("public", Level::name)).build()));
    for parameter in parameters(operation) {
        described = described.parameter(parameter);
    }
    if let Some(body) = &description.body {
        let required = has_required_field(&body.schema);
        let content = Content::new(Some(schemas.whole(body, !route.body.ignores_unknown_fields())));
        let mut request = RequestBodyBuilder::new().content(JSON, content.clone());
        if route.body.is_form() {
            request = request.content(FORM, content);
        }
        described = described.request_body(Some(request.required(Some(if required { Required::True } else { Required::False })).build()));
    }
    for (status, response) in answers(operation, schemas, is_content) {
        described = described.response(status.as_str(), response);
    }
    match site_url.filter(|_| is_content) {
        Some(url) => described.servers(Some([ServerBuilder::new().url(url).build()])),
        None => described,
    }
}

fn access_text(level: Option<Level>) -> &'static str {
    match level {
        None => "Needs no credentials.",
        Some(Level::Client) => "Client access or higher.",
        Some(Level::Server) => "Server access or higher.",
        Some(Level::Admin) => "Admin access.",
    }
}

fn parameters(operation: &Operation) -> Vec<Parameter> {
    let of = |described: &Option<SchemaParts>, place: ParameterIn| -> Vec<Parameter> {
        let Some(described) = described else { return Vec::new() };
        objects(&described.schema).into_iter().flat_map(|object| parameters_of(object, &place)).collect()
    };
    let (mut path, query) = (of(&operation.description.path, ParameterIn::Path), of(&operation.description.query, ParameterIn::Query));
    // If a handler parses its path without a type, the names of the parameters come from the route.
    for name in path_names(operation.route.path) {
        if !path.iter().any(|parameter| parameter.name == name) {
            let text = ObjectBuilder::new().schema_type(Type::String);
            path.push(
                ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True).schema(Some(text)).build(),
            );
        }
    }
    let condition = operation.description.takes_version.then(if_match);
    let mut parameters: Vec<Parameter> = path.into_iter().chain(query).chain(condition).collect();
    // Required parameters come first. Apart from that, parameters have the order of the type's
    // fields.
    parameters.sort_by_key(|parameter| matches!(parameter.required, Required::False));
    parameters
}

fn if_match() -> Parameter {
    ParameterBuilder::new()
        .name("If-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("The change is made only if the resource still has this `ETag`."))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

/// The names in the segments `{name}` of a path.
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// The objects that make up a schema: a single object or, for a flattened type, the parts of an
/// `allOf`; otherwise, the list is empty.
fn objects(schema: &RefOr<Schema>) -> Vec<&Object> {
    match schema {
        RefOr::T(Schema::Object(object)) => vec![object],
        RefOr::T(Schema::AllOf(all_of)) => all_of.items.iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}

fn parameters_of(object: &Object, place: &ParameterIn) -> Vec<Parameter> {
    let parameter = |(name, schema): (&String, &RefOr<Schema>)| {
        let required = matches!(place, ParameterIn::Path) || object.required.contains(name);
        let text = match schema {
            RefOr::T(Schema::Object(object)) => object.description.clone(),
            _ => None,
        };
        ParameterBuilder::new()
            .name(name)
            .parameter_in(place.clone())
            .required(if required { Required::True } else { Required::False })
            .description(text)
            .schema(Some(schema.clone()))
            .build()
    };
    object.properties.iter().map(parameter).collect()
}

/// Whether a body's schema requires a field, which makes the body required. A referenced schema is
/// assumed to require a field. An optional body is a choice with `null`, which does not require any
/// field.
fn has_required_field(schema: &RefOr<Schema>) -> bool {
    match schema {
        RefOr::Ref(_) => true,
        RefOr::T(Schema::OneOf(choice)) => choice.items.iter().all(has_required_field),
        RefOr::T(Schema::AnyOf(choice)) => choice.items.iter().all(has_required_field),
        schema @ RefOr::T(_) => objects(schema).iter().any(|object| !object.required.is_empty()),
    }
}

fn answers(operation: &Operation, schemas: &Schemas, is_content: bool) -> BTreeMap<StatusCode, Response> {
    let mut answers = errors_by_status(operation);
    let text = || Content::new(Some(ObjectBuilder::new().schema_type(Type::String)));
    // Operations that a browser opens may also return errors as pages.
    if let Some(page) = operation.description.text.filter(|media_type| *media_type == "text/html") {
        for answer in answers.values_mut() {
            answer.content.insert(page.to_owned(), text().into());
        }
    }
    let status = operation.description.status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
    let mut success = ResponseBuilder::new().description(if status.is_redirection() { "Redirects to `Location`." } else { "Success." });
    if let Some(answer) = &operation.description.answer {
        success = success.content(JSON, Content::new(Some(schemas.whole(answer, is_content))));
    }
    for media_type in operation.description.text.iter().chain(operation.route.answer.media) {
        success = success.content(*media_type, Content::new(Some(document(media_type))));
    }
    if status.is_redirection() {
        success = success.header("Location", header("The URL to go to."));
    }
    if operation.description.has_version {
        success = success.header("ETag", header("The version of the resource, for `If-Match`."));
    }
    if is_content {
        success = success.header("ETag", header("Validator of the response, for `If-None-Match`."));
        answers.insert(StatusCode::NOT_MODIFIED, Response::new("The response is still the one that `If-None-Match` names."));
        if operation.description.query.is_some() {
            let elsewhere = ResponseBuilder::new().description("The number in the query is not in the form that links use.");
            let location = header("The path without a query.");
            answers.insert(StatusCode::TEMPORARY_REDIRECT, elsewhere.header("Location", location).build());
        }
    }
    answers.insert(status, success.build());
    if operation.route.interface == Interface::Agents {
        answers.extend(refusals_of_agents(operation, schemas));
    }
    answers
}

/// The schema of a document of the given media type. The schema has no type if parsers represent
/// such documents differently.
fn document(media_type: &str) -> Object {
    let is_json = media_type == JSON || media_type.ends_with("+json");
    let is_binary = matches!(media_type, "image/*" | "application/gzip");
    let schema_type = if is_json {
        Type::Object.into()
    } else if is_binary || media_type.starts_with("text/") {
        Type::String.into()
    } else {
        SchemaType::AnyValue
    };
    let format = is_binary.then_some(SchemaFormat::KnownFormat(KnownFormat::Binary));
    ObjectBuilder::new().schema_type(schema_type).format(format).build()
}

/// The responses of an agent endpoint that are not the result of a call. The responses do not
/// contain this service's error codes, because the protocols define their own error codes, which
/// are in the body.
fn refusals_of_agents(operation: &Operation, schemas: &Schemas) -> impl Iterator<Item = (StatusCode, Response)> {
    let body = |description: &str| {
        let response = ResponseBuilder::new().description(description);
        let schema = operation.description.answer.as_ref().map(|answer| schemas.whole(answer, false));
        schema.into_iter().fold(response, |response, schema| response.content(JSON, Content::new(Some(schema)))).build()
    };
    let refusals = [
        (StatusCode::BAD_REQUEST, body("The request does not follow the protocol.")),
        (StatusCode::FORBIDDEN, body("Pages of this origin may not call the endpoint.")),
        (StatusCode::NOT_FOUND, body("There is no such method.")),
        (StatusCode::PAYLOAD_TOO_LARGE, body("The body is too large.")),
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, body("The body is not JSON.")),
        (StatusCode::INTERNAL_SERVER_ERROR, body("The service failed.")),
        (StatusCode::ACCEPTED, Response::new("The message expects no result.")),
    ];
    refusals.into_iter()
}

fn header(description: &str) -> utoipa::openapi::Header {
    HeaderBuilder::new().schema(Some(ObjectBuilder::new().schema_type(Type::String))).description(Some(description)).build()
}

/// The error responses by status, each described by its codes.
fn errors_by_status(operation: &Operation) -> BTreeMap<StatusCode, Response> {
    let route = &operation.route;
    let mut by_status: BTreeMap<StatusCode, Vec<&str>> = BTreeMap::new();
    for code in common::codes(operation) {
        // A code without a status is missing from the catalogs, which the contract tests report.
        if let Some(status) = common::status(route.interface, code) {
            by_status.entry(status).or_default().push(code);
        }
    }
    by_status.into_iter().map(|(status, codes)| (status, error(route, status, &codes))).collect()
}

fn error(route: &Route, status: StatusCode, codes: &[&str]) -> Response {
    let names: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let reason = status.canonical_reason().unwrap_or("Error");
    let extensions = ExtensionsBuilder::new().add("x-codes", serde_json::json!(codes));
    let extensions = match status {
        StatusCode::TOO_MANY_REQUESTS => extensions.add("x-limit", route.limit.unwrap_or(Limit::Read).name()),
        _ => extensions,
    };
    let response = ResponseBuilder::new()
        .description(format!("{reason}: {}", names.join(", ")))
        .content(JSON, Content::new(Some(Ref::from_schema_name(errors::name(route)))))
        .extensions(Some(extensions.build()));
    match status {
        StatusCode::UNAUTHORIZED => response.header("WWW-Authenticate", header("The scheme; credentials are sent in custom headers.")),
        StatusCode::METHOD_NOT_ALLOWED => response.header("Allow", header("The methods of this path.")),
        StatusCode::TOO_MANY_REQUESTS => response
            .header("Retry-After", header("Seconds to wait before trying again."))
            .header("RateLimit-Policy", header("The limit's name, its quota and its window in seconds."))
            .header("RateLimit", header("The limit's name, the remaining quota and the seconds until it is replenished.")),
        StatusCode::SERVICE_UNAVAILABLE => response.header("Retry-After", header("Seconds to wait before trying again.")),
        _ => response,
    }
    .build()
}
