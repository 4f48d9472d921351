//! How the test provider misbehaves.

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
    /// Answers correctly, but only after [`Provider::behave`](crate::provider::Provider::behave).
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
    /// Answers with a web page at the userinfo endpoint.
    UserinfoIsPage,
    /// Signs ID tokens with the client secret.
    SignsWithSecret,
    /// Answers 502 to the first request at each endpoint, and correctly after that.
    FailsOnce,
    /// Answers 200 with an unrelated JSON object in place of its metadata and keys.
    Maintenance,
    /// Gives a script as its authorization endpoint.
    ScriptEndpoint,
    /// Has revoked the access tokens issued for codes.
    RevokesAccess,
    /// The same, and holds requests for new ones like [`Self::Waits`].
    RevokesAccessAndWaits,
    /// Renews access tokens for two minutes only.
    ShortLife,
    /// Has revoked all tokens.
    RevokesEverything,
}
