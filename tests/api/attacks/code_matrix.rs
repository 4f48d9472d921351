//! Combines every kind of code with every event that may happen between the code's creation and its
//! use, and checks whether the event invalidates the code. Codes that open or change an account are
//! invalid once the account's credential epoch has changed. Links that let the reader of an
//! address's emails undo something are invalid once there is nothing left to undo.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use Event::{
    AddressAdded, AddressNoLongerSignsIn, AddressRemoved, AddressReplaced, AddressVerified, Anonymous, AuthenticatorRemoved,
    AuthenticatorSet, CreatorProves, Deleted, EmailCodesOff, EveryoneOut, EveryoneOutByServer, FirstPassword, NameChanged, NoLongerPrimary,
    NotMePressed, Nothing, OwnAddressRemoved, PasswordRemovedByServer, PasswordReset, PasswordSetByServer, PasswordUpdated,
    PrimaryReplacedByServer, ProviderProves, ProviderShut, ProviderUnlinked, Released, ResetProves, Restricted, SessionEndedByServer,
    SignInProves, SignedOut,
};
use Fate::{Alive as A, Dead as D, Refused as R};
use Kind::{Attempt, Authorization, Invitation, NotMe, Release, Reset, SignInLink, SignInTyped, Unsubscribe, Verification};
use model::limit::Limits;
use serde_json::json;
use support::{Answer, Snapshot, TestApp};

use super::code_world::{AccountFacts, Base, Event, KINDS, Kind, ME, World, opens};
use crate::auth::assert_error;

/// An event's effect on an existing code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Alive,
    /// The code no longer exists.
    Dead,
    /// The code still exists, but is rejected for a different reason.
    Refused(u16, &'static str),
}

