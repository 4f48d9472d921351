//! `gateway serve`: starts the service and stops it cleanly.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use crypto::deployment_secret::DeploymentSecret;
use email::smtp::Smtp;
use jiff::SignedDuration;
use net::proxy::Proxy;
use net::tls;
use secrecy::ExposeSecret as _;
use settings::{Settings, base_url};
use tokio::net::TcpListener;
use wire::clock::{Clock, after};
use wire::entropy::Entropy;
use wire::environment::variable;

use super::listen::{ListenOptions, bind};
use super::serving::{RunningGateway, stop_signal};
use super::tools::Target;
use super::{log, secret};
use crate::content;
use crate::data::Data;
use crate::dynamodb::{self, Credentials};
use crate::engine::Engine;
use crate::inbox::Inbox;
use crate::keys::{Keys, Role, warn_of_others};
use crate::loopback::is_loopback_host;
use crate::page_key::PageKey;
use crate::pages::PrivateDetails;
use crate::saved_keys::SavedKeys;
use crate::say::say;
use crate::server::{Connections, Network, Proxies, Server, Timeouts};
use crate::service::{Parts, Service};

#[derive(Args, Clone)]
pub(super) struct Options {
    #[command(flatten)]
    listen: ListenOptions,
    /// Keep everything in memory: all data is lost when the gateway stops
    #[arg(long)]
    memory: bool,
    /// Serve the embedded DynamoDB engine on this port to other processes on this machine. These
    /// processes sign requests with the credentials in the file `dynamodb.env` of the data folder
    #[arg(long, value_name = "PORT")]
    dynamodb_port: Option<u16>,
    /// Take the client's address from `X-Forwarded-For` in requests from this network of proxies,
    /// such as 10.0.0.0/8; can be repeated, and implies `--no-pages`
    #[arg(long = "trusted-proxy", value_name = "CIDR")]
    trusted_proxies: Vec<Network>,
    /// Rate limits: `standard` as in a deployment, `generous` for a hundred times as many requests,
    /// or `off`; a variable such as `GATELET_LIMIT_SIGN_IN=60/600` (60 requests in 600 seconds)
    /// sets one limit
    #[arg(long, value_name = "MODE", env = "GATELET_LIMITS", default_value = "generous")]
    limits: String,
    /// Cache a project and its key for this many seconds, 0 to 10, instead of reading both for
    /// every request. Revoked keys and old settings remain in effect for this time
    #[arg(long, value_name = "SECONDS", env = "GATELET_PROJECT_CACHE_SECONDS", default_value = "0")]
    project_cache_seconds: String,
    /// Disable the pages that show keys and emails: the console, the inbox and the outbox
    #[arg(long)]
    no_pages: bool,
    /// Also show the console, the inbox and the outbox to connections from other addresses, which
    /// containers require. Clients need the page key, and must still use the host name `localhost`.
    /// Same as `GATELET_REMOTE_PAGES=1`
    #[arg(long, conflicts_with = "no_pages")]
    remote_pages: bool,
    /// Serve the console even if `--no-pages` or `--trusted-proxy` disables the pages. Anyone can
    /// open the console, but must sign in as a user of the project `internal`. Same as
    /// `GATELET_CONSOLE=on`
    #[arg(long)]
    console: bool,
    /// Start with a new deployment secret, because the original secret of the data was lost.
    /// Authenticator apps and providers' secrets remain unreadable, and audit logs can no longer be
    /// verified
    #[arg(long)]
    secret_lost: bool,
    /// Trust the viewer headers of a distribution without proof (for tests)
    #[arg(long, hide = true)]
    trust_viewer_headers: bool,
    /// Run with the clock this many seconds ahead (for tests, to expire a killed gateway's leases)
    #[arg(long, hide = true, default_value_t = 0, value_name = "SECONDS")]
    clock_ahead: u32,
}

