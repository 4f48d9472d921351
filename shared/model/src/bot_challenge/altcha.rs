//! Proof of work for the ALTCHA widget (npm `altcha` version 3, protocol version 2).
//!
//! A challenge is a set of signed parameters; nothing is stored until a solution arrives. The
//! browser searches for a counter for which PBKDF2, applied to the nonce and the counter, gives a
//! key with a given prefix. Checking a solution takes one PBKDF2 computation. A challenge contains
//! its project, so that no other project accepts it, and its level, which a flood raises.
//!
//! Proof of work makes floods costly, but does not stop a program that does the work.

use std::num::NonZeroU32;

use base16ct::lower;
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use crypto::challenge_key::ChallengeKey;
use jiff::{SignedDuration, Timestamp};
use ring::pbkdf2;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::ProjectId;

/// The lifetime of a challenge.
pub const LIFE: SignedDuration = SignedDuration::from_mins(5);
const MARGIN: SignedDuration = SignedDuration::from_mins(10);
/// The hardest level: sixteen times the work of level 0.
const MAX_LEVEL: u32 = 4;
/// The maximum length of a payload, in bytes; real payloads take about 650.
const MAX_PAYLOAD: usize = 4096;
/// PBKDF2 iterations per try at level 0. The average search, 4096 tries, takes half a second on one
/// core of a laptop. The widget is faster, because it uses several cores.
const COST: u32 = 250;
/// The hexadecimal prefix that a key must have: 4096 tries on average.
const PREFIX: &str = "000";
const ALGORITHM: &str = "PBKDF2/SHA-256";
/// Length of the derived key in bytes.
const KEY_LENGTH: usize = 32;

/// Accepts base64 with or without padding, because libraries send both.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// The work required by a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// From 0 to 4; each level doubles the work.
    pub level: u32,
    /// Iterations of PBKDF2 for each try.
    pub cost: u32,
    /// The prefix that the key must have, in hexadecimal.
    pub prefix: &'static str,
}

impl Work {
    /// The work of a challenge while the usual rate is exceeded by `excess` (see
    /// [`Tally::excess`](crate::bot_challenge::rate::Tally::excess)).
    pub fn of(excess: u32) -> Self {
        let level = excess.min(MAX_LEVEL);
        Self { level, cost: COST << level, prefix: PREFIX }
    }
}

/// The lowest accepted level of a solved challenge: one below the current level, because rates
/// change while people type.
pub fn min_level(excess: u32) -> u32 {
    Work::of(excess).level.saturating_sub(1)
}

/// A challenge in the form in which the widget fetches it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// The parameters that determine the work.
    pub parameters: Parameters,
    /// HMAC-SHA-256 of the parameters, in hexadecimal.
    pub signature: String,
}

/// The signed part of a challenge. The signature covers the JSON of these fields, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Parameters {
    /// The key derivation function.
    #[schema(example = "PBKDF2/SHA-256")]
    algorithm: String,
    /// Iterations of the key derivation.
    #[schema(example = 250)]
    cost: u32,
    /// The parameters that this service adds to those of the protocol.
    data: Data,
    /// When the challenge expires, in seconds since the Unix epoch.
    expires_at: i64,
    /// Length of the derived key in bytes.
    #[schema(example = 32)]
    key_length: usize,
    /// The prefix that the derived key must have, in hexadecimal.
    #[schema(example = "000")]
    key_prefix: String,
    /// 16 random bytes in hexadecimal; the counter is appended to them.
    nonce: String,
    /// The salt of the key derivation: 16 random bytes in hexadecimal.
    salt: String,
}

/// The level and the project that a challenge is valid for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// From 0 to 4; each level doubles the work.
    level: u32,
    project: ProjectId,
}

impl Challenge {
    /// A new challenge for a project; `None` if the function has no deployment secret.
    pub fn new(key: &ChallengeKey, entropy: &Entropy, project: &ProjectId, work: Work, now: Timestamp) -> Option<Self> {
        let parameters = Parameters {
            algorithm: ALGORITHM.to_owned(),
            cost: work.cost,
            data: Data { level: work.level, project: project.clone() },
            expires_at: after(now, LIFE).as_second(),
            key_length: KEY_LENGTH,
            key_prefix: work.prefix.to_owned(),
            nonce: lower::encode_string(&entropy.bytes::<16>()),
            salt: lower::encode_string(&entropy.bytes::<16>()),
        };
        let signature = lower::encode_string(&key.sign(&parameters.text()?)?);
        Some(Self { parameters, signature })
    }
}

