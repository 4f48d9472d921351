//! The data that commands work on, and the tools for working on it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use crypto::deployment_secret::DeploymentSecret;
use crypto::seal::Sealer;
use flows::App;
use model::limit::Limits;
use model::project::Project;
use settings::{Settings, base_url};
use store::Store;
use store::record::SystemWork;
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::environment::variable;

use super::listen::PORT;
use super::secret;
use crate::aws::Aws;
use crate::data::Data;
use crate::engine::Engine;

/// The heading of the options of [`Target`], shown below the options of each command.
const HEADING: &str = "Data";

/// Selects the data that a command works on.
#[derive(Args, Clone)]
pub(super) struct Target {
    /// The gateway's data folder. Only one gateway can serve the folder at a time, but commands can
    /// use the folder at the same time [default: .gatelet]
    #[arg(long, global = true, help_heading = HEADING, value_name = "DIR", env = "GATELET_DATA")]
    pub(super) data: Option<PathBuf>,
    /// Use this AWS table instead of a gateway's data folder. Credentials and region are looked up
    /// where the AWS CLI looks: in the environment, in `~/.aws` (profile `AWS_PROFILE`), through
    /// single sign-on, or in the machine's role
    #[arg(long, global = true, help_heading = HEADING, value_name = "NAME")]
    pub(super) table: Option<String>,
    /// Use the API of this deployment, which `gateway login` signed in to. Without --api, --table
    /// and --data, commands that can work over the API use the deployment you last signed in to
    #[arg(long, global = true, help_heading = HEADING, value_name = "URL", conflicts_with = "table")]
    pub(super) api: Option<String>,
}

impl Target {
    /// Whether the command names a data folder or a table, rather than a deployment.
    pub(super) fn is_data(&self) -> bool {
        self.api.is_none() && (self.table.is_some() || self.data.is_some())
    }

    pub(super) fn folder(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new(".gatelet"))
    }

    /// The data in the folder, which must exist. See [`Self::announce`].
    pub(super) fn existing(&self) -> anyhow::Result<Data> {
        let data = Data::existing(self.folder())?;
        self.announce();
        Ok(data)
    }

    /// Prints the folder on standard error unless the command names it. After `gateway login`, the
    /// same command would work on a deployment.
    pub(super) fn announce(&self) {
        if self.data.is_none() {
            eprintln!("using the data in {}", self.folder().display());
        }
    }
}

/// The tools that `project`, `user`, `content`, `audit`, `metrics` and `reseal` need to work on
/// data.
pub(super) struct Tools {
    pub(super) store: Store,
    pub(super) sealer: Sealer,
    pub(super) secret: DeploymentSecret,
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
    /// The API's URL, if known: `GATELET_API_URL` or, for a folder, the URL of a gateway on the
    /// default port.
    pub(super) api_url: Option<String>,
}

impl Tools {
    pub(super) async fn open(target: &Target) -> anyhow::Result<Self> {
        let api_url = variable("GATELET_API_URL").map(|url| base_url("GATELET_API_URL", &url)).transpose()?;
        let api_url = api_url.or_else(|| target.table.is_none().then(|| format!("http://localhost:{PORT}")));
        let (store, secret): (Store, DeploymentSecret) = match &target.table {
            Some(table) => {
                let secret = secret::given(None)?
                    .context("GATELET_SECRET is not set: set it to the deployment's secret, which seals the secrets of providers")?;
                (Aws::find().await?.store(table)?, secret)
            }
            None => {
                let data = target.existing()?;
                let engine = Engine::open(Some(&data.database()), &Entropy::system(), None).await?;
                let store = engine.store();
                let secret = secret::folder_secret(&data, &store, &Entropy::system()).await?;
                (store, secret)
            }
        };
        Ok(Self { store, sealer: Sealer::new(&secret), secret, clock: Clock::system(), entropy: Entropy::system(), api_url })
    }

    /// Runs a command on a project and adds an entry to its trail.
    pub(super) fn recorded<F: Future>(
        &self,
        operation: &str,
        project: &Project,
        fields: Vec<String>,
        work: F,
    ) -> impl Future<Output = F::Output> {
        SystemWork { operation, fields, clock: &self.clock, entropy: &self.entropy }.run(project, work)
    }

    /// The app for commands that run the code of an operation or a worker. The app handles no
    /// requests and sends no emails, so its URLs are placeholders.
    pub(super) fn app(&self) -> anyhow::Result<App> {
        let url = "http://localhost".to_owned();
        let settings = Settings {
            own_pages: settings::own_pages(&url)?,
            senders: settings::senders(&url, "*")?,
            site_url: url.clone(),
            api_url: url,
            secret: self.secret.clone(),
            origin_secret: None,
            allows_direct: false,
            access_token_life: settings::access_token_life()?,
            project_cache_seconds: 0,
            limits: Limits::off(),
            stage: None,
            mails_per_hour: None,
            trust_viewer_headers: false,
            development: true,
            allow_private_issuers: settings::allow_private_issuers(),
            mail_relays: settings::mail_relays::MailRelays::default(),
            provider_stand_in: settings::provider_stand_in()?,
            shared_clients: settings::shared_clients(variable),
            security_contact: None,
            images_bucket: None,
        };
        Ok(App::new(settings, self.store.clone(), self.clock.clone(), self.entropy.clone(), settings::hasher()?))
    }
}