pub(super) async fn run(target: &Target, options: Options) -> anyhow::Result<()> {
    log::install()?;
    if target.table.is_some() || target.api.is_some() {
        bail!("the gateway serves the data of a folder (--data): --table and --api are for other commands, such as `gateway project list`");
    }
    if cfg!(panic = "abort") {
        tracing::warn!(
            "this binary was built with the Cargo profile `release`, which is for the Lambda functions: a panic would end the process, so \
             build the gateway with --profile gateway"
        );
    }
    let trusted = trusted_proxies(&options)?;
    // Bind the ports first, so that a gateway that cannot listen does not create anything.
    let folder = Some(target.folder()).filter(|_| !options.memory);
    let listener = bind(options.listen.address(), folder, "--port")?;
    let address = listener.local_addr()?;
    let dynamodb = match options.dynamodb_port {
        Some(port) => Some(bind(SocketAddr::new(loopback(address.ip()), port), None, "--dynamodb-port")?),
        None => None,
    };
    let (clock, entropy) = (clock(options.clock_ahead), Entropy::system());
    let data = folder.map(Data::create).transpose()?;
    let mut lock = data.as_ref().map(Data::lock).transpose()?;
    let (engine, was_shared) = open_engine(data.as_ref(), options.dynamodb_port.is_some(), &entropy).await?;
    let secret = match &data {
        Some(data) => secret::checked(data, &engine.store(), &entropy, options.secret_lost).await?,
        None => secret::given(None)?.unwrap_or_else(|| DeploymentSecret::new(entropy.code())),
    };
    let settings = settings(address, secret, &options)?;
    if let Some(stale) = settings.security_contact.as_ref().and_then(|contact| contact.stale(clock.now())) {
        tracing::warn!("GATELET_SECURITY_EXPIRES {stale}");
    }
    let smtp = Smtp::trusting(&settings, tls::public_roots, clock.clone())?;
    // Calls to providers and webhooks use the proxy. An unusable proxy URL is reported before the
    // gateway starts.
    Proxy::from_env()?;
    let inbox = open_inbox(data.as_ref(), &clock)?;
    let shows_pages = !options.no_pages && trusted.is_empty();
    let pages_url = pages_url(&settings.api_url, address).filter(|_| shows_pages);
    if let Some(lock) = &mut lock {
        lock.announce(&settings.api_url, pages_url.as_deref())?;
    }

    let KeyRing { keys, internal, page_key, is_new } = install_keys(data.as_ref(), &engine, &clock, &entropy).await?;
    content::publish_sample_once(&engine.store(), clock.now()).await?;
    let dynamodb = dynamodb.map(|listener| Dynamodb::new(listener, &engine, data.as_ref(), &entropy)).transpose()?;
    let is_remote = options.remote_pages || variable("GATELET_REMOTE_PAGES").is_some_and(|value| value == "1");
    let start_page = pages_url.map(|url| page_key.link(&url));
    let private_pages =
        shows_pages.then(|| PrivateDetails { keys: keys.clone(), keys_file: data.as_ref().map(Data::keys_file), page_key, is_remote });
    let parts = Parts { settings, engine: engine.clone(), inbox, clock, entropy, hasher: settings::hasher()?, private_pages };
    let has_console = options.console || settings::has_console();
    let service = if has_console { Service::with_console(parts) } else { Service::new(parts) };
    let signal = stop_signal().context("cannot handle signals")?;
    print_start(&service.app.settings, start_page.as_deref(), &keys, &internal, data.as_ref().filter(|_| !is_new));
    if let Some(dynamodb) = &dynamodb {
        dynamodb.print();
    }
    // Other processes that share the engine, now or in the previous run, may also send emails.
    let sends_alone = dynamodb.is_none() && !was_shared;
    let connections = Connections::by_descriptors(Timeouts::from_environment());
    let tables = dynamodb.map(|dynamodb| dynamodb.server(Arc::clone(&connections)));
    let api = Server { listener, router: service.router.clone(), connections, proxies: Proxies::new(&trusted) };
    RunningGateway { service, smtp, sends_alone, api, tables }.until(signal).await
}