impl Parameters {
    fn text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// Whether a counter solves the challenge.
    pub fn is_solved_by(&self, counter: u32) -> bool {
        let (Some(mut password), Some(salt)) = (bytes(&self.nonce), bytes(&self.salt)) else { return false };
        let Some(cost) = NonZeroU32::new(self.cost) else { return false };
        password.extend(counter.to_be_bytes());
        let mut key = [0; KEY_LENGTH];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, cost, &salt, &password, &mut key);
        lower::encode_string(&key).starts_with(&self.key_prefix)
    }
}

/// The widget's payload: JSON in base64.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    challenge: Challenge,
    solution: Counter,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counter {
    counter: u32,
}

/// An unexpired challenge for the expected project, which the payload solves. The store decides
/// whether the challenge has been used before.
#[derive(Debug, PartialEq, Eq)]
pub struct Solution {
    /// Identifies the challenge within its project.
    pub id: String,
    /// The level of the challenge.
    pub level: u32,
    expires_at: i64,
}

/// Why a payload is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The payload is too long, or is not the expected JSON in base64.
    Malformed,
    /// The challenge was not signed by this service, or was created for another project.
    Foreign,
    /// The challenge has expired.
    Expired,
    /// The counter does not solve the challenge.
    Unsolved,
}

impl Refusal {
    /// The message for the user.
    pub fn message(self) -> &'static str {
        match self {
            Self::Malformed => "the bot challenge's solution is malformed; solve a new challenge",
            Self::Foreign => "the bot challenge was not issued for this project; solve a new challenge",
            Self::Expired => "the bot challenge has expired; solve a new challenge",
            Self::Unsolved => "the bot challenge has not been solved; solve a new challenge",
        }
    }
}

impl Solution {
    /// Parses and checks the widget's payload. The signature is checked before any expensive work.
    pub fn read(payload: &str, key: &ChallengeKey, project: &ProjectId, now: Timestamp) -> Result<Self, Refusal> {
        if payload.len() > MAX_PAYLOAD {
            return Err(Refusal::Malformed);
        }
        let json = BASE64.decode(payload).map_err(|_| Refusal::Malformed)?;
        let Payload { challenge, solution } = serde_json::from_slice(&json).map_err(|_| Refusal::Malformed)?;
        let (parameters, signature) = (challenge.parameters, bytes(&challenge.signature).ok_or(Refusal::Malformed)?);
        let text = parameters.text().ok_or(Refusal::Malformed)?;
        if !key.verifies(&text, &signature) || parameters.data.project != *project {
            return Err(Refusal::Foreign);
        }
        if parameters.expires_at <= now.as_second() {
            return Err(Refusal::Expired);
        }
        if !parameters.is_solved_by(solution.counter) {
            return Err(Refusal::Unsolved);
        }
        Ok(Self { id: parameters.nonce, level: parameters.data.level, expires_at: parameters.expires_at })
    }

    /// When the record of a used solution may be deleted: from then on, every instance rejects the
    /// solution as expired.
    pub fn forgotten_at(&self) -> Timestamp {
        after(Timestamp::from_second(self.expires_at).unwrap_or(Timestamp::MAX), MARGIN)
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    lower::decode_vec(hex).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crypto::deployment_secret::DeploymentSecret;

    const EASY: Work = Work { level: 0, cost: 1, prefix: "0" };

    fn key() -> ChallengeKey {
        ChallengeKey::new(&DeploymentSecret::from("a deployment secret for tests alone".to_owned()))
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_767_268_800).expect("in range")
    }

    fn challenge() -> Challenge {
        Challenge::new(&key(), &Entropy::system(), &ProjectId::internal(), EASY, now()).expect("a secret")
    }

    fn solved(challenge: &Challenge) -> Value {
        let counter = (0..1_000_000).find(|counter| challenge.parameters.is_solved_by(*counter)).expect("a solution");
        json!({ "challenge": challenge, "solution": { "counter": counter, "derivedKey": "00", "time": 12.5 } })
    }

    fn read(payload: &Value, now: Timestamp) -> Result<Solution, Refusal> {
        Solution::read(&BASE64.encode(payload.to_string()), &key(), &ProjectId::internal(), now)
    }

