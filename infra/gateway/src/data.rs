//! The data folder of a gateway: database, inbox, deployment secret, the keys of the first projects
//! and of the pages, the credentials for `--dynamodb-port`, and a lock.
//!
//! Only the owner of the files can read them. The folder contains the whole state of the gateway,
//! so a copy of the folder can be used to move the gateway.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use crypto::deployment_secret::DeploymentSecret;
use secrecy::ExposeSecret as _;
use settings::deployment_secret;
use wire::entropy::Entropy;

use crate::damage::Damage;

const DATABASE: &str = "gatelet.db";
const INBOX: &str = "inbox.db";
const KEYS: &str = "keys.env";
const SECRET: &str = "secret";
const DYNAMODB: &str = "dynamodb.env";
const LOCK: &str = "lock";
/// The files that the gateway writes, except `.gitignore` and the files that `SQLite` keeps next to
/// a database.
const FILES: [&str; 6] = [DATABASE, INBOX, KEYS, SECRET, DYNAMODB, LOCK];
/// The inbox folder of older versions.
const MAILS: &str = "mails";

/// The data folder of a gateway.
#[derive(Debug, Clone)]
pub struct Data(PathBuf);

/// The lock on a data folder. Released when the process ends, even if it is killed.
pub struct Lock(File);

/// The gateway that serves a data folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Holder {
    pub process: Option<u32>,
    /// The gateway's URL; `None` while the gateway is starting.
    pub url: Option<String>,
    /// The URL of the gateway's pages; `None` while the gateway is starting, or if it has no pages
    /// at `localhost`.
    pub pages: Option<String>,
}

impl Data {
    /// Opens the folder, and creates it if it is missing. Makes files private that an older version
    /// left readable to other users.
    pub fn create(folder: &Path) -> anyhow::Result<Self> {
        private_folder(folder).with_context(|| format!("cannot create the data folder {}", folder.display()))?;
        let data = Self(folder.to_owned());
        // A folder that cannot be used fails here with a clear message, rather than at the first
        // request.
        data.close().with_context(|| format!("cannot write to the data folder {}", folder.display()))?;
        Ok(data)
    }

    /// Opens the folder of a gateway that has run before.
    pub fn existing(folder: &Path) -> anyhow::Result<Self> {
        let data = Self(folder.to_owned());
        if !data.database().is_file() {
            bail!("{} contains no gateway data: start the gateway once, or name its folder with --data", folder.display());
        }
        Ok(data)
    }

