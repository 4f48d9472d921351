//! The partitions of a DynamoDB table or index that is billed on demand.
//!
//! The numbers come from the AWS developer guide ("Partitions and data distribution", "Burst and
//! adaptive capacity", "Quotas") and from AWS's articles about scaling DynamoDB. A partition serves
//! 3,000 read and 1,000 write units a second, and holds 10 GB. A new table has four partitions.
//! Capacity that was not used in the last 300 seconds may be used for a burst. Capacity adapts
//! immediately up to the limit of the partition. Under lasting load, a partition is split at the
//! key that halves the load. The split can be within a partition key, because there is no local
//! index. A single item is never split. AWS does not publish how long the load must last, so
//! [`MIN_SPLIT_SECONDS`] and [`HOT`] are assumptions.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::profile::Units;

/// The units a second that a partition serves.
pub(crate) const READS: f64 = 3000.0;
pub(crate) const WRITES: f64 = 1000.0;
/// The number of bytes that a partition holds.
const MAX_BYTES: f64 = 10.0 * 1024.0 * 1024.0 * 1024.0;
/// The number of partitions of a new table, which serve 4,000 write and 12,000 read units a second.
pub(crate) const NEW_TABLE: usize = 4;
/// The number of partitions after warm throughput has been set to 64,000 write and 192,000 read
/// units.
pub(crate) const WARM_TABLE: usize = 64;
/// How long unused capacity is kept, in seconds.
const BURST: f64 = 300.0;
/// The share of a partition's limit above which the partition is hot.
const HOT: f64 = 0.8;
/// How long a partition must be hot before it is split, in seconds.
const MIN_SPLIT_SECONDS: f64 = 300.0;

/// The units that each request of a stream takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    /// The number of the stream, whose requests are counted together.
    pub(crate) stream: usize,
    pub(crate) units: Units,
}

/// Keys that are never separated: an item, a partition key whose items are only appended, or a
/// small part of all keys.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    /// The hash of the partition key, and the position of the sort key.
    pub(crate) at: (u64, u64),
    pub(crate) name: String,
    pub(crate) terms: Vec<Term>,
}

#[derive(Debug, Clone)]
struct Partition {
    /// The range of ordered points that the partition contains.
    points: Range<usize>,
    terms: Vec<Term>,
    /// The unused read and write units.
    saved: [f64; 2],
    /// How long the partition has been hot, in seconds.
    hot: f64,
}

/// A table or an index.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    points: Vec<Point>,
    partitions: Vec<Partition>,
}

/// What happened in a table or index.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Accesses that exceeded the capacity, by stream.
    pub(crate) throttled: BTreeMap<usize, f64>,
    /// The highest share of its limit that a partition had to serve, and the name of the
    /// partition's busiest point.
    pub(crate) hottest: (f64, String),
    pub(crate) splits: usize,
}

/// The units that these terms take.
fn demand(terms: &[Term], counts: &[f64]) -> [f64; 2] {
    terms.iter().fold([0.0; 2], |[read, write], term| {
        let count = counts[term.stream];
        [read + count * term.units.read, write + count * term.units.write]
    })
}

/// The share of a partition's limit that these units take, for the kind of access with the higher
/// share.
fn share([read, write]: [f64; 2], seconds: f64) -> f64 {
    (read / READS).max(write / WRITES) / seconds
}

impl Partition {
    fn new(points: Range<usize>, all: &[Point]) -> Self {
        let mut terms: BTreeMap<usize, Units> = BTreeMap::new();
        for term in all[points.clone()].iter().flat_map(|point| &point.terms) {
            let units = terms.entry(term.stream).or_default();
            units.read += term.units.read;
            units.write += term.units.write;
            units.calls += term.units.calls;
        }
        let terms = terms.into_iter().map(|(stream, units)| Term { stream, units }).collect();
        Self { points, terms, saved: [0.0; 2], hot: 0.0 }
    }

