//! Proof of work for the widget of ALTCHA (npm `altcha`, version 3; version 2 of its protocol).
//!
//! A challenge is a set of parameters with our signature: nothing is stored until one is solved. The browser looks for a counter with
//! which PBKDF2 over nonce and counter gives a key of a certain beginning; checking takes one PBKDF2. How long the browser looks is the
//! number of tries that the beginning takes, times the iterations of each. A challenge names its project, so it is worth nothing in
//! another, and the level at which it was made, so that a stock of easy ones is worth nothing when a flood begins.
//!
//! This makes a flood cost something; it does not keep out a program that does the work.

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

/// Life of a challenge.
pub const LIFE: SignedDuration = SignedDuration::from_mins(5);
/// How far the clocks of instances may be apart.
const MARGIN: SignedDuration = SignedDuration::from_mins(10);
/// The hardest level: sixteen times the work of the first.
const MOST_LEVEL: u32 = 4;
/// Longest payload that is looked at, in characters; one has about 500.
const MAX_PAYLOAD: usize = 4096;
/// Iterations of the first level. With 4096 tries that is half a second of one core of a laptop, less with the several that the widget
/// uses.
const COST: u32 = 250;
/// Hexadecimal digits that a key has to begin with: 4096 tries on average.
const PREFIX: &str = "000";
const ALGORITHM: &str = "PBKDF2/SHA-256";
/// Bytes.
const KEY_LENGTH: usize = 32;

/// With or without padding, as libraries send both.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// How much work a challenge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    pub level: u32,
    /// Iterations of PBKDF2 for each try.
    pub cost: u32,
    /// What the key has to begin with, in hexadecimal.
    pub prefix: &'static str,
}

impl Work {
    /// What a caller that far above its usual rate has to do.
    pub fn of(excess: u32) -> Self {
        let level = excess.min(MOST_LEVEL);
        Self { level, cost: COST << level, prefix: PREFIX }
    }
}

/// The least level at which a challenge may have been made that is presented now: one below, as rates move while people type.
pub fn least_level(excess: u32) -> u32 {
    Work::of(excess).level.saturating_sub(1)
}

/// A challenge as the widget fetches it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    pub parameters: Parameters,
    /// HMAC-SHA-256 of the parameters, in hexadecimal.
    pub signature: String,
}

/// What is signed: the fields are in the order of their names, as the text of the signature has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Parameters {
    /// How keys are derived.
    #[schema(example = "PBKDF2/SHA-256")]
    algorithm: String,
    /// Iterations of the key derivation.
    #[schema(example = 250)]
    cost: u32,
    /// What the challenge is good for.
    data: Data,
    /// Seconds since the epoch.
    expires_at: i64,
    /// Bytes of the derived key.
    #[schema(example = 32)]
    key_length: usize,
    /// What the derived key has to begin with, in hexadecimal.
    #[schema(example = "000")]
    key_prefix: String,
    /// 16 random bytes in hexadecimal; the counter is put behind them.
    nonce: String,
    /// 16 random bytes in hexadecimal.
    salt: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// 0 to 4: each level is twice the work of the one before.
    level: u32,
    project: ProjectId,
}

impl Challenge {
    /// A new challenge of a project; none where the function has no deployment secret.
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

/// What the widget gives: base64 of this as JSON.
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

/// A challenge of ours that is solved and has not expired; whether it was used before is for the table to say.
#[derive(Debug, PartialEq, Eq)]
pub struct Solution {
    /// Names the challenge among those of its project.
    pub id: String,
    /// The level at which the challenge was made.
    pub level: u32,
    expires_at: i64,
}

/// Why a payload is no solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejected {
    Malformed,
    /// Not signed by this service, or for another project.
    Foreign,
    Expired,
    Unsolved,
}

impl Rejected {
    /// What the user is told.
    pub fn message(self) -> &'static str {
        match self {
            Self::Malformed => "the solution of the bot challenge cannot be read",
            Self::Foreign => "the bot challenge is not one of this project",
            Self::Expired => "the bot challenge has expired; solve another one",
            Self::Unsolved => "the bot challenge is not solved",
        }
    }
}

