//! Limits open connections, in total and per IP address, and the bytes that they hold: incomplete
//! request bodies, and responses that are not completely written.
//!
//! At a limit, a new connection replaces a connection that is idle or waits for the rest of a
//! request. At the limit per address, the new connection replaces the longest-waiting connection of
//! the same address. At the total limit, it replaces the longest-waiting connection of the address
//! with the most waiting connections. If no connection is waiting, or if it does not close in time,
//! the new connection is closed.
//!
//! Above the limit on bytes, a connection that holds bytes and is waiting for its client is closed:
//! the longest-waiting connection of the address whose connections hold the most bytes.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use tokio::sync::Notify;

use super::connection::Connection;
use super::timeouts::Timeouts;

/// The number of descriptors that are reserved for everything except clients' connections:
/// databases, connections to mail servers and providers, and renderer processes.
const RESERVED: u64 = 64;
/// The minimum and maximum for the total number of connections, regardless of the machine's limits.
const MIN_CONNECTIONS: u64 = 16;
const MAX_CONNECTIONS: u64 = 4096;
/// The maximum number of connections per address, or half of the total if that is less.
const MAX_PER_ADDRESS: usize = 512;
/// The maximum number of bytes that all connections together hold.
const MAX_HELD: usize = 64 << 20;
/// How long a new connection waits until another connection has closed and made room for it.
const TIMEOUT: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Connections {
    max: usize,
    max_per_address: usize,
    max_held: usize,
    timeouts: Timeouts,
    open: Mutex<OpenConnections>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    by_id: BTreeMap<u64, Entry>,
    /// The number of bytes that all connections together hold.
    held: usize,
}

#[derive(Debug)]
struct Entry {
    /// `None` for connections from a trusted proxy, because many users share its address.
    from: Option<IpAddr>,
    connection: Arc<Connection>,
    /// The number of bytes of the body or response that the connection holds; 0 once it is being
    /// closed.
    held: usize,
}

/// The bytes of a body or a response, which count until this value is dropped.
#[derive(Debug)]
pub(super) struct HeldBytes {
    connections: Arc<Connections>,
    id: u64,
}

impl HeldBytes {
    /// Sets the number of held bytes. If the total exceeds the limit, closes connections that wait
    /// for their clients, possibly including this connection.
    pub(super) fn set(&self, bytes: usize) {
        self.connections.hold(self.id, bytes);
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.connections.open().hold(self.id, 0);
    }
}

/// The place of an open connection, which is freed when this value is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    id: u64,
    pub(super) connection: Arc<Connection>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.hold(self.id, 0);
        open.by_id.remove(&self.id);
        drop(open);
        self.connections.freed.notify_waiters();
    }
}

impl Place {
    /// Counts the bytes of a body or a response that the connection holds ([`HeldBytes::set`]).
    pub(super) fn hold(&self, bytes: usize) -> HeldBytes {
        let held = HeldBytes { connections: Arc::clone(&self.connections), id: self.id };
        held.set(bytes);
        held
    }
}

enum Room {
    Free,
    After(Arc<Connection>),
    Never,
}

impl Connections {
    /// Limits the number of connections by the descriptors that the process may open.
    pub(crate) fn by_descriptors(timeouts: Timeouts) -> Arc<Self> {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let max = descriptors.saturating_sub(RESERVED).clamp(MIN_CONNECTIONS, MAX_CONNECTIONS);
        Self::new(usize::try_from(max).unwrap_or(MAX_PER_ADDRESS), timeouts)
    }

    pub(super) fn new(max: usize, timeouts: Timeouts) -> Arc<Self> {
        Self::holding(MAX_HELD, max, timeouts)
    }

    /// At most `max` connections, which together hold at most `max_held` bytes.
    pub(super) fn holding(max_held: usize, max: usize, timeouts: Timeouts) -> Arc<Self> {
        let max_per_address = (max / 2).min(MAX_PER_ADDRESS);
        Arc::new(Self { max, max_per_address, max_held, timeouts, open: Mutex::default(), freed: Notify::new() })
    }

    fn hold(&self, id: u64, bytes: usize) {
        let mut open = self.open();
        open.hold(id, bytes);
        while open.held > self.max_held {
            let Some(victim) = open.greediest_holder() else { return };
            open.hold(victim, 0);
            if let Some(entry) = open.by_id.get(&victim) {
                entry.connection.evict();
            }
        }
    }

