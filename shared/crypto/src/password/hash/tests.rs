//! Tests of password hashing, of the checks, and of the memory in use.

use std::task::{Context, Waker};

use super::*;

/// The number of memory blocks of the hashing threads.
fn blocks(hasher: &Hasher) -> usize {
    let threads = hasher.threads.get().expect("started");
    threads.broadcast(|_| MEMORY.with_borrow(Vec::len)).into_iter().sum()
}

#[tokio::test]
async fn memory_is_freed_after_two_releases_without_work() {
    let hasher = Hasher::new(64, 1);
    hasher.release();
    hasher.hash(&Entropy::system(), &secret("x")).await;
    for freed in [false, true, true] {
        hasher.release();
        assert_eq!(blocks(&hasher) == 0, freed);
    }
    hasher.hash(&Entropy::system(), &secret("x")).await;
    hasher.release();
    hasher.hash(&Entropy::system(), &secret("x")).await;
    hasher.release();
    assert!(blocks(&hasher) > 0, "there was work in between");
}

#[tokio::test]
async fn queued_work_of_a_caller_that_has_gone_is_skipped() {
    let hasher = Hasher::new(64, 1);
    let one = ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    hasher.threads.set(one).expect("not started yet");
    let ran = Arc::new(AtomicU8::new(0));
    let work = || {
        let ran = Arc::clone(&ran);
        move || ran.fetch_add(1, Ordering::Relaxed)
    };
    let (free, busy) = std::sync::mpsc::channel::<()>();
    hasher.threads.get().expect("started").spawn(move || _ = busy.recv());
    let mut gone = Box::pin(hasher.run(work()));
    assert!(gone.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(gone);
    drop(free);
    // There is only one thread, which does the work in order.
    hasher.run(work()).await;
    assert_eq!(ran.load(Ordering::Relaxed), 1);
}

fn secret(text: &str) -> SecretString {
    text.to_owned().into()
}

fn password(text: &str) -> Password {
    text.to_owned().into()
}

#[tokio::test]
async fn a_hash_verifies_only_its_password() {
    let hasher = Hasher::new(64, 1);
    let hash = hasher.hash(&Entropy::system(), &secret("correct horse")).await;
    assert!(hash.0.starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
    assert_eq!(hasher.verify(Some(&hash), &password("correct horse"), None).await, Verdict::Right);
    assert_eq!(hasher.verify(Some(&hash), &password("correct hors"), None).await, Verdict::Wrong);
    assert_eq!(hasher.verify(None, &password("correct horse"), None).await, Verdict::Wrong);
}

#[test]
fn hashes_match_the_reference_implementation() {
    // Memory use goes up, down and up again on the same thread.
    let (small, large) = (
        "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
    );
    for text in [small, large, small, large] {
        assert_eq!((is_right(text, "password"), is_right(text, "Password")), (Ok(true), Ok(false)), "{text}");
    }
    let params = Params::new(256, 2, 1, Some(32)).expect("parameters");
    assert_eq!(hash_now(params, b"somesalt", "password").map(|hash| hash.0).as_deref(), Ok(small));
    for senseless in ["", "plain", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ", "$argon2id$v=19$m=1,t=2,p=1$c29tc2FsdA$nf65EOgLrQMR"] {
        assert_ne!(is_right(senseless, "password"), Ok(true), "{senseless}");
    }
}

#[tokio::test]
async fn weaker_hashes_and_bcrypt_hashes_need_rehashing() {
    let hash = Hasher::new(64, 1).hash(&Entropy::system(), &secret("correct horse")).await;
    let strong = Hasher::new(128, 1);
    assert_eq!(strong.verify(Some(&hash), &password("correct horse"), None).await, Verdict::RightButWeak);

    let bcrypt = bcrypt::hash("correct horse", 4).ok().and_then(|text| Hash::import_bcrypt(&text));
    assert_eq!(strong.verify(bcrypt.as_ref(), &password("correct horse"), None).await, Verdict::RightButWeak);
    assert_eq!(strong.verify(bcrypt.as_ref(), &password("wrong horse"), None).await, Verdict::Wrong);
}

#[tokio::test]
async fn a_hash_of_the_unnormalised_password_still_verifies_and_needs_rehashing() {
    let hasher = Hasher::new(64, 1);
    let (composed, decomposed) = ("caf\u{e9} au lait", "cafe\u{301} au lait");
    let hash = hasher.hash(&Entropy::system(), &secret(decomposed)).await;
    assert_eq!(hasher.verify(Some(&hash), &password(decomposed), None).await, Verdict::RightButWeak);
    assert_eq!(hasher.verify(Some(&hash), &password(composed), None).await, Verdict::Wrong);
    let hash = hasher.hash(&Entropy::system(), password(decomposed).secret()).await;
    for form in [composed, decomposed] {
        assert_eq!(hasher.verify(Some(&hash), &password(form), None).await, Verdict::Right);
    }
}

#[tokio::test]
async fn a_wrong_password_is_rejected_with_any_kind_of_hash() {
    let hasher = Hasher::new(64, 1);
    let argon2 = hasher.hash(&Entropy::system(), &secret("correct horse")).await;
    let bcrypt = bcrypt::hash("correct horse", 4).ok().and_then(|text| Hash::import_bcrypt(&text));
    assert_eq!((argon2.bcrypt_cost(), bcrypt.as_ref().and_then(Hash::bcrypt_cost)), (None, Some(4)));
    for hash in [None, Some(&argon2), bcrypt.as_ref()] {
        for dearest in [None, Some(4), Some(5)] {
            assert_eq!(hasher.verify(hash, &password("wrong horse"), dearest).await, Verdict::Wrong);
        }
    }
}

#[test]
fn only_bcrypt_hashes_up_to_the_maximum_cost_are_imported() {
    assert!(Hash::import_bcrypt("$2b$10$abcdefghijklmnopqrstuuJLnlzKyzTpJ3xYBvrs2n6VzMUKWDCgK").is_some());
    assert!(Hash::import_bcrypt("$2b$03$abcdefghijklmnopqrstuuJLnlzKyzTpJ3xYBvrs2n6VzMUKWDCgK").is_none());
    assert!(Hash::import_bcrypt("$2b$13$abcdefghijklmnopqrstuuJLnlzKyzTpJ3xYBvrs2n6VzMUKWDCgK").is_none());
    assert!(Hash::import_bcrypt("$argon2id$v=19$m=64,t=1,p=1$AAAA$AAAA").is_none());
    assert!(Hash::import_bcrypt("plain").is_none());
}
