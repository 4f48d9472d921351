//! Password hashes: argon2id as PHC strings, and bcrypt for imported accounts.
//!
//! Each hash contains its parameters, so a sign-in can detect a hash with weaker parameters than
//! the current ones and replace it.
//!
//! Checking a wrong password takes the same work whether or not the account exists, and whichever
//! kind of hash the account has. The work is one argon2id hash at the current parameters and, if
//! the project has imported bcrypt hashes, one bcrypt hash at their highest cost. If the account's
//! argon2id hash is cheaper than the current parameters, an extra hash makes up the difference, and
//! the total time is the same to within a few percent. Checking a more expensive hash, made before
//! the parameters were lowered, still takes longer. bcrypt of cost `n` runs 2^n rounds, so a check
//! of cost `k` followed by dummy checks of costs `k` to `n - 1` adds up to the same work.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use argon2::password_hash::Error;
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use wire::entropy::Entropy;

use crate::password::Password;
use crate::password::cost::{Cost, remainder};

/// A stored hash: a PHC string of argon2id, or an imported bcrypt hash (`$2a$`, `$2b$`, `$2y$`).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hash(String);

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hash(..)")
    }
}

/// The bcrypt costs that can be imported. bcrypt's minimum is 4. 2^12 rounds take a quarter of a
/// second, and checking any wrong password in the project then takes just as long. Earlier versions
/// accepted costs up to 16.
const BCRYPT_COSTS: std::ops::RangeInclusive<u32> = 4..=12;

impl Hash {
    /// Accepts a bcrypt hash from another system; `None` for anything else, or for a cost outside 4
    /// to 12.
    pub fn import_bcrypt(text: &str) -> Option<Self> {
        let parts: bcrypt::HashParts = text.parse().ok()?;
        let known = ["$2a$", "$2b$", "$2y$"].iter().any(|prefix| text.starts_with(prefix));
        (known && text.len() == 60 && BCRYPT_COSTS.contains(&parts.get_cost())).then(|| Self(text.to_owned()))
    }

    /// The cost of a bcrypt hash; `None` for argon2id.
    pub fn bcrypt_cost(&self) -> Option<u32> {
        self.0.strip_prefix("$2")?.split('$').nth(1)?.parse().ok()
    }
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The password is wrong, or there is no hash to check it against.
    Wrong,
    /// The password is right.
    Right,
    /// The password is right, but the hash should be replaced: it is weaker than a new one, or was
    /// made before passwords were normalized.
    RightButWeak,
}

