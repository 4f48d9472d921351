//! Authorization requests of clients. Requests expire by TTL an hour after they were made.

use crypto::digest::Digest;
use futures_util::future::try_join;
use model::openid::client::OauthClient;
use model::openid::request::{AuthorizationRequest, LIFE, PUSHED_LIFE, RequestName};
use secrecy::ExposeSecret as _;
use wire::clock::after;
use wire::id::ProjectId;

use crate::table::{Error, Key, Store, Write, entity, string, unless_conflict};

/// The key of a request.
pub fn request_key(project: &ProjectId, name: &RequestName) -> Key {
    Key::new(format!("N#{project}#{}", Digest::of(name.text().expose_secret())), "REQUEST")
}

fn pushed_key(project: &ProjectId, name: &RequestName) -> Key {
    Key::new(request_key(project, name).pk, "PUSHED")
}

impl Store {
    /// Stores a request under its name.
    pub async fn begin_client_request(&self, project: &ProjectId, name: &RequestName, request: &AuthorizationRequest) -> Result<(), Error> {
        let write = Write::create(request_key(project, name), request)?.expires(after(request.began_at, LIFE));
        self.write_unrecorded(write).await
    }

    /// Stores a request that the client has pushed.
    pub async fn push_client_request(&self, project: &ProjectId, name: &RequestName, request: &AuthorizationRequest) -> Result<(), Error> {
        let write = Write::create(pushed_key(project, name), request)?.expires(after(request.began_at, PUSHED_LIFE));
        self.write_unrecorded(write).await
    }

    /// Takes a pushed request, which works once; `None` if it does not exist or has already been
    /// taken. The item is marked instead of deleted, so that the store can retry a call whose
    /// response was lost.
    pub async fn take_pushed_request(&self, project: &ProjectId, name: &RequestName) -> Result<Option<AuthorizationRequest>, Error> {
        let update = Write::update(pushed_key(project, name), "SET taken_by = :mark")
            .on("attribute_exists(pk) AND (attribute_not_exists(taken_by) OR taken_by = :mark)")
            .value(":mark", string(self.entropy.uuid().to_string()));
        unless_conflict(update.send_returning(&self.client, &self.table).await)?.map(entity).transpose()
    }

    /// The request with this name, and its client. Costs one round trip.
    pub async fn client_request(
        &self,
        project: &ProjectId,
        name: &RequestName,
    ) -> Result<Option<(AuthorizationRequest, OauthClient)>, Error> {
        let (request, client) = try_join(self.get(&request_key(project, name)), self.oauth_client(project, name.client_id)).await?;
        let request: Option<AuthorizationRequest> = request.map(entity).transpose()?;
        Ok(request.zip(client.map(|row| row.client)).filter(|(request, client)| request.client_id == client.id))
    }
}