const MISMATCH: Fate = R(403, "TEAM_INVITATION_EMAIL_MISMATCH");
const OFF: Fate = R(403, "MAGIC_LINK_NOT_ENABLED");
const WRONG_TOTP: Fate = R(400, "INVALID_TOTP_CODE");
const RESTRICTED: Fate = R(403, "RESTRICTED_USER_NOT_ALLOWED");
const ANONYMOUS: Fate = R(401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED");
const NO_CHANNEL: Fate = R(404, "CONTACT_CHANNEL_NOT_FOUND");
const NOBODY: Fate = R(401, "ACCESS_TOKEN_EXPIRED");

/// Each event with its effect on each of [`KINDS`], and with the reason for the effect.
#[rustfmt::skip]
const FATES: [(Event, &str, [Fate; 10]); 33] = [
    //                         sign-in by
    //                         link  typed verif. reset attempt oauth invitation not-me release unsubscribe
    (Nothing,                  "without an event, each code works",
                              [A,    A,    A,     A,    A,      A,    A,         A,     A,      A]),
    (NameChanged,              "a name is not a credential",
                              [A,    A,    A,     A,    A,      A,    A,         A,     A,      A]),
    (SignedOut,                "codes do not belong to the session",
                              [A,    A,    A,     A,    A,      A,    A,         A,     A,      A]),
    (SessionEndedByServer,     "the same",
                              [A,    A,    A,     A,    A,      A,    A,         A,     A,      A]),
    (AddressAdded,             "no earlier code is for this address",
                              [A,    A,    A,     A,    A,      A,    A,         A,     A,      A]),
    (AddressVerified,          "no earlier code is for this address",
                              [A,    A,    A,     A,    A,      A,    A,         A,     A,      A]),
    (PasswordUpdated,          "credentials changed; invitations belong to an address, links give something back",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (PasswordReset,            "the same; the other reset code is affected too",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (FirstPassword,            "the same",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (PasswordSetByServer,      "the same",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (PasswordRemovedByServer,  "the same",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (EveryoneOut,              "signing out everywhere invalidates codes that sign in",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (EveryoneOutByServer,      "the same",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (AddressRemoved,           "an address other than the code's was removed",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (AddressReplaced,          "the same",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (AddressNoLongerSignsIn,   "the same",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (NoLongerPrimary,          "another address represents the account",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (PrimaryReplacedByServer,  "the same",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (OwnAddressRemoved,        "the code's own address was removed: it neither signs up nor joins a team",
                              [D,    D,    D,     D,    D,      D,    MISMATCH,  A,     A,      A]),
    (ProviderUnlinked,         "a sign-in method was removed",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (ProviderShut,             "the same",
                              [D,    D,    D,     D,    D,      D,    A,         A,     A,      A]),
    (EmailCodesOff,            "sign-in codes are disabled; other codes are unaffected",
                              [OFF,  OFF,  A,     A,    A,      A,    A,         A,     A,      A]),
    (AuthenticatorSet,         "first factors lead to the new app, codes of the old one are wrong",
                              [A,    A,    A,     A,    WRONG_TOTP, A, A,        A,     A,      A]),
    (AuthenticatorRemoved,     "codes of the app are no longer valid",
                              [A,    A,    A,     A,    WRONG_TOTP, A, A,        A,     A,      A]),
    (NotMePressed,             "everybody is signed out, and later additions are removed; earlier links undo more",
                              [D,    D,    D,     D,    D,      D,    A,         A,     D,      A]),
    (Released,                 "an address was removed; the link works once",
                              [D,    D,    D,     D,    D,      D,    A,         A,     D,      A]),
    (Restricted,               "the codes give restricted access; restricted users cannot join a team",
                              [A,    A,    A,     A,    A,      A,    RESTRICTED, A,    A,      A]),
    (Anonymous,                "the codes give anonymous access",
                              [A,    A,    A,     A,    A,      A,    ANONYMOUS, A,     A,      A]),
    (Deleted,                  "their user no longer exists",
                              [D,    D,    NO_CHANNEL, D, D,    D,    NOBODY,    D,     D,      D]),
    (ResetProves,              "the account has a new owner; emails to its address continue",
                              [D,    D,    D,     D,    D,      D,    MISMATCH,  D,     D,      A]),
    (SignInProves,             "the same",
                              [D,    D,    D,     D,    D,      D,    MISMATCH,  D,     D,      A]),
    (ProviderProves,           "the same",
                              [D,    D,    D,     D,    D,      D,    MISMATCH,  D,     D,      A]),
    (CreatorProves,            "the account stays its creator's",
                              [A,    A,    A,     A,    A,      A,    A,         A,     A,      A]),
];

impl Event {
    /// Whether the event is the first proof of the account's original address.
    fn is_proof(self) -> bool {
        [ResetProves, SignInProves, ProviderProves, CreatorProves].contains(&self)
    }

    fn base(self, has_app: bool) -> Base {
        Base { is_proved: !self.is_proof(), has_password: self != FirstPassword, has_app }
    }
}

impl World {
    async fn assert_fate(&self, kind: Kind, code: &str, fate: Fate, what: &str) {
        let is_valid = self.is_valid(kind, code).await;
        let before = self.app.rows();
        let answer = self.redeem(kind, code).await;
        if fate == A {
            assert!(is_valid.unwrap_or(true), "{what}");
            assert!(is_done(kind, &answer), "{what}: {}", answer.text());
            return;
        }
        match (fate, kind) {
            (R(status, reason), _) => drop(assert_error(&answer, status, reason)),
            (_, NotMe) => assert!(answer.text().contains("There is nothing to undo"), "{what}: {}", answer.text()),
            (_, Release | Unsubscribe) => assert!(answer.status() == 200 && !is_done(kind, &answer), "{what}: {}", answer.text()),
            (_, Authorization) => drop(assert_error(&answer, 400, "INVALID_AUTHORIZATION_CODE")),
            _ => {
                assert!(!is_valid.unwrap_or(false), "{what}");
                assert_error(&answer, 404, "VERIFICATION_CODE_NOT_FOUND");
            }
        }
        let after = self.app.rows();
        let changed = before.changed(&after);
        let is_count = |(pk, _): &(String, String)| pk.starts_with("C#");
        // Accepting an invitation requires a new session, which the audit trail records. The trail
        // also records wrong codes.
        let is_session = |(pk, sk): &(String, String)| kind == Invitation && (sk.starts_with("SESSION#") || pk.starts_with("R#"));
        let is_told = |(pk, _): &(String, String)| matches!(kind, Invitation | Attempt) && pk.contains("#TRAIL#");
        let other: Vec<_> = changed.iter().filter(|key| !is_count(key) && !is_session(key) && !is_told(key)).collect();
        assert!(other.is_empty(), "{what} changes {other:?}");
    }
}

/// Whether the response shows that the code had its effect.
fn is_done(kind: Kind, answer: &Answer) -> bool {
    match kind {
        SignInLink | SignInTyped | Authorization => opens(answer),
        Verification | Reset | Attempt | Invitation => answer.status() == 200,
        NotMe => answer.text().contains("The changes are undone"),
        Release => answer.text().contains("Your address is free again"),
        Unsubscribe => answer.text().contains("You are unsubscribed"),
    }
}

/// Accounts that have a code of every kind. Each account is created once.
#[derive(Default)]
struct Bases(BTreeMap<Base, (Snapshot, AccountFacts)>);

impl Bases {
    async fn begin(&mut self, base: Base) -> (World, AccountFacts) {
        if let Entry::Vacant(place) = self.0.entry(base) {
            let world = World::new(base).await;
            let known = world.known().await;
            place.insert((world.app.snapshot().unobserved(), known));
        }
        let (snapshot, known) = &self.0[&base];
        (World::of(known, TestApp::start_from(snapshot, Limits::off()).await, base), known.clone())
    }
}

#[tokio::test]
async fn every_event_affects_every_kind_of_code_as_the_table_says() {
    let mut bases = Bases::default();
    for (event, why, fates) in FATES {
        for has_app in [false, true] {
            let base = event.base(has_app);
            let (world, known) = bases.begin(base).await;
            world.happen(event, &known.later_not_me, &known.codes[&Release]).await;
            let snapshot = world.app.snapshot();
            // Sign-in attempts require an account with an authenticator app. All other codes are
            // tried on an account without such an app.
            for (kind, fate) in KINDS.into_iter().zip(fates).filter(|(kind, _)| (*kind == Attempt) == has_app) {
                let world = World::of(&known, TestApp::start_from(&snapshot, Limits::off()).await, base);
                let what = format!("{kind:?} after {event:?} ({why})");
                world.assert_fate(kind, &known.codes[&kind], fate, &what).await;
            }
        }
    }
}

#[test]
fn the_table_lists_every_event_once() {
    let mut events: Vec<Event> = FATES.iter().map(|(event, ..)| *event).collect();
    events.sort_unstable();
    events.dedup();
    // `CreatorProves` is the last event, and events are numbered from 0.
    assert_eq!([FATES.len(), events.len()], [CreatorProves as usize + 1; 2]);
}

/// An administrator's restriction does not invalidate codes.
#[tokio::test]
async fn a_code_of_a_restricted_user_opens_a_restricted_session() {
    for kind in [SignInLink, Authorization] {
        let world = World::new(Base::PLAIN).await;
        let code = world.code(kind).await;
        world.happen(Restricted, "", "").await;
        let answer = world.redeem(kind, &code).await;
        assert_eq!(answer.status(), 200, "{kind:?}: {}", answer.text());
        let caller = world.app.client().with("x-stack-access-token", answer.json()["access_token"].as_str().unwrap());
        assert_error(&caller.get(ME).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
        assert_error(&caller.patch(ME, json!({ "display_name": "Eve" })).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    }
}