thread_local! {
    /// Argon2's memory, which each hashing thread reuses. Allocating memory for every hash would be
    /// slow, because the operating system zeroes new memory. See [`Hasher::release`].
    static MEMORY: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

/// The minimum size to reserve for [`MEMORY`], in blocks of 1 KiB. glibc maps allocations above 32
/// MiB separately, and returns their memory to the operating system when they are freed. glibc may
/// keep smaller allocations. Blocks that have never been filled do not take up memory.
const MIN_RESERVED: usize = (32 << 10) + 1;

/// The threads do not hold any memory.
const FREE: u8 = 0;
/// The threads may hold memory, and there has been no work since the last [`Hasher::release`].
const IDLE: u8 = 1;
/// There has been work since the last [`Hasher::release`].
const USED: u8 = 2;

/// Hashes and checks passwords off the async threads, at most one per core at a time. Each hash
/// takes the memory of the parameters, 19 MiB by default. The number of threads is fixed: in a pool
/// that grows with load, more threads would keep memory, and [`Self::release`] could not reach all
/// of them.
#[derive(Clone)]
pub struct Hasher {
    params: Params,
    threads: Arc<OnceLock<ThreadPool>>,
    /// How the memory of the threads was last used: [`FREE`], [`IDLE`] or [`USED`].
    usage: Arc<AtomicU8>,
    /// A hash that no password matches, to check against if the account does not have an argon2id
    /// hash.
    decoy: Arc<str>,
}

impl Default for Hasher {
    fn default() -> Self {
        Self::at(Cost::STANDARD)
    }
}

impl Hasher {
    /// A hasher whose new hashes have this cost.
    pub fn at(cost: Cost) -> Self {
        Self::new(cost.memory(), cost.passes())
    }

    /// A hasher with any cost: `memory` in KiB, and the number of `passes` over the memory. Tests
    /// use low costs.
    #[expect(clippy::expect_used, reason = "the parameters are constants of this program or those of a `Cost`")]
    pub fn new(memory: u32, passes: u32) -> Self {
        let params = Params::new(memory, passes, 1, Some(32)).expect("parameters within argon2's ranges");
        // The digest is all zeros: checking a password against it takes as much work as checking
        // one against a real hash, but never succeeds.
        let decoy = format!("$argon2id$v=19$m={memory},t={passes},p=1$Z2F0ZWxldC1ub2JvZHk${}", "A".repeat(43));
        Self { params, threads: Arc::default(), usage: Arc::new(AtomicU8::new(FREE)), decoy: decoy.into() }
    }

    /// Frees the memory of the hashing threads if there has been no work since the last call. A
    /// long-lived process calls this method from time to time, so that it does not keep the memory
    /// after a burst of work.
    pub fn release(&self) {
        let becomes = |from: u8, to: u8| self.usage.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if !becomes(USED, IDLE)
            && becomes(IDLE, FREE)
            && let Some(threads) = self.threads.get()
        {
            threads.spawn_broadcast(|_| drop(MEMORY.take()));
        }
    }

    /// The parameters for new hashes.
    pub(super) fn params(&self) -> &Params {
        &self.params
    }

    /// Hashes a password with argon2id and a random salt.
    #[expect(clippy::expect_used, reason = "salt and parameters are valid by construction, and hashing does not panic")]
    pub async fn hash(&self, entropy: &Entropy, password: &SecretString) -> Hash {
        let salt: [u8; 16] = entropy.bytes();
        let (params, password) = (self.params.clone(), password.clone());
        self.run(move || hash_now(params, &salt, password.expose_secret()).expect("valid parameters")).await
    }

    /// Checks `password` against `hash`; without a hash, does the same amount of work and returns
    /// [`Verdict::Wrong`]. `dearest` is the highest cost among the project's imported bcrypt
    /// hashes; `None` if there are none. `dearest` is also `None` for signed-in users, to whom the
    /// duration does not reveal anything new.
    pub async fn verify(&self, hash: Option<&Hash>, password: &Password, dearest: Option<u32>) -> Verdict {
        let hasher = self.clone();
        let (hash, password) = (hash.cloned(), password.clone());
        self.run(move || hasher.verify_now(hash.as_ref(), &password, dearest)).await
    }

    fn verify_now(&self, hash: Option<&Hash>, password: &Password, dearest: Option<u32>) -> Verdict {
        let mut verdicts = password.forms().map(|form| self.verify_form(hash, form.expose_secret(), dearest));
        match verdicts.next() {
            // The hash may be of the password as typed, because earlier versions did not normalize
            // passwords. If the hash matches, it should be replaced.
            Some(Verdict::Wrong) | None => match verdicts.next() {
                Some(Verdict::Right | Verdict::RightButWeak) => Verdict::RightButWeak,
                Some(Verdict::Wrong) | None => Verdict::Wrong,
            },
            Some(verdict) => verdict,
        }
    }

    fn verify_form(&self, hash: Option<&Hash>, password: &str, dearest: Option<u32>) -> Verdict {
        let text = hash.map_or(&*self.decoy, |hash| hash.0.as_str());
        let cost = hash.and_then(Hash::bcrypt_cost);
        let right = match cost {
            Some(_) => bcrypt::verify(password, text).unwrap_or(false),
            None => is_right(text, password).unwrap_or(false),
        };
        match right && hash.is_some() {
            false => {
                self.pad(text, cost, password, dearest);
                Verdict::Wrong
            }
            true if self.is_weak(text) => Verdict::RightButWeak,
            true => Verdict::Right,
        }
    }

    /// After a check against this hash (bcrypt of `cost`, or argon2id), does the additional work
    /// that the most expensive check in the project would have taken.
    fn pad(&self, text: &str, cost: Option<u32>, password: &str, dearest: Option<u32>) {
        if let Some(stored) = params_of(text)
            && let Some((memory, passes)) = remainder((self.params.m_cost(), self.params.t_cost()), (stored.m_cost(), stored.t_cost()))
            && let Ok(params) = Params::new(memory, passes, 1, None)
        {
            let _ = black_box(output(&Argon2::new(Algorithm::Argon2id, Version::V0x13, params), password, &[0; 16]));
        }
        let missing = match (cost, dearest) {
            (Some(cost), dearest) => {
                let _ = black_box(is_right(&self.decoy, password));
                cost..dearest.unwrap_or(cost)
            }
            (None, Some(dearest)) => dearest..dearest + 1,
            (None, None) => 0..0,
        };
        for cost in missing {
            let _ = black_box(bcrypt::hash_with_salt_bytes(password, cost, [0; 16]));
        }
    }

    /// Whether a hash was made without argon2, or with less work (memory times passes) than a new
    /// hash.
    fn is_weak(&self, text: &str) -> bool {
        let filled = |params: &Params| u64::from(params.m_cost()) * u64::from(params.t_cost());
        params_of(text).is_none_or(|stored| filled(&stored) < filled(&self.params))
    }

    #[expect(clippy::expect_used, reason = "without threads no password can be checked; a panic in the work is a bug that must surface")]
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let threads = self.threads.get_or_init(|| {
            let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            ThreadPoolBuilder::new()
                .num_threads(cores)
                .thread_name(|n| format!("argon2-{n}"))
                .panic_handler(|_| {})
                .build()
                .expect("threads start")
        });
        let (done, result) = oneshot::channel();
        let usage = Arc::clone(&self.usage);
        threads.spawn(move || {
            // The caller may have disconnected while the work was queued.
            if done.is_closed() {
                return;
            }
            let answer = work();
            usage.store(USED, Ordering::Relaxed);
            // Fails if the caller has disconnected in the meantime.
            drop(done.send(answer));
        });
        result.await.expect("hashing ends")
    }
}

