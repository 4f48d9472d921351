//! Lookups of host names by the system. A lookup occupies a thread of the pool for blocking work
//! until it ends, even if nobody is waiting for it any longer. A gateway's writes to the table need
//! threads of the same pool, so the number of concurrent lookups is limited. The lookups of each
//! host name are limited because a name server that never responds could otherwise occupy all
//! slots. The hosts of each project are limited because its administrators can name any number of
//! hosts.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::Name;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tower::Service;
use wire::id::ProjectId;

/// The maximum number of concurrent lookups of one host name.
const OF_HOST: usize = 2;
/// The maximum number of hosts whose names are looked up for a project at the same time.
const MAX_HOSTS_OF_PROJECT: usize = 8;
/// The maximum number of concurrent lookups for providers: eight projects whose name servers do not
/// respond can occupy all of them.
const OF_PROVIDERS: usize = 8 * MAX_HOSTS_OF_PROJECT * OF_HOST;
/// The maximum number of concurrent lookups for webhook endpoints. There are 512 threads in the
/// pool for blocking work.
const OF_WEBHOOKS: usize = 192;
/// The maximum number of concurrent lookups for the metadata documents of OAuth clients.
const OF_DOCUMENTS: usize = 64;
/// The maximum number of concurrent lookups for mail servers.
const OF_MAIL_SERVERS: usize = 64;

/// The lookups for providers.
pub(crate) static PROVIDERS: Lookups = Lookups::new(OF_PROVIDERS, system);
/// The lookups for webhook endpoints.
pub(crate) static WEBHOOKS: Lookups = Lookups::new(OF_WEBHOOKS, system);
/// The lookups for the metadata documents of OAuth clients.
pub(crate) static DOCUMENTS: Lookups = Lookups::new(OF_DOCUMENTS, system);
/// The lookups for mail servers.
pub(crate) static MAIL_SERVERS: Lookups = Lookups::new(OF_MAIL_SERVERS, system);

/// The addresses of a host, with port 0.
type Addresses = std::vec::IntoIter<SocketAddr>;

#[expect(clippy::disallowed_methods, reason = "the resolver keeps only the public ones among the addresses")]
fn system(host: &str) -> io::Result<Addresses> {
    (host, 0).to_socket_addrs()
}

/// Lookups, limited in number.
#[derive(Debug)]
pub(crate) struct Lookups {
    places: Semaphore,
    /// The slots for each host name, kept during its lookups.
    hosts: Mutex<BTreeMap<String, Weak<Semaphore>>>,
    /// The hosts that are being looked up for each project.
    projects: Mutex<BTreeMap<ProjectId, Vec<String>>>,
    look_up: fn(&str) -> io::Result<Addresses>,
}

impl Lookups {
    /// Makes at most `max` concurrent lookups; `look_up` may block.
    pub(crate) const fn new(max: usize, look_up: fn(&str) -> io::Result<Addresses>) -> Self {
        Self { places: Semaphore::const_new(max), hosts: Mutex::new(BTreeMap::new()), projects: Mutex::new(BTreeMap::new()), look_up }
    }

    /// Looks a host up once a slot is free for it. The lookup keeps its slot until it ends.
    pub(crate) async fn resolve(&'static self, host: String) -> io::Result<Addresses> {
        let places = (
            self.places_of(&host).acquire_owned().await.map_err(io::Error::other)?,
            self.places.acquire().await.map_err(io::Error::other)?,
        );
        let found = spawn_blocking(move || {
            let _places = places;
            (self.look_up)(&host)
        });
        found.await.map_err(io::Error::other)?
    }

    /// Admits a project's call to a host, whose name may have to be looked up. Call the host
    /// immediately: the host counts only while it is being looked up.
    pub(crate) fn admit(&self, project: &ProjectId, host: &str) -> Result<(), LookupRefusal> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_looked_up = |host: &String| {
            let places = hosts.get(host).and_then(Weak::upgrade);
            places.is_some_and(|places| places.available_permits() < OF_HOST)
        };
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.retain(|_, named| {
            named.retain(is_looked_up);
            !named.is_empty()
        });
        let named = projects.entry(project.clone()).or_default();
        if !named.iter().any(|name| name == host) {
            if named.len() >= MAX_HOSTS_OF_PROJECT {
                return Err(LookupRefusal);
            }
            named.push(host.to_owned());
        }
        Ok(())
    }

    fn places_of(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = hosts.get(host).and_then(Weak::upgrade) {
            return places;
        }
        hosts.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(OF_HOST));
        hosts.insert(host.to_owned(), Arc::downgrade(&places));
        places
    }
}

/// The project already has the maximum number of hosts being looked up.
#[derive(Debug, thiserror::Error)]
#[error("{MAX_HOSTS_OF_PROJECT} other host names of the project are still being looked up")]
pub(crate) struct LookupRefusal;

