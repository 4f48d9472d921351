//! `gateway pages`: prints the link to the private pages, which the gateway also prints when it
//! starts.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::data::Data;
use crate::page_key::PageKey;
use crate::saved_keys::SavedKeys;
use crate::say::say;

pub(super) fn run(folder: &Path) -> anyhow::Result<()> {
    let data = Data::existing(folder)?;
    let Some(holder) = Data::holder(folder) else { bail!("no gateway is serving {}: start the gateway first", folder.display()) };
    let Some(url) = &holder.pages else {
        bail!("{holder} does not serve pages on localhost: wait until it has started, or check --no-pages, --trusted-proxy and --listen")
    };
    let file = data.keys_file();
    let key = PageKey::saved(&SavedKeys::read(Some(&file))?);
    let key = key.with_context(|| format!("{} has no page key: restart the gateway", file.display()))?;
    say!("{}", key.link(url));
    Ok(())
}
