//! All fields that requests can set on a user; each kind of request accepts a subset. A field that
//! a request may not set is rejected like an unknown field, and all problems of a body are reported
//! together.

use std::convert::Infallible;
use std::marker::PhantomData;

use crypto::password::Password;
use crypto::totp::TotpSecret;
use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content};
use serde_json::Value as Json;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use wire::change::Change;
use wire::id::TeamId;
use wire::level::Level;
use wire::problem::Problems;

use crate::email::any::AnyEmail;
use crate::metadata::Metadata;
use crate::profile_image::ProfileImage;
use crate::sign_up::risk::RiskScores;
use crate::text::line;
use crate::user::values::{AccountInput, CountryCode, DisplayName, False, ImportedHash, Note};

/// The user fields to set. Absent fields keep their values or, in a new user, get their default
/// values.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UserInput {
    /// The name: one line of at most 256 characters without hidden characters or direction
    /// controls. `null` or blank removes the name.
    #[schema(value_type = Option<String>, max_length = 256)]
    pub display_name: Change<DisplayName>,
    /// An https URL, or a data URL (`data:image/(png|jpeg|webp|gif);base64,…`) with an image of at
    /// most 100 KiB, which this service then stores and serves.
    pub profile_image_url: Change<ProfileImage>,
    /// Metadata that the user's client reads and writes: any JSON value of at most 32 KiB, which
    /// replaces the existing value.
    pub client_metadata: Change<Metadata>,
    /// The team to select; the user must be a member. `null` for none.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub selected_team_id: Change<TeamId>,
    /// The secret of an authenticator app (TOTP with SHA-1, 30 seconds, 6 digits), 10 to 64 bytes
    /// in base64. The app replaces all authenticator apps and recovery codes of the user, and
    /// sign-ins require a code from the app. `null` removes all apps and recovery codes.
    #[schema(value_type = Option<String>, format = Byte)]
    pub totp_secret_base64: Change<TotpSecret>,
    /// Whether the user may sign in with an emailed code or link.
    pub otp_auth_enabled: Option<bool>,
    /// Only `false` is accepted, which removes all passkeys.
    #[schema(value_type = Option<bool>)]
    pub passkey_auth_enabled: Option<False>,
    /// The new primary address: either an address that the user already has, or a new address,
    /// which is unverified. The previous primary address is kept as an additional address. `null`
    /// means that the user does not have a primary address. With server access, the domain may be
    /// any host name, such as `localhost`.
    #[schema(value_type = Option<String>, format = Email)]
    pub primary_email: Change<AnyEmail>,

    /// Requires server access. Metadata that the user's client reads and servers write: any JSON
    /// value of at most 32 KiB, which replaces the existing value.
    pub client_read_only_metadata: Change<Metadata>,
    /// Requires server access. Metadata that only servers read and write: any JSON value of at most
    /// 32 KiB, which replaces the existing value.
    pub server_metadata: Change<Metadata>,
    /// Requires server access. Whether the primary address is verified.
    pub primary_email_verified: Option<bool>,
    /// Requires server access. Whether the user can sign in with the primary address. If absent, an
    /// existing channel stays as it is, and a new address can be used to sign in only if the
    /// previous primary address could.
    pub primary_email_auth_enabled: Option<bool>,
    /// Requires server access. The new password; `null` removes the password. Setting or removing
    /// the password ends all sessions of the user. The password of an existing user must satisfy
    /// the rules for new passwords. The password of a new user can be any password of 1 to 128
    /// characters.
    #[schema(value_type = Option<String>, format = Password)]
    pub password: Change<Password>,
    /// Requires server access. A bcrypt hash (`$2a$`, `$2b$`, `$2y$`) of cost 4 to 12, instead of a
    /// password. Hidden characters and direction controls in a `display_name` in the same request
    /// are removed instead of refused.
    #[schema(value_type = Option<String>)]
    pub password_hash: Option<ImportedHash>,
    /// Requires server access. Whether the user is anonymous; only a new user can be made
    /// anonymous.
    pub is_anonymous: Option<bool>,
    /// Requires server access. Whether the user is restricted.
    pub restricted_by_admin: Option<bool>,
    /// Requires server access. The reason for the restriction, which the user can see; only
    /// together with `restricted_by_admin: true`.
    #[schema(value_type = Option<String>, max_length = 4096)]
    pub restricted_by_admin_reason: Change<Note>,
    /// Requires server access. Notes on the restriction, which the user cannot see; only together
    /// with `restricted_by_admin: true`.
    #[schema(value_type = Option<String>, max_length = 4096)]
    pub restricted_by_admin_private_details: Change<Note>,
    /// Requires server access. The user's country: ISO 3166-1 alpha-2.
    #[schema(value_type = Option<String>, min_length = 2, max_length = 2)]
    pub country_code: Change<CountryCode>,
    /// Requires server access. The user's risk scores.
    pub risk_scores: Option<RiskScores>,
    /// Requires server access. Provider accounts that the user can sign in with, at most 20.
    pub oauth_providers: Option<Vec<AccountInput>>,
}

/// A kind of request, defined by the fields of [`UserInput`] that it accepts.
pub trait Fields: 'static {
    /// The name of the request body in the OpenAPI document.
    const NAME: &'static str;
    /// Whether the request accepts a field of [`UserInput`].
    fn take(field: &str) -> bool;
    /// Whether the request may make a user anonymous.
    const MAKES_ANONYMOUS: bool = false;
    /// Whether the domain of an address may be any host name.
    const TAKES_ANY_ADDRESS: bool = true;
}