    /// Makes the folder private and keeps it out of Git. If the folder also contains files of other
    /// programs, makes only the gateway's files private, and does not hide the folder from Git.
    fn close(&self) -> std::io::Result<()> {
        let beside = |rest: &str| rest.is_empty() || rest.starts_with(['-', '.']);
        let is_file = |name: &str| FILES.iter().any(|file| name.strip_prefix(file).is_some_and(beside));
        let is_ours = |name: &str| is_file(name) || [MAILS, ".gitignore"].contains(&name);
        let mut ours_alone = true;
        for entry in std::fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            let ours = name.to_str().is_some_and(is_ours);
            ours_alone &= ours;
            if ours && entry.file_type()?.is_file() {
                std::fs::set_permissions(entry.path(), Permissions::from_mode(0o600))?;
            }
        }
        if ours_alone {
            std::fs::set_permissions(&self.0, Permissions::from_mode(0o700))?;
            private(&self.0.join(".gitignore"), OpenOptions::new().write(true).truncate(true))?.write_all(b"*\n")?;
        }
        drop(private(&self.0.join(LOCK), OpenOptions::new().write(true))?);
        Ok(())
    }

    /// Locks the folder for this process, or reports which process holds the lock.
    pub fn lock(&self) -> anyhow::Result<Lock> {
        let path = self.0.join(LOCK);
        let file = private(&path, OpenOptions::new().read(true).write(true));
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                let mut lock = Lock(file);
                lock.write("").with_context(|| format!("cannot write {}", path.display()))?;
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => bail!(
                "the data folder {} is in use by {}: stop it, or choose another folder with --data DIR (commands such as \
                 `project set` and `content publish` can run at the same time)",
                self.0.display(),
                Holder::read(file)
            ),
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
        }
    }

    /// The gateway that is serving a folder, if there is one.
    pub fn holder(folder: &Path) -> Option<Holder> {
        let file = File::open(folder.join(LOCK)).ok()?;
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| Holder::read(file))
    }

    pub fn database(&self) -> PathBuf {
        self.0.join(DATABASE)
    }

    /// The path of the database file. Creates the file if it is missing, because `SQLite` would let
    /// other users read it. Fails if the file is empty although there are keys, because the data
    /// has then been lost.
    pub fn create_database(&self) -> anyhow::Result<PathBuf> {
        let path = self.database();
        if self.keys_file().exists() && path.metadata().is_ok_and(|file| file.len() == 0) {
            bail!(Damage::empty(&path));
        }
        created(path)
    }

    /// The inbox's database file, which is created if it is missing.
    pub fn create_inbox(&self) -> anyhow::Result<PathBuf> {
        created(self.0.join(INBOX))
    }

    /// The inbox folder of older versions.
    pub fn mails(&self) -> PathBuf {
        self.0.join(MAILS)
    }

    pub fn keys_file(&self) -> PathBuf {
        self.0.join(KEYS)
    }

    /// The file that tells other processes how to reach the engine, if it is served on a port.
    pub fn dynamodb_file(&self) -> PathBuf {
        self.0.join(DYNAMODB)
    }

    pub fn secret_file(&self) -> PathBuf {
        self.0.join(SECRET)
    }

    /// The deployment secret; `None` before the first start.
    pub fn secret(&self) -> anyhow::Result<Option<DeploymentSecret>> {
        let path = self.secret_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => deployment_secret(text.trim().to_owned())
                .map(Some)
                .with_context(|| format!("cannot use the deployment secret in {}", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound && self.keys_file().exists() => Err(error).with_context(|| {
                let path = path.display();
                format!("the deployment secret of this data, {path}, is missing: restore the file, or set GATELET_SECRET to its content")
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Creates the deployment secret and saves it.
    pub fn new_secret(&self, entropy: &Entropy) -> anyhow::Result<DeploymentSecret> {
        let secret = entropy.code();
        write_private(&self.secret_file(), secret.expose_secret())?;
        Ok(DeploymentSecret::new(secret))
    }
}

impl Lock {
    /// Writes the URLs of this gateway and its pages to the lock file.
    pub fn announce(&mut self, url: &str, pages: Option<&str>) -> anyhow::Result<()> {
        let urls = [Some(url), pages].into_iter().flatten().collect::<Vec<_>>().join(" ");
        self.write(&urls).context("cannot write the lock file of the data folder")
    }

    fn write(&mut self, urls: &str) -> std::io::Result<()> {
        self.0.set_len(0)?;
        self.0.rewind()?;
        writeln!(self.0, "{} {urls}", std::process::id())
    }
}

impl Holder {
    fn read(mut file: File) -> Self {
        let mut text = String::new();
        // The folder is locked even if the lock file cannot be read.
        let _ = file.read_to_string(&mut text);
        let mut words = text.split_whitespace();
        let process = words.next().and_then(|process| process.parse().ok());
        let (url, pages) = (words.next().map(str::to_owned), words.next().map(str::to_owned));
        Self { process, url, pages }
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.process, &self.url) {
            (Some(process), Some(url)) => write!(f, "another gateway (process {process}, at {url})"),
            (Some(process), None) => write!(f, "another gateway (process {process}, which is starting)"),
            _ => f.write_str("another gateway"),
        }
    }
}

fn created(path: PathBuf) -> anyhow::Result<PathBuf> {
    let file = private(&path, OpenOptions::new().append(true));
    file.with_context(|| format!("cannot create {}", path.display()))?;
    Ok(path)
}

/// Creates a folder that only its owner can enter, regardless of the umask. Leaves an existing
/// folder unchanged.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Opens a file, creates it if it is missing, and makes it readable only to its owner, regardless
/// of the umask.
pub(crate) fn private(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    let file = options.create(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// The text of a file; `None` if the file does not exist.
pub(crate) fn text_of(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Atomically writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = || {
        let mut draft = path.as_os_str().to_owned();
        draft.push(".new");
        let draft = PathBuf::from(draft);
        let mut file = private(&draft, OpenOptions::new().write(true).truncate(true))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}