    /// The number of places that are taken.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.open().by_id.len()
    }

    /// The number of bytes that the connections hold.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.open().held
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds a place for a connection, if necessary by closing a waiting connection; `None` if
    /// there is no place. `from` is the address of the peer, or `None` for a trusted proxy.
    pub(super) async fn admit(self: &Arc<Self>, from: Option<IpAddr>) -> Option<Place> {
        let from = from.map(network);
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            {
                let mut open = self.open();
                match self.room(&open, from) {
                    Room::Free => return Some(self.take(&mut open, from)),
                    Room::After(connection) => connection.evict(),
                    Room::Never => return None,
                }
            }
            tokio::time::timeout(TIMEOUT, freed).await.ok()?;
        }
    }

    fn take(self: &Arc<Self>, open: &mut OpenConnections, from: Option<IpAddr>) -> Place {
        let (id, connection) = (open.next, Arc::new(Connection::new(self.timeouts)));
        open.next += 1;
        open.by_id.insert(id, Entry { from, connection: Arc::clone(&connection), held: 0 });
        Place { connections: Arc::clone(self), id, connection }
    }

    fn room(&self, open: &OpenConnections, from: Option<IpAddr>) -> Room {
        let of_one = |one: IpAddr| open.by_id.values().filter(|entry| entry.from == Some(one)).count();
        let victim = match from {
            Some(one) if of_one(one) >= self.max_per_address => open.longest_waiting(|entry| entry.from == Some(one)),
            _ if open.by_id.len() >= self.max => open.longest_waiting_of_the_greediest(),
            _ => return Room::Free,
        };
        victim.map_or(Room::Never, |entry| Room::After(Arc::clone(&entry.connection)))
    }

    /// Closes a waiting connection even below the limits, because the process may have run out of
    /// descriptors.
    pub(super) async fn make_room(&self) {
        let mut freed = std::pin::pin!(self.freed.notified());
        freed.as_mut().enable();
        let victim = self.open().longest_waiting_of_the_greediest().map(|entry| Arc::clone(&entry.connection));
        if let Some(victim) = victim {
            victim.evict();
            // A connection that is still open after this time closes later.
            let _ = tokio::time::timeout(TIMEOUT, freed).await;
        }
    }
}

impl OpenConnections {
    fn hold(&mut self, id: u64, bytes: usize) {
        if let Some(entry) = self.by_id.get_mut(&id) {
            self.held = self.held.saturating_sub(entry.held).saturating_add(bytes);
            entry.held = bytes;
        }
    }

    /// The longest-waiting connection of the address whose waiting connections hold the most bytes.
    /// All clients of trusted proxies count as one address here.
    fn greediest_holder(&self) -> Option<u64> {
        let holders = || {
            let holding = self.by_id.iter().filter(|(_, entry)| entry.held > 0);
            holding.filter_map(|(id, entry)| Some((entry.connection.waiting_since()?, *id, entry)))
        };
        let mut held: BTreeMap<Option<IpAddr>, usize> = BTreeMap::new();
        for (_, _, entry) in holders() {
            *held.entry(entry.from).or_default() += entry.held;
        }
        let greediest = held.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(from, _)| from)?;
        holders().filter(|(_, _, entry)| entry.from == greediest).min_by_key(|(since, id, _)| (*since, *id)).map(|(_, id, _)| id)
    }

    fn longest_waiting(&self, of: impl Fn(&Entry) -> bool) -> Option<&Entry> {
        let waiting = self.by_id.values().filter(|entry| of(entry)).filter_map(|entry| Some((entry.connection.waiting_since()?, entry)));
        waiting.min_by_key(|(since, _)| *since).map(|(_, entry)| entry)
    }

    fn longest_waiting_of_the_greediest(&self) -> Option<&Entry> {
        let mut waiting: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for entry in self.by_id.values().filter(|entry| entry.connection.waiting_since().is_some()) {
            if let Some(from) = entry.from {
                *waiting.entry(from).or_default() += 1;
            }
        }
        let greediest = waiting.into_iter().max_by_key(|(_, count)| *count).map(|(from, _)| from);
        self.longest_waiting(|entry| greediest.is_none() || entry.from == greediest)
    }
}

/// The network that counts as one address: an IPv4 address, or an IPv6 /64 network, which is
/// assigned to one customer.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Accepts a connection, and closes it when it is evicted.
    async fn admit(connections: &Arc<Connections>, from: &str) -> Option<Arc<Connection>> {
        let place = connections.admit(Some(address(from))).await?;
        let connection = Arc::clone(&place.connection);
        tokio::spawn(async move {
            place.connection.evicted().await;
            drop(place);
        });
        Some(connection)
    }

    fn count(connections: &Connections, from: &str) -> usize {
        connections.open().by_id.values().filter(|entry| entry.from == Some(address(from))).count()
    }

    #[tokio::test]
    async fn one_address_gets_half_of_the_places_and_then_loses_its_oldest() {
        let connections = Connections::new(8, Timeouts::default());
        admit(&connections, "10.0.0.2").await.unwrap();
        for _ in 0..100 {
            admit(&connections, "10.0.0.1").await.unwrap();
        }
        assert_eq!((count(&connections, "10.0.0.1"), count(&connections, "10.0.0.2")), (4, 1));
    }

    #[tokio::test]
    async fn when_all_places_are_taken_the_address_with_the_most_loses_one() {
        let connections = Connections::new(8, Timeouts::default());
        for number in 1..6 {
            admit(&connections, &format!("10.0.0.{number}")).await.unwrap();
        }
        for _ in 0..3 {
            admit(&connections, "10.0.0.9").await.unwrap();
        }
        admit(&connections, "10.0.0.10").await.unwrap();
        assert_eq!((count(&connections, "10.0.0.9"), count(&connections, "10.0.0.1")), (2, 1));
    }

    #[tokio::test]
    async fn busy_connections_are_kept_and_the_new_one_is_closed() {
        let connections = Connections::new(4, Timeouts::default());
        for number in 0..2 {
            admit(&connections, "10.0.0.1").await.unwrap().head_is_read(true);
            admit(&connections, &format!("10.1.0.{number}")).await.unwrap().head_is_read(true);
        }
        assert!(admit(&connections, "10.0.0.1").await.is_none() && admit(&connections, "10.0.0.2").await.is_none());
        assert_eq!(connections.open().by_id.len(), 4);
    }

    #[test]
    fn ipv6_addresses_are_counted_by_network() {
        let counted = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(counted("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(counted("2001:db8:1:2:3::4"), "2001:db8:1:2::");
    }
}
