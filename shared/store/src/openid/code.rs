//! Authorization codes of clients. Codes are kept for a day after they expire, so that any reuse is
//! noticed.

use crypto::digest::Digest;
use model::openid::code::{CODE_MEMORY, ClientCode};
use model::session::Session;
use model::trail::{Target, TargetKind};
use secrecy::{ExposeSecret as _, SecretString};
use wire::clock::after;
use wire::id::ProjectId;

use crate::openid::session::begin;
use crate::table::{Error, Key, Store, Write, is_made, string};

/// The key of a code.
pub fn code_key(project: &ProjectId, code: &SecretString) -> Key {
    Key::new(format!("A#{project}#{}", Digest::of(code.expose_secret())), "CLIENT")
}

impl Store {
    /// Writes a new code. The trail records this as the user's decision about the client.
    pub async fn create_client_code(
        &self,
        project: &ProjectId,
        code: &SecretString,
        stored: &ClientCode,
        others: Vec<Write>,
    ) -> Result<(), Error> {
        let write = Write::create(code_key(project, code), stored)?.expires(after(stored.expires_at, CODE_MEMORY));
        let write = write.about(stored.user_id).targets([Target::new(TargetKind::OauthClient, stored.client_id)]);
        self.transact(others.into_iter().chain([write])).await
    }

    /// The stored code.
    pub async fn client_code(&self, project: &ProjectId, code: &SecretString) -> Result<Option<ClientCode>, Error> {
        self.get(&code_key(project, code)).await?.map(crate::table::entity).transpose()
    }

    /// Redeems a code for a new session; `false` if it was redeemed before.
    pub async fn redeem_client_code(&self, project: &ProjectId, code: &SecretString, session: &Session) -> Result<bool, Error> {
        let redeem = Write::update(code_key(project, code), "SET d.session_id = :session")
            .on("attribute_exists(pk) AND attribute_not_exists(d.session_id)")
            .value(":session", string(session.id.to_string()));
        is_made(self.transact([begin(project, session)?, redeem]).await)
    }
}
