//! Runs a service until a signal arrives, and stops the service cleanly.

use std::time::Duration;

use anyhow::Context as _;
use email::smtp::Smtp;
use tokio::sync::watch;

use crate::say::say;
use crate::server::Server;
use crate::service::Service;

/// How long requests and workers may take to finish after a signal.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Everything that runs until the gateway is stopped.
pub(super) struct RunningGateway {
    pub(super) service: Service,
    pub(super) smtp: Smtp,
    pub(super) sends_alone: bool,
    pub(super) api: Server,
    /// The server of the embedded engine, if the engine has a port.
    pub(super) tables: Option<Server>,
}

impl RunningGateway {
    pub(super) async fn until(self, signal: impl Future<Output = ()>) -> anyhow::Result<()> {
        let Self { service, smtp, sends_alone, api, tables } = self;
        let (stop, stopped) = watch::channel(false);
        let worker = service.spawn_worker(smtp, sends_alone, stopped.clone());
        service.spawn_endings(stopped.clone());
        let trail = service.spawn_trail(stopped.clone());
        let webhooks = service.spawn_webhooks(sends_alone, stopped.clone());
        service.spawn_expiry(stopped.clone());
        service.spawn_release(stopped.clone());
        if let Some(tables) = tables {
            tokio::spawn(tables.run(stopped.clone()));
        }
        let server = tokio::spawn(api.run(stopped));
        signal.await;
        say!("Stopping once running requests have finished");
        stop.send_replace(true);
        // The wait is limited, because a client could otherwise keep the gateway running with an
        // open request. Stopping after the time limit is safe, because acknowledged writes are
        // already durable.
        let finished = async { (server.await, worker.await, trail.await, webhooks.await) };
        match tokio::time::timeout(TIMEOUT, finished).await {
            Ok((served, worked, linked, delivered)) => {
                served.context("the server failed")?;
                worked.context("the outbox worker failed")?;
                linked.context("the trail worker failed")?;
                delivered.context("the webhook worker failed")
            }
            Err(_) => Ok(()),
        }
    }
}

/// Waits for SIGINT or SIGTERM. Calling the function installs the handlers; the returned future
/// only waits.
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
