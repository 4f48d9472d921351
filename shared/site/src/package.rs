//! The site's command-line tool as an npm package, which `npx` runs from the site itself:
//! `npx --yes https://example.com/cli/site.tgz list-apps`.

use std::io::{Error, Write as _};

use flate2::{Compression, GzBuilder};
use serde_json::json;
use tar::{Builder, EntryType, Header};

/// The name of the package and of its command.
const NAME: &str = "gatelet-site";
/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The program; by default, it reads from the site that it was downloaded from.
const PROGRAM: &str = include_str!("cli.mjs");

/// The package of a site, as a compressed archive. The bytes of the archive depend only on the
/// site's URL.
pub fn archive(site_url: &str) -> Result<Vec<u8>, Error> {
    let manifest = json!({
        "name": NAME,
        "version": VERSION,
        "description": "Shows the public content of a site",
        "type": "module",
        "bin": { NAME: "cli.mjs" },
        "engines": { "node": ">=20" },
        "license": "MIT OR Apache-2.0",
    });
    // A parsed URL has no double quotes, backslashes or line ends, so it can be part of a string in
    // double quotes.
    let program = PROGRAM.replace("{site_url}", site_url).replace("{name}", NAME);
    let mut archive = Builder::new(Vec::new());
    for (path, text, mode) in [("package/cli.mjs", program, 0o755), ("package/package.json", format!("{manifest:#}\n"), 0o644)] {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(text.len() as u64);
        header.set_mode(mode);
        archive.append_data(&mut header, path, text.as_bytes())?;
    }
    let mut compressed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    compressed.write_all(&archive.into_inner()?)?;
    compressed.finish()
}
