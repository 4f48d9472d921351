//! JSON responses.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::describe::{Describe, Description, SchemaParts};

/// A response with status 200 and a JSON body.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => {
                let content_type = HeaderValue::from_static("application/json; charset=utf-8");
                ([(header::CONTENT_TYPE, content_type)], body).into_response()
            }
            Err(error) => {
                tracing::error!(%error, "an answer cannot be serialized");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// A response with status 201 and a JSON body.
#[derive(Debug, Clone, Copy)]
pub struct CreatedJson<T>(pub T);

impl<T: Serialize> IntoResponse for CreatedJson<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self.0).into_response();
        if response.status() == StatusCode::OK {
            *response.status_mut() = StatusCode::CREATED;
        }
        response
    }
}

impl<T: ToSchema> Describe for Json<T> {
    fn describe(description: &mut Description) {
        description.answer = Some(SchemaParts::of::<T>());
    }
}

impl<T: ToSchema> Describe for CreatedJson<T> {
    fn describe(description: &mut Description) {
        description.answer = Some(SchemaParts::of::<T>());
        description.status = Some(201);
    }
}
