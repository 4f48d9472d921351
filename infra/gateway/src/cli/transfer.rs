//! `gateway export` and `gateway import`: a whole table as a folder of lines, to move from a gateway's data to a table of AWS or back.
//!
//! Both may be stopped at any moment and started again: an export goes on after its last whole page, an import leaves alone what is there
//! already. The folder has the hashes of passwords and the addresses of people, and is for its owner alone; the deployment secret is not
//! in it, and must come along for what is sealed with it.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use futures_util::{StreamExt as _, TryStreamExt as _};
use indicatif::{ProgressBar, ProgressStyle};
use ring::digest::{Context as Hash, SHA256};
use serde::{Deserialize, Serialize};
use store::Store;
use store::transfer::Put;
use wire::entropy::Entropy;

use super::tools::Target;
use crate::aws::Aws;
use crate::data::{Data, private, private_folder, write_private};
use crate::engine::Engine;
use crate::say::say;

/// How many items are written at once.
const PARALLEL: usize = 32;

#[derive(Args)]
pub(super) struct Export {
    /// The folder to write, new or that of an export which was stopped
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

#[derive(Args)]
pub(super) struct Import {
    /// The folder of a whole export
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Replace items that are there and differ; without it they are kept, and the command fails
    #[arg(long)]
    overwrite: bool,
}

/// How far an export is; written after each page, so that it can go on there.
#[derive(Serialize, Deserialize, Default)]
struct State {
    items: u64,
    /// Length of the file of items.
    bytes: u64,
    next: Option<String>,
    /// SHA-256 of the file of items, once it is whole.
    sha256: Option<String>,
}

impl State {
    fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join("export.json");
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).with_context(|| format!("{} is damaged", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }

    fn save(&self, folder: &Path) -> anyhow::Result<()> {
        write_private(&folder.join("export.json"), &serde_json::to_string_pretty(self)?)
    }
}

fn items_file(folder: &Path) -> PathBuf {
    folder.join("items.jsonl")
}

impl Export {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let store = open(target, false).await?;
        let folder = &self.to;
        private_folder(folder).with_context(|| format!("the folder {} cannot be created", folder.display()))?;
        let mut state = match State::read(folder)? {
            Some(State { sha256: Some(_), .. }) => bail!("{} has a whole export already: name another folder", folder.display()),
            Some(state) => state,
            None if items_file(folder).exists() => bail!("{} has items that no export of ours wrote", folder.display()),
            None => State::default(),
        };
        let bar = bar("exported", state.items.max(store.estimate().await?), state.items);
        let mut file = private(&items_file(folder), OpenOptions::new().read(true).write(true))?;
        file.set_len(state.bytes)?;
        file.seek(SeekFrom::End(0))?;
        loop {
            let page = store.page(state.next.as_deref()).await?;
            let text: String = page.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            file.write_all(text.as_bytes())?;
            file.sync_data()?;
            state.items += page.lines.len() as u64;
            state.bytes += text.len() as u64;
            state.next = page.next;
            bar.set_position(state.items);
            if state.next.is_none() {
                break;
            }
            state.save(folder)?;
        }
        let (items, sha256) = verified(folder)?;
        ensure!(items == state.items, "the file has {items} items of {}: export again to another folder", state.items);
        state.sha256 = Some(sha256);
        state.save(folder)?;
        bar.finish_and_clear();
        say!("Exported {items} items to {}; the deployment secret is not among them", folder.display());
        Ok(())
    }
}

impl Import {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let folder = &self.from;
        let state = State::read(folder)?.with_context(|| format!("{} has no export", folder.display()))?;
        let whole = state.sha256.with_context(|| format!("the export in {} is not whole: export again, it goes on", folder.display()))?;
        let (items, sha256) = verified(folder)?;
        ensure!(items == state.items && sha256 == whole, "the export in {} was changed or damaged", folder.display());
        let store = open(target, true).await?;
        let bar = bar("imported", items, 0);
        let lines = futures_util::stream::iter(BufReader::new(File::open(items_file(folder))?).lines());
        let put = lines.map(|line| async {
            let put = store.put_line(&line?, self.overwrite).await;
            bar.inc(1);
            anyhow::Ok(put?)
        });
        let tally = put.buffer_unordered(PARALLEL).try_fold(Tally::default(), |tally, put| async { Ok(tally.with(put)) }).await?;
        bar.finish_and_clear();
        tally.report(items)
    }
}

#[derive(Default)]
struct Tally {
    written: u64,
    identical: u64,
    different: Vec<String>,
}

impl Tally {
    fn with(mut self, put: Put) -> Self {
        match put {
            Put::Written => self.written += 1,
            Put::Identical => self.identical += 1,
            Put::Differs(key) => self.different.push(key),
        }
        self
    }

    fn report(&self, items: u64) -> anyhow::Result<()> {
        let Self { written, identical, different } = self;
        if let Some(first) = different.first() {
            bail!(
                "{} of {items} items are there already and differ, as that of {first}; they were kept. {written} were written. \
                 --overwrite replaces them",
                different.len()
            );
        }
        ensure!(written + identical == items, "{} of {items} items are there", written + identical);
        say!("Imported {items} items: {written} written, {identical} were there already");
        Ok(())
    }
}

/// The number of lines, and the SHA-256 of the file.
fn verified(folder: &Path) -> anyhow::Result<(u64, String)> {
    let path = items_file(folder);
    let mut file = BufReader::new(File::open(&path).with_context(|| format!("{} cannot be read", path.display()))?);
    let (mut hash, mut lines, mut buffer) = (Hash::new(&SHA256), 0, vec![0; 64 * 1024]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        lines += buffer[..read].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
    }
    let digest = hash.finish().as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    Ok((lines, digest))
}

/// The table to read, or to write: then the folder of a gateway is made when it is not there.
async fn open(target: &Target, create: bool) -> anyhow::Result<Store> {
    if let Some(table) = &target.table {
        return Aws::find().await?.store(table);
    }
    let database = if create { Data::create(&target.data)?.create_database()? } else { Data::existing(&target.data)?.database() };
    Ok(Engine::open(Some(&database), &Entropy::system(), None).await?.store())
}

/// A bar on a terminal, and nothing elsewhere.
pub(super) fn bar(done: &str, items: u64, position: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}, {per_sec}, {eta} left");
    let bar = ProgressBar::new(items).with_message(done.to_owned()).with_position(position);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}
