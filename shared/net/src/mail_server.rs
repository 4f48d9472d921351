//! The IP addresses of mail servers, whose names a project's administrators choose. Lookups have a
//! separate time limit and are limited in number (`lookups`). Sending gives up after a few seconds,
//! but the system may continue looking for a name much longer.

use std::error::Error as StdError;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::time::timeout;
use wire::id::ProjectId;

use crate::lookups::{Lookups, MAIL_SERVERS};
use crate::public_address::{among, rule};

type BoxError = Box<dyn StdError + Send + Sync>;

/// Resolves a host to one or more allowed IP addresses, on behalf of a project. Fails with
/// [`NotPublic`](crate::public_address::NotPublic) if no address is allowed, with an I/O error if
/// the name does not resolve, and with [`Elapsed`](tokio::time::error::Elapsed) if resolving takes
/// longer than `limit`.
pub async fn resolve(
    project: &ProjectId,
    host: &str,
    port: u16,
    allow_private: bool,
    limit: Duration,
) -> Result<Vec<SocketAddr>, BoxError> {
    let found = match host.parse::<IpAddr>() {
        Ok(address) => vec![address],
        Err(_) => {
            MAIL_SERVERS.admit(project, host)?;
            look_up(&MAIL_SERVERS, host, limit).await?
        }
    };
    Ok(among(host, found.into_iter().map(|address| SocketAddr::new(address, port)), rule(allow_private))?)
}

async fn look_up(lookups: &'static Lookups, host: &str, limit: Duration) -> Result<Vec<IpAddr>, BoxError> {
    Ok(timeout(limit, lookups.resolve(host.to_owned())).await??.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::error::Elapsed;

    use super::*;

    /// Locked while the name server does not respond.
    static SILENCE: Mutex<()> = Mutex::new(());
    static BEGUN: AtomicUsize = AtomicUsize::new(0);

    #[tokio::test]
    #[expect(clippy::await_holding_lock, reason = "only the thread of a lookup waits for the lock")]
    async fn the_name_of_a_mail_server_has_a_time_limit_and_few_lookups() {
        static LOOKUPS: Lookups = Lookups::new(8, |_| {
            BEGUN.fetch_add(1, Ordering::SeqCst);
            drop(SILENCE.lock());
            Ok(vec![SocketAddr::from(([192, 0, 2, 1], 0))].into_iter())
        });
        let silence = SILENCE.lock().expect("a lock");
        for _ in 0..10 {
            let late = look_up(&LOOKUPS, "mail.example", Duration::from_millis(5)).await.expect_err("nobody answers");
            assert!(late.is::<Elapsed>(), "{late}");
        }
        assert!(BEGUN.load(Ordering::SeqCst) <= 2, "each lookup occupies a thread until it ends");
        drop(silence);
        let found = look_up(&LOOKUPS, "mail.example", Duration::from_secs(600)).await.expect("an answer");
        assert_eq!(found, [IpAddr::from([192, 0, 2, 1])]);
    }

    #[tokio::test]
    async fn only_public_addresses_are_returned_and_literal_ones_need_no_lookup() {
        let project = ProjectId::parse("internal").expect("an id");
        let resolve = async |host: &str, allow_private| resolve(&project, host, 25, allow_private, Duration::ZERO).await;
        assert_eq!(resolve("2606:4700::1111", false).await.expect("an address"), ["[2606:4700::1111]:25".parse().expect("an address")]);
        assert_eq!(resolve("127.0.0.1", true).await.expect("an address"), ["127.0.0.1:25".parse().expect("an address")]);
        assert!(resolve("127.0.0.1", false).await.is_err_and(|error| error.is::<crate::public_address::NotPublic>()));
    }
}