/// A resolver that lets the system look up names, within these limits.
#[derive(Debug, Clone)]
pub(crate) struct SystemNames(pub(crate) &'static Lookups);

impl Service<Name> for SystemNames {
    type Response = Addresses;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Addresses>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(self.0.resolve(name.as_str().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Condvar;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Waker;

    use super::*;

    /// Holds back the lookups of hosts below `slow.example`.
    static GATE: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
    static BEGUN: AtomicUsize = AtomicUsize::new(0);

    /// Opens the gate when dropped.
    struct GateOpener;

    impl Drop for GateOpener {
        fn drop(&mut self) {
            *GATE.0.lock().unwrap() = true;
            GATE.1.notify_all();
        }
    }

    fn behind_the_gate(host: &str) -> io::Result<Addresses> {
        BEGUN.fetch_add(1, Ordering::SeqCst);
        if host.ends_with("slow.example") {
            let open = GATE.0.lock().map_err(|_| io::Error::other("poisoned"))?;
            drop(GATE.1.wait_while(open, |open| !*open).unwrap());
        }
        Ok(vec![SocketAddr::from(([192, 0, 2, 1], 0))].into_iter())
    }

    /// Starts to look a host up, and then stops waiting for the result.
    fn abandon(lookups: &'static Lookups, host: &str) {
        let lookup = pin!(lookups.resolve(host.to_owned()));
        assert!(lookup.poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }

    #[tokio::test]
    async fn a_lookup_keeps_its_place_although_nobody_waits_for_it() {
        static LOOKUPS: Lookups = Lookups::new(4, behind_the_gate);
        let opening = GateOpener;
        for _ in 0..10 {
            abandon(&LOOKUPS, "a.slow.example");
        }
        assert_eq!(LOOKUPS.places.available_permits(), 4 - OF_HOST, "one host does not take all places");
        let found = LOOKUPS.resolve("fast.example".to_owned()).await.unwrap();
        assert_eq!(found.count(), 1);
        for number in 0..10 {
            abandon(&LOOKUPS, &format!("{number}.slow.example"));
        }
        assert_eq!(LOOKUPS.places.available_permits(), 0);
        abandon(&LOOKUPS, "fast.example");
        drop(opening);
        assert_eq!(LOOKUPS.resolve("fast.example".to_owned()).await.unwrap().count(), 1);
        assert_eq!(BEGUN.load(Ordering::SeqCst), 4 + 2, "no lookup begins without a place");
        drop(LOOKUPS.places.acquire_many(4).await.unwrap());
        LOOKUPS.resolve("other.example".to_owned()).await.unwrap();
        assert_eq!(LOOKUPS.hosts.lock().unwrap().len(), 1, "hosts that nobody looks up are forgotten");
    }

    /// Locked while no name server responds for `silent.example`.
    static SILENCE: Mutex<()> = Mutex::new(());

    fn behind_silence(host: &str) -> io::Result<Addresses> {
        if host.ends_with("silent.example") {
            drop(SILENCE.lock().map_err(|_| io::Error::other("poisoned"))?);
        }
        Ok(vec![SocketAddr::from(([192, 0, 2, 1], 0))].into_iter())
    }

    #[tokio::test]
    #[expect(clippy::await_holding_lock, reason = "only the threads of lookups wait for the lock")]
    async fn a_project_whose_names_nobody_answers_leaves_places_to_others() {
        static LOOKUPS: Lookups = Lookups::new(3 * MAX_HOSTS_OF_PROJECT * OF_HOST, behind_silence);
        let silence = SILENCE.lock().unwrap();
        let [hostile, victim] = ["6fbbf22e-f4b2-4c6e-95a1-beab6fa41063", "internal"].map(|id| ProjectId::parse(id).unwrap());
        for number in 0..100 {
            let host = format!("{number}.silent.example");
            if LOOKUPS.admit(&hostile, &host).is_ok() {
                (0..4).for_each(|_| abandon(&LOOKUPS, &host));
            }
        }
        assert_eq!(LOOKUPS.places.available_permits(), 2 * MAX_HOSTS_OF_PROJECT * OF_HOST);
        assert!(LOOKUPS.admit(&hostile, "0.silent.example").is_ok(), "a host that counts already");
        assert!(LOOKUPS.admit(&hostile, "fast.example").is_err(), "its lookups occupy places after its calls");
        LOOKUPS.admit(&victim, "fast.example").unwrap();
        assert_eq!(LOOKUPS.resolve("fast.example".to_owned()).await.unwrap().count(), 1);
        drop(silence);
    }

    #[tokio::test]
    async fn a_project_calls_any_number_of_hosts_whose_names_resolve() {
        static LOOKUPS: Lookups = Lookups::new(4, behind_silence);
        let project = ProjectId::parse("internal").unwrap();
        for number in 0..4 * MAX_HOSTS_OF_PROJECT {
            let host = format!("{number}.example");
            LOOKUPS.admit(&project, &host).unwrap();
            LOOKUPS.resolve(host).await.unwrap();
        }
        assert_eq!(LOOKUPS.projects.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_name_is_looked_up_as_the_system_does() {
        let found: Vec<SocketAddr> = PROVIDERS.resolve("localhost".to_owned()).await.unwrap().collect();
        assert!(!found.is_empty() && found.iter().all(|address| address.ip().is_loopback()), "{found:?}");
    }
}
