//! The possible misbehaviours of the test provider.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misbehaviour {
    Down,
    Silent,
    Garbage,
    Huge,
    RedirectsTokenRequest,
    Refuses,
    RefusesClient,
    RefusesClientInHtml,
    /// Responds correctly, but only after [`Provider::behave`](crate::provider::Provider::behave).
    Waits,
    NoIdToken,
    WrongNonce,
    WrongAudience,
    WrongIssuer,
    Expired,
    ForgedSignature,
    Unsigned,
    OtherUserinfo,
    /// Responds with this status at the userinfo endpoint.
    UserinfoAnswers(u16),
    /// Responds with a JWT at the userinfo endpoint, or with a forged JWT.
    SignedUserinfo,
    ForgedUserinfo,
    /// Responds with a web page at the userinfo endpoint.
    UserinfoIsPage,
    /// Signs ID tokens with the client secret.
    SignsWithSecret,
    /// Responds with 502 to the first request at each endpoint, and then responds correctly.
    FailsOnce,
    /// Responds with 200 and an unrelated JSON object instead of the metadata and the keys.
    Maintenance,
    /// Publishes a script as the authorization endpoint.
    ScriptEndpoint,
    /// Has revoked the access tokens that were issued for codes.
    RevokesAccess,
    /// Has revoked the access tokens that were issued for codes, and holds requests for new tokens
    /// like [`Self::Waits`].
    RevokesAccessAndWaits,
    /// Renews access tokens for only two minutes.
    ShortLife,
    /// Has revoked all tokens.
    RevokesEverything,
}
