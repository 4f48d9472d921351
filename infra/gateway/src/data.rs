//! The data folder of a gateway: database, inbox, the deployment secret, and the keys of the first project.
//!
//! Everything in it is for its owner alone. The folder is the whole state: copy it, and the gateway is elsewhere.

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
/// What a gateway writes into its folder, besides what `SQLite` keeps beside a database.
const FILES: [&str; 6] = [DATABASE, INBOX, KEYS, SECRET, DYNAMODB, LOCK];
/// The inbox of an older version.
const MAILS: &str = "mails";

/// The folder of a gateway's data.
#[derive(Debug, Clone)]
pub struct Data(PathBuf);

/// The right to serve a data folder; it ends with the process, however that ends.
pub struct Lock(File);

/// Which gateway serves a data folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Holder {
    pub process: Option<u32>,
    /// Absent until the gateway answers.
    pub url: Option<String>,
    /// Where its pages answer, unless it has none.
    pub pages: Option<String>,
}

impl Data {
    /// The folder, created when it is not there. Files that an older version left readable for others are closed.
    pub fn create(folder: &Path) -> anyhow::Result<Self> {
        private_folder(folder).with_context(|| format!("the data folder {} cannot be created", folder.display()))?;
        let data = Self(folder.to_owned());
        // Found out now, with a clear message, and not by the first request.
        data.close().with_context(|| format!("the data folder {} cannot be written", folder.display()))?;
        Ok(data)
    }

    /// The folder of a gateway that has run.
    pub fn existing(folder: &Path) -> anyhow::Result<Self> {
        let data = Self(folder.to_owned());
        if !data.database().is_file() {
            bail!("there is no gateway data in {}: start the gateway once, or name its folder with --data", folder.display());
        }
        Ok(data)
    }

    /// Keeps others out, and Git. A folder that has something else in it is not only ours: there the files are closed and no more.
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

    /// Takes the folder for this process, or says who has it.
    pub fn lock(&self) -> anyhow::Result<Lock> {
        let path = self.0.join(LOCK);
        let file = private(&path, OpenOptions::new().read(true).write(true));
        let file = file.with_context(|| format!("{} cannot be opened", path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                let mut lock = Lock(file);
                lock.write("").with_context(|| format!("{} cannot be written", path.display()))?;
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => bail!(
                "the data folder {} is in use by {}: stop it, or name another folder with --data DIR (commands such as \
                 `project set` and `content publish` work beside it)",
                self.0.display(),
                Holder::read(file)
            ),
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("{} cannot be locked", path.display())),
        }
    }

    /// Who serves a folder now, if anybody does.
    pub fn holder(folder: &Path) -> Option<Holder> {
        let file = File::open(folder.join(LOCK)).ok()?;
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| Holder::read(file))
    }

    pub fn database(&self) -> PathBuf {
        self.0.join(DATABASE)
    }

    /// The database, created here when there is none, as `SQLite` would create it readable for others. An empty one beside keys has lost
    /// what was in it.
    pub fn create_database(&self) -> anyhow::Result<PathBuf> {
        let path = self.database();
        if self.keys_file().exists() && path.metadata().is_ok_and(|file| file.len() == 0) {
            bail!(Damage::empty(&path));
        }
        created(path)
    }

    /// The database of the inbox, created when there is none.
    pub fn create_inbox(&self) -> anyhow::Result<PathBuf> {
        created(self.0.join(INBOX))
    }

    /// Where an older version kept the inbox.
    pub fn mails(&self) -> PathBuf {
        self.0.join(MAILS)
    }

    pub fn keys_file(&self) -> PathBuf {
        self.0.join(KEYS)
    }

    /// How other processes reach the engine of a gateway that serves it.
    pub fn dynamodb_file(&self) -> PathBuf {
        self.0.join(DYNAMODB)
    }

    /// The deployment secret, made at the first start.
    pub fn secret(&self, entropy: &Entropy) -> anyhow::Result<DeploymentSecret> {
        let path = self.0.join(SECRET);
        match std::fs::read_to_string(&path) {
            Ok(text) => deployment_secret(text.trim().to_owned()).with_context(|| format!("{} is damaged", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let secret = entropy.code();
                write_private(&path, secret.expose_secret())?;
                Ok(DeploymentSecret::new(secret))
            }
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }
}

impl Lock {
    /// Tells others where this process answers, and where its pages do.
    pub fn announce(&mut self, url: &str, pages: Option<&str>) -> anyhow::Result<()> {
        let urls = [Some(url), pages].into_iter().flatten().collect::<Vec<_>>().join(" ");
        self.write(&urls).context("the lock of the data folder cannot be written")
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
        // A holder that cannot be read is still one.
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
    file.with_context(|| format!("{} cannot be created", path.display()))?;
    Ok(path)
}

/// Creates a folder that its owner alone may enter, whatever the umask; one that is there stays as it is.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Opens a file that its owner alone may read, created when it is not there, whatever the umask.
pub(crate) fn private(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    let file = options.create(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Writes a file that its owner alone may read, whole or not at all.
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
    written().with_context(|| format!("{} cannot be written", path.display()))
}