/// A change that users make to their own data.
pub struct OwnFields;
/// A change to a user by a server or an administrator.
pub struct AnyFields;
/// The creation of a user by a server or an administrator.
pub struct NewFields;

impl Fields for OwnFields {
    const NAME: &'static str = "OwnUserPatch";

    fn take(field: &str) -> bool {
        let own = ["display_name", "profile_image_url", "client_metadata", "selected_team_id", "totp_secret_base64"];
        own.contains(&field) || ["otp_auth_enabled", "passkey_auth_enabled", "primary_email"].contains(&field)
    }

    const TAKES_ANY_ADDRESS: bool = false;
}

impl Fields for AnyFields {
    const NAME: &'static str = "UserPatch";

    fn take(field: &str) -> bool {
        field != "oauth_providers"
    }
}

impl Fields for NewFields {
    const NAME: &'static str = "NewUser";

    fn take(field: &str) -> bool {
        field != "selected_team_id"
    }

    const MAKES_ANONYMOUS: bool = true;
}

/// The body of a request that accepts the fields in `F`.
pub struct UserBody<F>(pub UserInput, PhantomData<F>);

impl<F: Fields> Deserr<Problems> for UserBody<F> {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, Problems> {
        let mut json = Json::deserialize_from_value(value, location)?;
        let mut problems = None;
        if let Json::Object(fields) = &mut json {
            // A program that imports users cannot ask them for another name, so characters that are
            // not permitted are removed.
            if fields.contains_key("password_hash")
                && let Some(Json::String(name)) = fields.get_mut("display_name")
            {
                *name = line::stripped(name);
            }
            let foreign: Vec<String> = fields.keys().filter(|field| !F::take(field)).cloned().collect();
            for key in foreign {
                fields.remove(&key);
                problems = Some(add(problems, ErrorKind::UnknownKey { key: &key, accepted: &[] }, location));
            }
        }
        match UserInput::deserialize_from_value(json.into_value(), location) {
            Err(found) => Err(merged(problems, found, location)),
            Ok(input) => match check::<F>(&input, problems, location) {
                Some(problems) => Err(problems),
                None => Ok(Self(input, PhantomData)),
            },
        }
    }
}

fn add(problems: Option<Problems>, error: ErrorKind<'_, Infallible>, location: ValuePointerRef<'_>) -> Problems {
    take_cf_content(Problems::error::<Infallible>(problems, error, location))
}

fn merged(problems: Option<Problems>, found: Problems, location: ValuePointerRef<'_>) -> Problems {
    take_cf_content(<Problems as deserr::MergeWithError<Problems>>::merge(problems, found, location))
}

/// Checks the rules that go beyond the types of the fields.
fn check<F: Fields>(input: &UserInput, problems: Option<Problems>, location: ValuePointerRef<'_>) -> Option<Problems> {
    let is_set = |note: &Change<Note>| matches!(note, Change::Set(_));
    let restricts = input.restricted_by_admin == Some(true);
    let beside = "requires restricted_by_admin: true";
    let is_public = !matches!(&input.primary_email, Change::Set(email) if !email.is_public());
    let rules = [
        (!F::TAKES_ANY_ADDRESS && !is_public, "primary_email", "must be an email address"),
        (input.password_hash.is_some() && !input.password.is_keep(), "password_hash", "must not be combined with password"),
        (input.is_anonymous == Some(true) && !F::MAKES_ANONYMOUS, "is_anonymous", "must be false"),
        (is_set(&input.restricted_by_admin_reason) && !restricts, "restricted_by_admin_reason", beside),
        (is_set(&input.restricted_by_admin_private_details) && !restricts, "restricted_by_admin_private_details", beside),
        (
            input.oauth_providers.as_ref().is_some_and(|accounts| !AccountInput::are_distinct(accounts)),
            "oauth_providers",
            AccountInput::RULE,
        ),
    ];
    rules.into_iter().filter(|(broken, ..)| *broken).fold(problems, |problems, (_, field, message)| {
        let at = ValuePointerRef::Key { key: field, prev: &location };
        Some(add(problems, ErrorKind::Unexpected { msg: message.to_owned() }, at))
    })
}

impl<F: Fields> PartialSchema for UserBody<F> {
    fn schema() -> RefOr<Schema> {
        let mut schema = UserInput::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.properties.retain(|field, _| F::take(field));
        }
        schema
    }
}

impl<F: Fields> ToSchema for UserBody<F> {
    fn name() -> std::borrow::Cow<'static, str> {
        F::NAME.into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        UserInput::schemas(schemas);
    }
}

/// The body of a change to the current user; its fields depend on the caller's access level.
pub struct CurrentUserBody(Json);

impl CurrentUserBody {
    /// The change, if it contains only fields that the access level is allowed to set.
    pub fn read(self, level: Level) -> Result<UserInput, Problems> {
        let input = match level {
            Level::Client => deserr::deserialize::<UserBody<OwnFields>, _, Problems>(self.0).map(|body| body.0),
            Level::Server | Level::Admin => deserr::deserialize::<UserBody<AnyFields>, _, Problems>(self.0).map(|body| body.0),
        };
        input.map_err(Problems::in_body)
    }
}

impl<E: DeserializeError> Deserr<E> for CurrentUserBody {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        Json::deserialize_from_value(value, location).map(Self)
    }
}

impl PartialSchema for CurrentUserBody {
    fn schema() -> RefOr<Schema> {
        UserBody::<AnyFields>::schema()
    }
}

impl ToSchema for CurrentUserBody {
    fn name() -> std::borrow::Cow<'static, str> {
        AnyFields::NAME.into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        UserInput::schemas(schemas);
    }
}