/// The parameters of an argon2 PHC string; `None` for a bcrypt hash.
fn params_of(text: &str) -> Option<Params> {
    PasswordHash::new(text).ok().and_then(|hash| Params::try_from(&hash).ok())
}

/// Hashes with argon2id on this thread.
fn hash_now(params: Params, salt: &[u8], password: &str) -> Result<Hash, Error> {
    let (algorithm, version) = (Algorithm::Argon2id, Version::V0x13);
    let hash = PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(version.into()),
        params: ParamsString::try_from(&params)?,
        salt: Some(Salt::new(salt)?),
        hash: Some(output(&Argon2::new(algorithm, version, params), password, salt)?),
    };
    Ok(Hash(hash.to_string()))
}

/// Whether a password matches an argon2 PHC string, with the algorithm and parameters of that
/// string.
fn is_right(text: &str, password: &str) -> Result<bool, Error> {
    let stored = PasswordHash::new(text)?;
    let (Some(salt), Some(expected)) = (stored.salt, stored.hash) else { return Ok(false) };
    let version = stored.version.map_or(Ok(Version::default()), Version::try_from)?;
    let argon2 = Argon2::new(Algorithm::try_from(stored.algorithm.as_str())?, version, Params::try_from(&stored)?);
    // Outputs are compared in constant time.
    Ok(output(&argon2, password, &salt)? == expected)
}

/// The argon2 output for a password or recovery code, computed in this thread's [`MEMORY`].
pub(super) fn output(argon2: &Argon2<'_>, password: &str, salt: &[u8]) -> Result<Output, Error> {
    let length = argon2.params().output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
    let mut bytes = [0; Output::MAX_LENGTH];
    let bytes = bytes.get_mut(..length).ok_or(Error::OutputSize)?;
    MEMORY.with_borrow_mut(|memory| {
        let blocks = argon2.params().block_count();
        if memory.len() < blocks {
            // Drop the old memory first, because growing it in place would copy its content
            // needlessly.
            *memory = Vec::new();
            memory.reserve_exact(blocks.max(MIN_RESERVED));
            memory.resize(blocks, Block::default());
        }
        argon2.hash_password_into_with_memory(password.as_bytes(), salt, bytes, memory)
    })?;
    Ok(Output::new(bytes)?)
}

#[cfg(test)]
mod tests;
