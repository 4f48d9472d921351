//! Reads and verifies the responses of authenticators, as sent by browsers (WebAuthn Level 3,
//! §5.1).

use crypto::webauthn::Refusal;
use crypto::webauthn::authenticator_data::{AuthenticatorData, from_attestation_object, verify};
use crypto::webauthn::client_data::{Ceremony, ClientData};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;
use wire::id::{PasskeyId, UserId};

use crate::passkey::aaguid;
use crate::passkey::challenge::Challenge;
use crate::passkey::relying_party::OriginRefusal;
use crate::project::Project;
use crate::project::own_pages::OwnPages;
use crate::project::passkeys::UserVerification;
use crate::text::bytes::Bytes;
use crate::user::User;
use crate::user::passkey::{Assertion, Passkey};

/// The maximum number of transports that are stored with a passkey; the standard defines six.
const MAX_TRANSPORTS: usize = 8;
/// The maximum length of a transport, in bytes; longer transports are omitted. The longest
/// transport in the standard has ten bytes.
const MAX_TRANSPORT: usize = 32;

/// Why a response is refused; the text is for the app's developers and users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CeremonyRefusal {
    /// A field of the response is missing or invalid, the response is not for a public-key
    /// credential, or its credential ids differ.
    #[error("the authenticator's response is malformed")]
    Malformed,
    /// The verification failed.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The project does not trust the page's origin, or its host is an IP address.
    #[error("{0}")]
    Origin(#[from] OriginRefusal),
    /// The response names a user who does not exist, is not the expected user, or does not have
    /// this passkey.
    #[error("this passkey is not registered for the account: use another passkey")]
    Unknown,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are those in the browser's JSON")]
struct Response<R> {
    id: Bytes,
    /// The same value as `id`; some libraries omit it.
    #[serde(default)]
    raw_id: Option<Bytes>,
    #[serde(default)]
    r#type: Option<String>,
    response: R,
}

/// The response of a registration.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are those in the browser's JSON")]
struct Attestation {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes,
    attestation_object: Bytes,
    #[serde(default)]
    transports: Option<Vec<String>>,
}

/// The response of an authentication: a sign-in, a second factor or a reauthentication.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssertionResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes,
    authenticator_data: Bytes,
    signature: Bytes,
    /// `null` if the page named the passkey and the authenticator does not store the passkey's
    /// user.
    #[serde(default)]
    user_handle: Option<Bytes>,
}

impl<R: DeserializeOwned> Response<R> {
    fn read(value: &Value) -> Result<Self, CeremonyRefusal> {
        let response = Self::deserialize(value).map_err(|_| CeremonyRefusal::Malformed)?;
        let is_credential = response.r#type.as_deref().is_none_or(|kind| kind == "public-key")
            && response.raw_id.as_ref().is_none_or(|raw_id| response.id == *raw_id);
        if is_credential { Ok(response) } else { Err(CeremonyRefusal::Malformed) }
    }
}

/// The user whose passkey signed an authentication response, according to the unverified response.
/// The user is read from `userHandle`; if `userHandle` is `null` or absent, the known `owner` is
/// returned. Authenticators that do not store a passkey's user omit the handle (§7.2 step 6).
/// `None` if the handle is invalid or names someone other than `owner`, or if there is neither a
/// handle nor an `owner`.
pub fn claimed_user(response: &Value, owner: Option<UserId>) -> Option<UserId> {
    let handle = &response["response"]["userHandle"];
    if handle.is_null() {
        return owner;
    }
    let handle = Bytes::deserialize(handle).ok()?;
    let claimed = UserId::parse(std::str::from_utf8(&handle.0).ok()?).ok()?;
    owner.is_none_or(|owner| owner == claimed).then_some(claimed)
}

/// Checks the flags and the page's origin, and returns the relying party id of the response.
fn relying_party(project: &Project, own: &OwnPages, origin: &str, data: &AuthenticatorData) -> Result<String, CeremonyRefusal> {
    data.check_flags(project.config.passkeys.user_verification == UserVerification::Required)?;
    Ok(data.relying_party(&project.relying_parties(origin, own)?)?.to_owned())
}

/// Verifies the response of a registration and returns the new passkey. Passkeys also work on the
/// service's own pages, `own`.
pub fn register(
    project: &Project,
    own: &OwnPages,
    challenge: &Challenge,
    response: &Value,
    id: PasskeyId,
    now: Timestamp,
) -> Result<Passkey, CeremonyRefusal> {
    let Response { id: credential_id, response, .. } = Response::<Attestation>::read(response)?;
    let client = ClientData::read(&response.client_data.0, Ceremony::Registration, &challenge.bytes.0)?;
    let data = from_attestation_object(&response.attestation_object.0)?;
    let rp_id = relying_party(project, own, &client.origin, &data)?;
    let credential = data.credential.as_ref().filter(|credential| credential.id == credential_id.0).ok_or(CeremonyRefusal::Malformed)?;
    let aaguid = Uuid::from_bytes(credential.aaguid);
    let transports =
        response.transports.unwrap_or_default().into_iter().filter(|name| name.len() <= MAX_TRANSPORT).take(MAX_TRANSPORTS).collect();
    Ok(Passkey {
        id,
        credential_id,
        public_key: credential.public_key.clone(),
        rp_id,
        name: aaguid::name_of(aaguid).to_owned(),
        created_at: now,
        last_used_at: None,
        transports,
        sign_count: data.sign_count,
        is_backup_eligible: data.is_backup_eligible(),
        is_backed_up: data.is_backed_up(),
        was_user_verified: data.is_user_verified(),
        aaguid,
        clone_suspected_at: None,
    })
}

/// Verifies the response of an authentication with a passkey of `user`. The signature counter is
/// checked later, when the use is recorded ([`User::use_passkey`]).
///
/// The flag for passkeys that can be synchronized (BE) should never change, and §7.2 step 21
/// refuses a response with a changed flag. However, updates of password managers have changed the
/// flag, and a refusal would permanently lock out users of the affected passkeys. A changed flag is
/// therefore accepted and recorded. The signature covers the flag, so only the holder of the key
/// can change it.
pub fn authenticate(
    project: &Project,
    own: &OwnPages,
    challenge: &Challenge,
    response: &Value,
    user: &User,
) -> Result<Assertion, CeremonyRefusal> {
    let Response { id: credential_id, response, .. } = Response::<AssertionResponse>::read(response)?;
    if response.user_handle.is_some_and(|handle| handle.0 != user.id.to_string().as_bytes()) {
        return Err(CeremonyRefusal::Unknown);
    }
    let passkey = user.passkey_of(&credential_id.0).ok_or(CeremonyRefusal::Unknown)?;
    let client = ClientData::read(&response.client_data.0, Ceremony::Authentication, &challenge.bytes.0)?;
    let data = AuthenticatorData::read(&response.authenticator_data.0)?;
    if relying_party(project, own, &client.origin, &data)? != passkey.rp_id {
        return Err(Refusal::WrongRelyingParty.into());
    }
    verify(&passkey.public_key, &response.authenticator_data.0, &response.client_data.0, &response.signature.0)?;
    Ok(Assertion {
        credential_id,
        sign_count: data.sign_count,
        is_backup_eligible: data.is_backup_eligible(),
        is_backed_up: data.is_backed_up(),
        is_user_verified: data.is_user_verified(),
    })
}
