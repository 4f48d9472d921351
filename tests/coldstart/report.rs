//! The results of a function's runs: medians and, for memory, the maximum.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::function::Measurement;
use crate::table::Transport;

pub(crate) struct Row {
    name: String,
    transport: Transport,
    /// The sizes of the binary and of its zip file for Lambda, in bytes.
    size: usize,
    zipped: usize,
    init: Duration,
    first: Duration,
    /// The CPU time of init and the first response together.
    cpu: Duration,
    warm: Duration,
    /// The time of the table for a warm response.
    table: Duration,
    /// The CPU time of a warm response.
    warm_cpu: Duration,
    memory: u64,
}

impl Row {
    pub(crate) fn new(name: &str, binary: &Path, transport: Transport, runs: &[Measurement]) -> Self {
        let bytes = std::fs::read(binary).unwrap();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&bytes).unwrap();
        let of = |value: fn(&Measurement) -> Duration| median(runs.iter().map(value).collect());
        Self {
            name: name.to_owned(),
            transport,
            size: bytes.len(),
            zipped: encoder.finish().unwrap().len(),
            init: of(|run| run.init),
            first: of(|run| run.first),
            cpu: of(|run| run.init_cpu + run.first_cpu),
            warm: of(|run| median(run.warm.clone())),
            table: of(|run| median(run.table.clone())),
            warm_cpu: of(|run| run.warm_cpu / u32::try_from(run.warm.len().max(1)).unwrap()),
            memory: runs.iter().map(|run| run.memory).max().unwrap_or_default(),
        }
    }
}

fn median<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The rows as a Markdown table.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = "\
| function | transport | size, MB | zipped, MB | init, ms | first, ms | CPU of both, ms | warm, ms | table in warm, ms | CPU in warm, ms | memory, MB |
|---|---|---|---|---|---|---|---|---|---|---|
"
    .to_owned();
    let millis = |duration: Duration| duration.as_secs_f64() * 1000.0;
    #[expect(clippy::cast_precision_loss, reason = "a size in bytes is far below 2^52")]
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    for row in rows {
        let (name, transport) = (&row.name, format!("{:?}", row.transport).to_uppercase());
        let (size, zipped) = (megabytes(row.size as u64), megabytes(row.zipped as u64));
        let _ = writeln!(
            text,
            "| {name} | {transport} | {size:.2} | {zipped:.2} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} | {:.2} | {:.1} |",
            millis(row.init),
            millis(row.first),
            millis(row.cpu),
            millis(row.warm),
            millis(row.table),
            millis(row.warm_cpu),
            megabytes(row.memory)
        );
    }
    text
}