    #[test]
    fn a_solved_challenge_is_accepted_until_it_expires() {
        let challenge = challenge();
        let payload = solved(&challenge);
        let solution = read(&payload, now()).expect("a solution");
        assert_eq!((solution.id.as_str(), solution.level), (challenge.parameters.nonce.as_str(), 0));
        assert!(read(&payload, after(now(), SignedDuration::from_secs(299))).is_ok());
        assert_eq!(read(&payload, after(now(), LIFE)), Err(Refusal::Expired));
        let unpadded = BASE64.encode(payload.to_string()).trim_end_matches('=').to_owned();
        assert!(Solution::read(&unpadded, &key(), &ProjectId::internal(), now()).is_ok());
    }

    #[test]
    fn a_modified_challenge_is_rejected_as_foreign() {
        let payload = solved(&challenge());
        let changes = [
            ("cost", json!(2)),
            ("keyPrefix", json!("")),
            ("expiresAt", json!(9_999_999_999_i64)),
            ("nonce", json!("00".repeat(16))),
            ("salt", json!("00".repeat(16))),
            ("data", json!({ "level": 4, "project": "internal" })),
        ];
        for (name, value) in changes {
            let mut changed = payload.clone();
            changed["challenge"]["parameters"][name] = value;
            assert_eq!(read(&changed, now()), Err(Refusal::Foreign), "{name}");
        }
        for signature in ["", "00", &"00".repeat(32)] {
            let mut changed = payload.clone();
            changed["challenge"]["signature"] = json!(signature);
            assert_eq!(read(&changed, now()), Err(Refusal::Foreign), "{signature}");
        }
        let other = ProjectId::parse("7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21").expect("an id");
        assert_eq!(Solution::read(&BASE64.encode(payload.to_string()), &key(), &other, now()), Err(Refusal::Foreign));
    }

    #[test]
    fn a_wrong_counter_is_not_a_solution() {
        let challenge = challenge();
        let wrong = (0..1_000_000).find(|counter| !challenge.parameters.is_solved_by(*counter)).expect("most are wrong");
        let mut payload = solved(&challenge);
        payload["solution"]["counter"] = json!(wrong);
        assert_eq!(read(&payload, now()), Err(Refusal::Unsolved));
    }

    #[test]
    fn an_invalid_payload_is_malformed() {
        let malformed =
            |text: &str| assert_eq!(Solution::read(text, &key(), &ProjectId::internal(), now()), Err(Refusal::Malformed), "{text}");
        for text in ["", "no base64!", &"A".repeat(MAX_PAYLOAD + 4), &BASE64.encode("{}"), &BASE64.encode("null")] {
            malformed(text);
        }
        let payload = solved(&challenge());
        for (pointer, value) in [
            ("/solution/counter", json!(-1)),
            ("/solution/counter", json!(4_294_967_296_i64)),
            ("/challenge/parameters/cost", json!("1")),
            ("/challenge/signature", json!("ä")),
            ("/challenge/signature", json!("0")),
        ] {
            let mut changed = payload.clone();
            *changed.pointer_mut(pointer).expect("a field") = value;
            malformed(&BASE64.encode(changed.to_string()));
        }
        let mut more = payload;
        more["challenge"]["parameters"]["memoryCost"] = json!(1);
        malformed(&BASE64.encode(more.to_string()));
    }

    /// The expected values come from npm's `altcha-lib` 2.8.0, with the same parameters.
    #[test]
    fn keys_are_derived_as_in_the_widget() {
        let mut parameters = challenge().parameters;
        parameters.nonce = "000102030405060708090a0b0c0d0e0f".to_owned();
        parameters.salt = "101112131415161718191a1b1c1d1e1f".to_owned();
        parameters.cost = 250;
        parameters.key_prefix = "00058e7a3266519992c61c8fbb9d09f81189343b73b2c4b3952bec6ce40ffc57".to_owned();
        assert!(parameters.is_solved_by(10_001) && !parameters.is_solved_by(10_002));
    }

    #[test]
    fn each_level_doubles_the_work_up_to_a_maximum() {
        let costs = [0, 1, 2, 3, 4, 5, 31].map(|excess| Work::of(excess).cost);
        assert_eq!(costs, [250, 500, 1000, 2000, 4000, 4000, 4000]);
        assert_eq!([0, 1, 2, 3, 9].map(min_level), [0, 0, 1, 2, 3]);
    }
}
