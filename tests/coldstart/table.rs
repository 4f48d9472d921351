//! The endpoint of the table: serves the embedded engine over HTTP, or over TLS with a certificate
//! for this run. Measures the time of requests, to separate it from the function's time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dynoxide::Database;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Transport {
    Http,
    Tls,
}

/// A DynamoDB endpoint, which stops when this value is dropped.
pub(crate) struct Endpoint {
    pub(crate) url: String,
    /// A file with the certificates that the function must trust; `None` without TLS.
    pub(crate) roots: Option<PathBuf>,
    hands: Arc<Hands>,
    tasks: Vec<JoinHandle<()>>,
}

impl Endpoint {
    pub(crate) async fn start(database: Database, transport: Transport) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let engine = listener.local_addr().unwrap();
        let serving = tokio::spawn(dynoxide::server::serve_on(listener, database));
        let front = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = front.local_addr().unwrap().port();
        let tls = (transport == Transport::Tls).then(certified);
        let (scheme, roots) = match &tls {
            Some((_, root)) => {
                let file = std::env::temp_dir().join(format!("coldstart-{port}.pem"));
                std::fs::write(&file, root).unwrap();
                ("https", Some(file))
            }
            None => ("http", None),
        };
        let hands = Arc::new(Hands::default());
        let relaying = tokio::spawn({
            let hands = Arc::clone(&hands);
            async move {
                while let Ok((client, _)) = front.accept().await {
                    let (acceptor, hands) = (tls.as_ref().map(|(acceptor, _)| acceptor.clone()), Arc::clone(&hands));
                    tokio::spawn(async move {
                        #[expect(clippy::disallowed_methods, reason = "the engine is in this process")]
                        let Ok(engine) = TcpStream::connect(engine).await else { return };
                        // With Nagle's algorithm, a handshake would have to wait for
                        // acknowledgements, which TCP delays by 40 ms.
                        let _ = (client.set_nodelay(true), engine.set_nodelay(true));
                        match acceptor {
                            Some(acceptor) => {
                                let Ok(client) = acceptor.accept(client).await else { return };
                                relay(client, engine, &hands).await;
                            }
                            None => relay(client, engine, &hands).await,
                        }
                    });
                }
            }
        });
        Self { url: format!("{scheme}://localhost:{port}"), roots, hands, tasks: vec![serving, relaying] }
    }

    /// The time spent on requests so far; the time of concurrent requests counts once.
    pub(crate) fn time(&self) -> Duration {
        self.hands.0.lock().unwrap_or_else(PoisonError::into_inner).time
    }
}

/// The number of requests in progress, and the time spent on requests.
#[derive(Default)]
struct Hands(Mutex<HeldRequests>);

#[derive(Default)]
struct HeldRequests {
    count: u32,
    since: Option<Instant>,
    time: Duration,
}

impl Hands {
    fn take(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.count += 1;
        held.since.get_or_insert_with(Instant::now);
    }

    fn give_back(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.count -= 1;
        if held.count == 0 {
            let held_for = held.since.take().map_or(Duration::ZERO, |since| since.elapsed());
            held.time += held_for;
        }
    }
}

/// Passes requests to the engine, and responses to the function, until one side closes the
/// connection. Functions keep it open.
async fn relay(mut client: impl AsyncRead + AsyncWrite + Unpin, mut engine: TcpStream, hands: &Hands) {
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut is_held = false;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => match read {
                Ok(length @ 1..) => {
                    if !is_held {
                        hands.take();
                        is_held = true;
                    }
                    if engine.write_all(&asked[..length]).await.is_err() {
                        break;
                    }
                }
                _ => break,
            },
            read = engine.read(&mut answered) => match read {
                Ok(length @ 1..) => {
                    let written = async { client.write_all(&answered[..length]).await.and(client.flush().await) };
                    if written.await.is_err() {
                        break;
                    }
                    if is_held {
                        hands.give_back();
                        is_held = false;
                    }
                }
                _ => break,
            },
        }
    }
    if is_held {
        hands.give_back();
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        if let Some(roots) = &self.roots {
            let _ = std::fs::remove_file(roots);
        }
    }
}

/// A TLS acceptor with a certificate for `localhost`, and the root certificate that signed it.
fn certified() -> (TlsAcceptor, String) {
    let root_key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_pem = root.self_signed(&root_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = config.with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap()).unwrap();
    (TlsAcceptor::from(Arc::new(config)), root_pem)
}