    /// Takes these units from those that are available. Returns the share of the demand that was
    /// not served: that of reads or that of writes, whichever is larger.
    fn serve(&mut self, demand: [f64; 2], seconds: f64) -> f64 {
        let mut refused: f64 = 0.0;
        for ((saved, asked), limit) in self.saved.iter_mut().zip(demand).zip([READS, WRITES]) {
            let available = *saved + limit * seconds;
            let served = asked.min(available);
            *saved = (available - served).min(limit * BURST);
            if asked > served {
                refused = refused.max(1.0 - served / asked);
            }
        }
        refused
    }
}

impl Place {
    /// A table or index that initially has this many partitions.
    pub(crate) fn new(mut points: Vec<Point>, partitions: usize) -> Self {
        points.sort_by_key(|point| point.at);
        let mut place = Self { points, partitions: Vec::new() };
        let step = u64::MAX / partitions as u64;
        let mut from = 0;
        for number in 1..=partitions as u64 {
            let end = if number == partitions as u64 { u64::MAX } else { number * step };
            let to = place.points.partition_point(|point| point.at.0 < end).max(from);
            place.partitions.push(Partition::new(from..to, &place.points));
            from = to;
        }
        place
    }

    pub(crate) fn count(&self) -> usize {
        self.partitions.len()
    }

    /// Serves the requests of some seconds, and splits hot partitions.
    pub(crate) fn step(&mut self, counts: &[f64], seconds: f64, outcome: &mut Outcome) {
        let mut hot = Vec::new();
        for (number, partition) in self.partitions.iter_mut().enumerate() {
            let asked = demand(&partition.terms, counts);
            let share = share(asked, seconds);
            if share > outcome.hottest.0 {
                let name = hottest(&self.points[partition.points.clone()], counts, seconds).1.to_owned();
                outcome.hottest = (share, name);
            }
            let refused = partition.serve(asked, seconds);
            if refused > 0.0 {
                for term in partition.terms.iter().filter(|term| counts[term.stream] > 0.0) {
                    *outcome.throttled.entry(term.stream).or_default() += counts[term.stream] * term.units.calls * refused;
                }
            }
            partition.hot = if share > HOT { partition.hot + seconds } else { 0.0 };
            if partition.hot >= MIN_SPLIT_SECONDS && partition.points.len() > 1 {
                hot.push(number);
            }
        }
        for number in hot.into_iter().rev() {
            self.split(number, counts, seconds);
            outcome.splits += 1;
        }
    }

    /// Splits partitions that have too many bytes, assuming that bytes are spread like the keys.
    pub(crate) fn grow(&mut self, bytes: f64) {
        let all = self.points.len() as f64;
        while let Some(number) =
            self.partitions.iter().position(|it| it.points.len() > 1 && it.points.len() as f64 / all * bytes > MAX_BYTES)
        {
            let points = self.partitions[number].points.clone();
            self.divide(number, points.start + points.len() / 2);
        }
    }

    /// Splits a partition at the key that halves its load.
    fn split(&mut self, number: usize, counts: &[f64], seconds: f64) {
        let points = self.partitions[number].points.clone();
        let loads: Vec<f64> = self.points[points.clone()].iter().map(|point| share(demand(&point.terms, counts), seconds)).collect();
        let (half, mut below) = (loads.iter().sum::<f64>() / 2.0, 0.0);
        let mut at = points.start + 1;
        for (load, next) in loads.iter().zip(points.start + 1..points.end) {
            below += load;
            at = next;
            if below + loads[next - points.start] / 2.0 >= half {
                break;
            }
        }
        self.divide(number, at);
    }

    fn divide(&mut self, number: usize, at: usize) {
        let Range { start, end } = self.partitions[number].points;
        let halves = [start..at, at..end].map(|points| Partition::new(points, &self.points));
        self.partitions.splice(number..=number, halves);
    }

    /// The point that takes the highest share of a partition's limit.
    pub(crate) fn hottest_point(&self, counts: &[f64], seconds: f64) -> (f64, &str) {
        hottest(&self.points, counts, seconds)
    }
}

fn hottest<'a>(points: &'a [Point], counts: &[f64], seconds: f64) -> (f64, &'a str) {
    let shares = points.iter().map(|point| (share(demand(&point.terms, counts), seconds), &*point.name));
    shares.fold((0.0, ""), |most, other| if other.0 > most.0 { other } else { most })
}