impl Solution {
    /// Reads what the widget gave. The signature is looked at before anything that costs.
    pub fn read(payload: &str, key: &ChallengeKey, project: &ProjectId, now: Timestamp) -> Result<Self, Rejected> {
        if payload.len() > MAX_PAYLOAD {
            return Err(Rejected::Malformed);
        }
        let json = BASE64.decode(payload).map_err(|_| Rejected::Malformed)?;
        let Payload { challenge, solution } = serde_json::from_slice(&json).map_err(|_| Rejected::Malformed)?;
        let (parameters, signature) = (challenge.parameters, bytes(&challenge.signature).ok_or(Rejected::Malformed)?);
        let text = parameters.text().ok_or(Rejected::Malformed)?;
        if !key.verifies(&text, &signature) || parameters.data.project != *project {
            return Err(Rejected::Foreign);
        }
        if parameters.expires_at <= now.as_second() {
            return Err(Rejected::Expired);
        }
        if !parameters.is_solved_by(solution.counter) {
            return Err(Rejected::Unsolved);
        }
        Ok(Self { id: parameters.nonce, level: parameters.data.level, expires_at: parameters.expires_at })
    }

    /// When no instance takes it any more.
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

    fn read(payload: &Value, now: Timestamp) -> Result<Solution, Rejected> {
        Solution::read(&BASE64.encode(payload.to_string()), &key(), &ProjectId::internal(), now)
    }

    #[test]
    fn a_solved_challenge_is_taken_until_it_expires() {
        let challenge = challenge();
        let payload = solved(&challenge);
        let solution = read(&payload, now()).expect("a solution");
        assert_eq!((solution.id.as_str(), solution.level), (challenge.parameters.nonce.as_str(), 0));
        assert!(read(&payload, after(now(), SignedDuration::from_secs(299))).is_ok());
        assert_eq!(read(&payload, after(now(), LIFE)), Err(Rejected::Expired));
        let unpadded = BASE64.encode(payload.to_string()).trim_end_matches('=').to_owned();
        assert!(Solution::read(&unpadded, &key(), &ProjectId::internal(), now()).is_ok());
    }

    #[test]
    fn a_challenge_that_is_changed_is_not_ours() {
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
            assert_eq!(read(&changed, now()), Err(Rejected::Foreign), "{name}");
        }
        for signature in ["", "00", &"00".repeat(32)] {
            let mut changed = payload.clone();
            changed["challenge"]["signature"] = json!(signature);
            assert_eq!(read(&changed, now()), Err(Rejected::Foreign), "{signature}");
        }
        let other = ProjectId::parse("7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21").expect("an id");
        assert_eq!(Solution::read(&BASE64.encode(payload.to_string()), &key(), &other, now()), Err(Rejected::Foreign));
    }

    #[test]
    fn a_wrong_counter_solves_nothing() {
        let challenge = challenge();
        let wrong = (0..1_000_000).find(|counter| !challenge.parameters.is_solved_by(*counter)).expect("most are wrong");
        let mut payload = solved(&challenge);
        payload["solution"]["counter"] = json!(wrong);
        assert_eq!(read(&payload, now()), Err(Rejected::Unsolved));
    }

    #[test]
    fn what_is_no_payload_is_malformed() {
        let malformed =
            |text: &str| assert_eq!(Solution::read(text, &key(), &ProjectId::internal(), now()), Err(Rejected::Malformed), "{text}");
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

    /// The numbers are those of npm's `altcha-lib` 2.8.0, for the same parameters.
    #[test]
    fn a_key_is_derived_as_the_widget_derives_it() {
        let mut parameters = challenge().parameters;
        parameters.nonce = "000102030405060708090a0b0c0d0e0f".to_owned();
        parameters.salt = "101112131415161718191a1b1c1d1e1f".to_owned();
        parameters.cost = 250;
        parameters.key_prefix = "00058e7a3266519992c61c8fbb9d09f81189343b73b2c4b3952bec6ce40ffc57".to_owned();
        assert!(parameters.is_solved_by(10_001) && !parameters.is_solved_by(10_002));
    }

    #[test]
    fn each_level_is_twice_the_work_and_the_last_one_has_an_end() {
        let costs = [0, 1, 2, 3, 4, 5, 31].map(|excess| Work::of(excess).cost);
        assert_eq!(costs, [250, 500, 1000, 2000, 4000, 4000, 4000]);
        assert_eq!([0, 1, 2, 3, 9].map(least_level), [0, 0, 1, 2, 3]);
    }
}
