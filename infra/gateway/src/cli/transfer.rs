//! `gateway export` and `gateway import`: copy a whole table to a folder of JSON lines and back,
//! for example from a gateway to an AWS table.
//!
//! An export or import can be stopped and restarted at any time: an export continues after its last
//! complete page, and an import skips items that the table already contains unchanged. The folder
//! contains password hashes and email addresses, so only the owner of its files can read them. The
//! export does not include the deployment secret, which the destination needs for sealed values.

use std::collections::HashSet;
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
use store::deletions::DeletionTarget;
use store::project::project_in;
use store::table::transfer::PutOutcome;
use wire::entropy::Entropy;
use wire::id::ProjectId;

use super::secret;
use super::tools::Target;
use crate::aws::Aws;
use crate::data::{Data, private, private_folder, text_of, write_private};
use crate::engine::Engine;
use crate::say::say;

/// The number of items that are written at the same time.
const PARALLEL: usize = 32;

#[derive(Args)]
pub(super) struct Export {
    /// A new folder, or the folder of an interrupted export
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

#[derive(Args)]
pub(super) struct Import {
    /// The folder of a complete export
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Replace existing items that differ; by default they are kept, and the command fails
    #[arg(long)]
    overwrite: bool,
}

/// The progress of an export, saved after each page, so that the export can be resumed.
#[derive(Serialize, Deserialize, Default)]
struct State {
    items: u64,
    /// The length of the items file, in bytes.
    bytes: u64,
    next: Option<String>,
    /// The SHA-256 of the items file, once the export is complete.
    sha256: Option<String>,
}

impl State {
    fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join("export.json");
        let Some(text) = text_of(&path)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).with_context(|| format!("{} is damaged: export again to another folder", path.display()))
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
        private_folder(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let mut state = match State::read(folder)? {
            Some(State { sha256: Some(_), .. }) => bail!("{} already contains a complete export: choose another folder", folder.display()),
            Some(state) => state,
            // An empty file can be overwritten.
            None if items_file(folder).metadata().is_ok_and(|items| items.len() > 0) => {
                bail!(
                    "{} contains items.jsonl, but not export.json, which records the progress of an export: choose another folder",
                    folder.display()
                )
            }
            None => {
                // The progress is saved before any items, so that an export can be resumed even if
                // it was stopped during its first page.
                let state = State::default();
                state.save(folder)?;
                state
            }
        };
        let bar = bar("exported", state.items.max(store.estimate().await?), state.items);
        let path = items_file(folder);
        let failed = || format!("cannot write {}", path.display());
        let mut file = private(&path, OpenOptions::new().read(true).write(true)).with_context(failed)?;
        file.set_len(state.bytes).with_context(failed)?;
        file.seek(SeekFrom::End(0)).with_context(failed)?;
        loop {
            let page = store.page(state.next.as_deref()).await?;
            let text: String = page.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).with_context(failed)?;
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
        ensure!(items == state.items, "{} has {items} of {} items: export again to another folder", path.display(), state.items);
        state.sha256 = Some(sha256);
        state.save(folder)?;
        bar.finish_and_clear();
        say!("Exported {items} items to {}; the deployment secret is not included", folder.display());
        Ok(())
    }
}

impl Import {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let folder = &self.from;
        let state = State::read(folder)?.with_context(|| format!("{} contains no export", folder.display()))?;
        let whole =
            state.sha256.with_context(|| format!("the export in {} is incomplete: run export again to complete it", folder.display()))?;
        let (items, sha256) = verified(folder)?;
        ensure!(
            items == state.items && sha256 == whole,
            "the export in {} was modified or is damaged: export again to another folder",
            folder.display()
        );
        let store = open(target, true).await?;
        refuse_deleted(&store, folder).await?;
        let bar = bar("imported", items, 0);
        let lines = futures_util::stream::iter(BufReader::new(File::open(items_file(folder))?).lines());
        let put = lines.map(|line| async {
            let put = store.put_line(&line?, self.overwrite).await;
            bar.inc(1);
            anyhow::Ok(put?)
        });
        let tally = put.buffer_unordered(PARALLEL).try_fold(Tally::default(), |tally, put| async { Ok(tally.with(put)) }).await?;
        bar.finish_and_clear();
        if target.table.is_none() {
            let data = Data::existing(target.folder())?;
            if !data.secret_file().exists() || !secret::fits(&data, &store).await? {
                let folder = target.folder().display();
                say!(
                    "The deployment secret is not included: before the next start, copy the files `secret` and `keys.env` of the exported \
                     gateway's folder to {folder}, or set GATELET_SECRET to the deployment's secret"
                );
            }
        }
        tally.report(items)
    }
}

/// Fails if the export contains a project whose id is still being deleted, because a worker would
/// also delete the imported data.
async fn refuse_deleted(store: &Store, folder: &Path) -> anyhow::Result<()> {
    let endings = store.endings().await?.into_iter().filter(|ending| matches!(ending.what, DeletionTarget::Project { .. }));
    let deleted: HashSet<ProjectId> = endings.map(|ending| ending.project).collect();
    if deleted.is_empty() {
        return Ok(());
    }
    for line in BufReader::new(File::open(items_file(folder))?).lines() {
        if let Some(project) = project_in(&line?)?
            && deleted.contains(&project)
        {
            bail!("project {project} is still being deleted; try again when the deletion has finished");
        }
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    written: u64,
    identical: u64,
    different: Vec<String>,
}

impl Tally {
    fn with(mut self, put: PutOutcome) -> Self {
        match put {
            PutOutcome::Written => self.written += 1,
            PutOutcome::Identical => self.identical += 1,
            PutOutcome::Differs(key) => self.different.push(key),
        }
        self
    }

    fn report(&self, items: u64) -> anyhow::Result<()> {
        let Self { written, identical, different } = self;
        if let Some(first) = different.first() {
            bail!(
                "{} of {items} items, such as {first}, already exist and differ; they were kept. {written} items were written. \
                 To replace the existing items, add --overwrite",
                different.len()
            );
        }
        ensure!(written + identical == items, "only {} of {items} items were imported: run import again", written + identical);
        say!("Imported {items} items: {written} written, {identical} already existed");
        Ok(())
    }
}

/// Reads the items file of an export; returns its number of lines and its SHA-256 digest.
fn verified(folder: &Path) -> anyhow::Result<(u64, String)> {
    let path = items_file(folder);
    let mut file = BufReader::new(File::open(&path).with_context(|| format!("cannot read {}", path.display()))?);
    let (mut hash, mut lines, mut buffer) = (Hash::new(&SHA256), 0, vec![0; 64 * 1024]);
    loop {
        let read = file.read(&mut buffer).with_context(|| format!("cannot read {}", path.display()))?;
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

/// Opens the command's table. With `create`, creates the data folder if it is missing.
async fn open(target: &Target, create: bool) -> anyhow::Result<Store> {
    if let Some(table) = &target.table {
        return Aws::find().await?.store(table);
    }
    let database = if create {
        target.announce();
        Data::create(target.folder())?.create_database()?
    } else {
        target.existing()?.database()
    };
    Ok(Engine::open(Some(&database), &Entropy::system(), None).await?.store())
}

/// A progress bar, shown only on a terminal.
pub(super) fn bar(done: &str, items: u64, position: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}, {per_sec}, {eta} left");
    let bar = ProgressBar::new(items).with_message(done.to_owned()).with_position(position);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}
