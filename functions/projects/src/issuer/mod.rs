//! The metadata of a project as an issuer, which is the same document at all paths where clients
//! look for it.

use api::http::{Describe, Description, Json};
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{Error, KnownError, PathSlip};
use flows::App;
use model::openid::metadata::IssuerMetadata;
use serde::Serialize;
use utoipa::ToSchema;

use crate::published::{self, FOR_AN_HOUR};

/// The names that OpenID Connect Discovery 1.0 and RFC 8414 give to the document. Some clients
/// request only one of these names.
const NAMES: [&str; 2] = ["openid-configuration", "oauth-authorization-server"];

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DocumentPath {
    /// The project's id.
    project_id: String,
    /// `openid-configuration` or `oauth-authorization-server`. Both names return the same document.
    #[schema(example = "openid-configuration")]
    document: String,
}

/// Metadata that can be cached for an hour.
#[derive(Serialize, ToSchema)]
#[serde(transparent)]
pub struct Document(IssuerMetadata);

impl Document {
    /// Reads the document at this path in one round trip.
    pub(crate) async fn read(app: &App, path: &DocumentPath) -> Result<Self, Error> {
        if !NAMES.contains(&path.document.as_str()) {
            return Err(KnownError::RouteNotFound(PathSlip::None).into());
        }
        let (project, keys) = published::project_and_rsa_keys(app, &path.project_id).await?;
        Ok(Self(IssuerMetadata::new(&app.settings.api_url, &project, &keys)))
    }
}

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        (FOR_AN_HOUR, Json(self)).into_response()
    }
}

impl Describe for Document {
    fn describe(description: &mut Description) {
        Json::<Self>::describe(description);
    }
}
