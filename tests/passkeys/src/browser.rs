//! The browser and the device of the `passkey` crate.

use async_trait::async_trait;
use futures_executor::block_on;
use passkey::authenticator::{Authenticator, UiHint, UserCheck, UserValidationMethod};
use passkey::client::{Client, DefaultClientData, WebauthnError};
use passkey::crypto::rust_crypto::RustCryptoBackend;
use passkey::types::Passkey;
use passkey::types::ctap2::{Aaguid, Ctap2Error};
use passkey::types::webauthn::{CredentialCreationOptions, CredentialRequestOptions};
use public_suffix::PublicSuffixList;
use serde_json::Value;
use url::Url;

/// A user who touches the device. The device verifies the user if it can.
struct Owner {
    /// Whether the device has a fingerprint reader.
    is_recognized: bool,
}

#[async_trait]
impl UserValidationMethod for Owner {
    type PasskeyItem = Passkey;

    async fn check_user<'a>(&self, hint: UiHint<'a, Passkey>, presence: bool, verification: bool) -> Result<UserCheck, Ctap2Error> {
        if matches!(hint, UiHint::InformExcludedCredentialFound(_)) {
            return Err(Ctap2Error::CredentialExcluded);
        }
        Ok(UserCheck { presence, verification: verification && self.is_recognized })
    }

    fn is_presence_enabled(&self) -> bool {
        true
    }

    fn is_verification_enabled(&self) -> Option<bool> {
        self.is_recognized.then_some(true)
    }
}

pub struct Browser(Client<Option<Passkey>, Owner, RustCryptoBackend, PublicSuffixList, ()>);

impl Browser {
    /// A browser, and a device that has no passkeys yet.
    pub fn new(is_recognized: bool) -> Self {
        let mut device = Authenticator::new(Aaguid::new_empty(), None, Owner { is_recognized }, RustCryptoBackend);
        device.set_make_credentials_with_signature_counter(true);
        Self(Client::new(device).user_verification_when_preferred(is_recognized))
    }

    /// The result of `navigator.credentials.create` for a page that passes these options.
    pub fn create(&mut self, page: &str, options: &Value) -> Result<Value, WebauthnError> {
        let request = CredentialCreationOptions { public_key: serde_json::from_value(options.clone()).expect("options of a registration") };
        let created = block_on(self.0.register(&Url::parse(page).expect("a URL"), request, DefaultClientData))?;
        Ok(serde_json::to_value(created).expect("JSON"))
    }

    /// The result of `navigator.credentials.get` for a page that passes these options.
    pub fn get(&mut self, page: &str, options: &Value) -> Result<Value, WebauthnError> {
        let request = CredentialRequestOptions { public_key: serde_json::from_value(options.clone()).expect("options of a sign-in") };
        let found = block_on(self.0.authenticate(&Url::parse(page).expect("a URL"), request, DefaultClientData))?;
        Ok(serde_json::to_value(found).expect("JSON"))
    }
}
