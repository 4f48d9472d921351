//! How an operation uses the table: the actions and partitions of its role, the items that its
//! requests name, and its trail entry.

use crypto::webauthn::client_data::Ceremony;
use model::document::DocumentKind;

/// How an operation uses the table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// The actions of the operation itself; [`Route::actions`](super::Route::actions) adds the
    /// actions of the layers around it.
    pub actions: &'static [TableAction],
    /// Patterns of the partition keys that the function may access (`dynamodb:LeadingKeys`). If
    /// empty, the function may access all partitions except the public content.
    pub partitions: &'static [&'static str],
    /// Items fetched in the authentication round trip.
    pub reads: &'static [NamedItem],
    /// Whether the operation records its changes in the trail.
    pub trail: Trail,
}

/// One or more items named in a request's path, query, body or access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedItem {
    /// The user with the id `user_id`.
    User,
    /// The claim of the account that signs in with the email address in the field `email`.
    EmailClaim,
    /// The team with the id `team_id`, and the memberships of the signed-in user and of `user_id`.
    Team,
    /// The selected team, according to the access token.
    SelectedTeam,
    /// The email document with the id `id`.
    Document(DocumentKind),
    /// The entry of the outbox with the id `id`.
    Mail,
    /// The set of API keys with the id `id`.
    KeySet,
    /// The owner named in the API key in the field `api_key`, if it is a key of this project.
    KeyOwner,
    /// The sign-in of a command-line tool, by the field `polling_code` or `login_code`.
    CliSignIn,
    /// The claim of the refresh token in the field `refresh_token` or else `anon_refresh_token`.
    RefreshToken,
    /// The claim of the refresh token in the header `X-Service-Refresh-Token`.
    RefreshTokenHeader,
    /// Another project, with the id `project_id`.
    Project,
    /// The challenge of the passkey ceremony with the code in the field `code`.
    Challenge(Ceremony),
    /// The user claimed by the passkey response in the field `authentication_response`.
    PasskeyUser,
    /// The challenge and the user of the passkey response in the field `passkey`.
    PasskeyProof,
    /// The OAuth client named in the field `parameters`, which has the parameters of an
    /// authorization request.
    RequestingClient,
    /// The authorization request named in the field `request`, its client, and what the signed-in
    /// user has granted to that client.
    AuthorizationRequest,
}

/// Whether an operation records its changes in the trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trail {
    /// The operation adds an entry.
    Entry,
    /// The operation does not add an entry, for this reason.
    Nothing(&'static str),
}

/// Why a GET does not add an entry to the trail.
pub const READS: &str = "it reads";

/// An IAM action of DynamoDB, without its prefix. A transaction needs the actions of its writes and
/// condition checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableAction {
    /// `dynamodb:BatchGetItem`.
    BatchGetItem,
    /// `dynamodb:ConditionCheckItem`.
    ConditionCheckItem,
    /// `dynamodb:DeleteItem`.
    DeleteItem,
    /// `dynamodb:GetItem`.
    GetItem,
    /// `dynamodb:PutItem`.
    PutItem,
    /// `dynamodb:Query`.
    Query,
    /// `dynamodb:UpdateItem`.
    UpdateItem,
}