/// Opens the engine with its table. Also returns whether the previous run shared the engine with
/// other processes. A shared engine flushes each write separately.
async fn open_engine(data: Option<&Data>, is_shared: bool, entropy: &Entropy) -> anyhow::Result<(Engine, bool)> {
    let database = data.map(Data::create_database).transpose()?;
    let engine = Engine::open(database.as_deref(), entropy, None).await?;
    if let Some(database) = &database {
        engine.keep_items(database)?;
    }
    let was_on = engine.stream(is_shared).await?;
    let was_shared = engine.share(is_shared)? || (was_on && !engine.store().has_webhooks().await?);
    if let (Some(database), false) = (&database, is_shared) {
        engine.share_commits(database)?;
    }
    // Other processes may read the stream of a shared engine, so the stream must not be emptied.
    engine.open_feed(database.as_deref().filter(|_| !is_shared)).await?;
    Ok((engine, was_shared))
}

/// A gateway's keys: for the first project, for `internal`, and for the pages.
struct KeyRing {
    keys: Keys,
    internal: Keys,
    page_key: PageKey,
    /// Whether this start created the first project.
    is_new: bool,
}

/// Chooses the keys and adds them to their projects. If there is a data folder, saves the keys in
/// it.
async fn install_keys(data: Option<&Data>, engine: &Engine, clock: &Clock, entropy: &Entropy) -> anyhow::Result<KeyRing> {
    let file = data.map(Data::keys_file);
    let saved = SavedKeys::read(file.as_deref())?;
    let (mut keys, mut internal) = (Keys::choose(&saved, entropy)?, Keys::choose_internal(&saved, entropy)?);
    let is_new = keys.start(Role::First, &saved, &engine.store(), clock, entropy).await?;
    if is_new && saved.is_empty() {
        warn_of_others(&engine.store(), &keys.project_id).await?;
    }
    internal.start(Role::Internal, &saved, &engine.store(), clock, entropy).await?;
    let page_key = PageKey::choose(&saved, entropy)?;
    if let Some(file) = &file {
        saved.write(file, &[keys.lines(Role::First), internal.lines(Role::Internal), page_key.line()])?;
    }
    Ok(KeyRing { keys, internal, page_key, is_new })
}

/// The networks given on the command line or, if there are none, in the environment.
fn trusted_proxies(options: &Options) -> anyhow::Result<Vec<Network>> {
    match variable("GATELET_TRUSTED_PROXIES").filter(|_| options.trusted_proxies.is_empty()) {
        Some(text) => {
            let parsed = |one: &str| one.trim().parse::<Network>().map_err(|error| anyhow!("GATELET_TRUSTED_PROXIES: {one:?}: {error}"));
            text.split(',').map(parsed).collect()
        }
        None => Ok(options.trusted_proxies.clone()),
    }
}

/// The base URL of the pages: the API's URL if its host is a loopback name, and otherwise
/// `localhost` with the gateway's port. The API's URL is preferred because a container or tunnel
/// may map the gateway's port. `None` if the gateway listens only on a network address.
fn pages_url(api_url: &str, address: SocketAddr) -> Option<String> {
    if !address.ip().is_loopback() && !address.ip().is_unspecified() {
        return None;
    }
    let is_here = api_url.strip_prefix("http://").is_some_and(is_loopback_host);
    Some(if is_here { api_url.to_owned() } else { format!("http://localhost:{}", address.port()) })
}

/// The address to serve the table on. The address is always loopback, because only this machine may
/// use the table, even if the API listens on a network.
fn loopback(address: IpAddr) -> IpAddr {
    if address.is_loopback() { address } else { IpAddr::V4(Ipv4Addr::LOCALHOST) }
}

/// The engine's server on a separate port.
struct Dynamodb {
    listener: TcpListener,
    endpoint: String,
    credentials: Credentials,
    engine: Engine,
}

impl Dynamodb {
    fn new(listener: TcpListener, engine: &Engine, data: Option<&Data>, entropy: &Entropy) -> anyhow::Result<Self> {
        let endpoint = format!("http://{}", listener.local_addr()?);
        let file = data.map(Data::dynamodb_file);
        let credentials = Credentials::choose(file.as_deref(), entropy)?;
        if let Some(file) = &file {
            credentials.write(file, &endpoint)?;
        }
        Ok(Self { listener, endpoint, credentials, engine: engine.clone() })
    }

