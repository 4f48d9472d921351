//! How the OpenID provider for tests misbehaves.

/// How a provider misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Down,
    Silent,
    Garbage,
    Huge,
    RedirectsTokenRequest,
    Refuses,
    RefusesClient,
    RefusesClientInHtml,
    /// Answers correctly, once [`Provider::behave`](crate::provider::Provider::behave) has been called.
    Waits,
    NoIdToken,
    WrongNonce,
    WrongAudience,
    WrongIssuer,
    Expired,
    ForgedSignature,
    Unsigned,
    OtherUserinfo,
    /// Answers with this status at the userinfo endpoint.
    UserinfoAnswers(u16),
    /// Answers with a JWT at the userinfo endpoint, or with a forged one.
    SignedUserinfo,
    ForgedUserinfo,
    /// Signs ID tokens with the client secret.
    SignsWithSecret,
    /// Answers 502 to the first request at each endpoint, and correctly to the next one.
    FailsOnce,
    /// Answers 200 with another JSON object in place of its metadata and keys.
    Maintenance,
    /// Names a script in place of its authorization endpoint.
    ScriptEndpoint,
    /// Has revoked the access tokens that it issued for codes.
    RevokesAccess,
    /// The same, and answers requests for new ones as [`Self::Waits`].
    RevokesAccessAndWaits,
    /// Renews access tokens for two minutes only.
    ShortLife,
    /// Has revoked all tokens.
    RevokesEverything,
}
