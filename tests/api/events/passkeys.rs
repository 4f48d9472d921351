//! The passkey and the challenges that the events use. The events contain responses that
//! [`SoftPasskey`] 1 and 2 signed for the challenge [`CHALLENGE`] on `http://localhost:3000`.

use crypto::webauthn::client_data::Ceremony;
use crypto::webauthn::public_key::PublicKey;
use jiff::Timestamp;
use model::code::Code;
use model::passkey::challenge::{Challenge, Registrant};
use model::text::bytes::Bytes;
use model::user::User;
use model::user::passkey::Passkey;
use serde_json::json;
use store::{Write, passkey};
use support::authenticator::{Page, SoftPasskey};
use uuid::Uuid;
use wire::id::{PasskeyId, ProjectId};

use super::CODE;

/// The id of the user's passkey in the events.
const PASSKEY: &str = "9b2f4c6d-1e3a-4d5f-8b7c-6a5e4d3c2b1a";
const CHALLENGE: [u8; 32] = *b"a challenge of thirty-two bytes.";

/// The user's passkey.
pub(super) fn registered(now: Timestamp) -> Passkey {
    let device = SoftPasskey::create(&json!({ "user": { "id": "" } }), Page::default(), 1);
    Passkey {
        id: PasskeyId::parse(PASSKEY).unwrap(),
        credential_id: Bytes(device.credential_id.clone()),
        public_key: PublicKey::parse(&device.cose()).unwrap(),
        rp_id: device.page.rp_id,
        name: "Laptop".to_owned(),
        created_at: now,
        last_used_at: None,
        transports: Vec::new(),
        sign_count: 0,
        is_backup_eligible: false,
        is_backed_up: false,
        was_user_verified: true,
        aaguid: Uuid::nil(),
        clone_suspected_at: None,
    }
}

/// The challenges for a registration and a sign-in.
pub(super) fn challenges(project: &ProjectId, user: &User, now: Timestamp) -> [Write; 2] {
    let registrant = Registrant { user_id: user.id, epoch: user.credential_epoch };
    let of = |ceremony, registrant| {
        let expires_at = now + jiff::SignedDuration::from_secs(65);
        let challenge = Challenge { bytes: Bytes(CHALLENGE.to_vec()), registrant, attempt: None, expires_at, used: false };
        passkey::create_challenge(project, ceremony, &Code::parse(CODE).unwrap(), &challenge).unwrap()
    };
    [of(Ceremony::Registration, Some(registrant)), of(Ceremony::Authentication, None)]
}