    fn print(&self) {
        print_line("AWS key ID", &self.credentials.id);
        print_line("AWS secret key", self.credentials.secret.expose_secret());
        print_line("DynamoDB", &self.endpoint);
    }

    fn server(self, connections: Arc<Connections>) -> Server {
        let router = dynamodb::router(self.engine, self.credentials);
        Server { listener: self.listener, router, connections, proxies: Proxies::default() }
    }
}

fn open_inbox(data: Option<&Data>, clock: &Clock) -> anyhow::Result<Inbox> {
    let file = data.map(Data::create_inbox).transpose()?;
    let inbox = Inbox::open(file.as_deref(), clock.clone()).context("cannot open the inbox")?;
    if let Some(data) = data {
        let mails = data.mails();
        inbox.take_over(&mails).with_context(|| format!("cannot move the emails in {} into the inbox", mails.display()))?;
    }
    Ok(inbox)
}

/// The machine's clock, moved ahead by `ahead` seconds.
fn clock(ahead: u32) -> Clock {
    let system = Clock::system();
    Clock::new(move || after(system.now(), SignedDuration::from_secs(ahead.into())))
}

fn settings(address: SocketAddr, secret: DeploymentSecret, options: &Options) -> anyhow::Result<Settings> {
    // Links in emails and redirects from providers lead to the API's URL, so its default host is
    // `localhost` if that name reaches the gateway.
    let host = if address.ip().is_loopback() || address.ip().is_unspecified() { "localhost".to_owned() } else { address.ip().to_string() };
    let listen = format!("{host}:{}", address.port());
    let api_url = match variable("GATELET_API_URL") {
        Some(url) => base_url("GATELET_API_URL", &url)?,
        None => format!("http://{listen}"),
    };
    Ok(Settings {
        site_url: site_url(&api_url)?,
        own_pages: settings::own_pages(&api_url)?,
        senders: settings::senders(&api_url, "*")?,
        mails_per_hour: settings::mails_per_hour(variable("GATELET_MAILS_PER_HOUR").as_deref().unwrap_or("off"))?,
        development: api_url.starts_with("http:"),
        api_url,
        secret,
        origin_secret: variable("GATELET_ORIGIN_SECRET").map(Into::into),
        allows_direct: true,
        trust_viewer_headers: options.trust_viewer_headers,
        limits: settings::limits(&options.limits, variable)?,
        allow_private_issuers: settings::allow_private_issuers(),
        mail_relays: settings::mail_relays()?,
        provider_stand_in: settings::provider_stand_in()?,
        shared_clients: settings::whole_shared_clients(variable)?,
        security_contact: settings::security_contact(variable)?,
        images_bucket: None,
        access_token_life: settings::access_token_life()?,
        project_cache_seconds: settings::project_cache_seconds(&options.project_cache_seconds)?,
        stage: None,
    })
}

/// The site's URL, which links in its content use; by default, the API's URL.
fn site_url(api_url: &str) -> anyhow::Result<String> {
    match variable("GATELET_SITE_URL") {
        Some(url) => Ok(base_url("GATELET_SITE_URL", &url)?),
        None => Ok(api_url.to_owned()),
    }
}

fn print_line(label: &str, value: &str) {
    say!("  {label:<15}  {value}");
}

fn print_start(settings: &Settings, start_page: Option<&str>, keys: &Keys, internal: &Keys, saved: Option<&Data>) {
    let (url, line) = (&settings.api_url, print_line);
    say!("Gatelet answers at {url}");
    if let Some(link) = start_page {
        line("Start page", link);
    }
    for (label, path) in [("API", "/api/v1"), ("Docs", "/docs"), ("API reference", "/docs/api")] {
        line(label, &format!("{url}{path}"));
    }
    line("Project", keys.project_id.as_str());
    let Some(data) = saved else {
        line("Client key", keys.client.expose_secret());
        line("Server key", keys.server.expose_secret());
        line("Admin key", keys.admin.expose_secret());
        // The keys of the project `internal`.
        line("Internal client", internal.client.expose_secret());
        line("Internal server", internal.server.expose_secret());
        line("Internal admin", internal.admin.expose_secret());
        return;
    };
    line("Keys", &format!("in {}", data.keys_file().display()));
}
