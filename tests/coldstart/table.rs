//! The table's endpoint: the embedded engine over HTTP, or behind TLS with a certificate that is made for the run.

use std::path::PathBuf;
use std::sync::Arc;

use dynoxide::Database;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::copy_bidirectional;
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

/// An endpoint of DynamoDB that ends with this value.
pub(crate) struct Endpoint {
    pub(crate) url: String,
    /// The certificates to trust, as a file.
    pub(crate) roots: Option<PathBuf>,
    tasks: Vec<JoinHandle<()>>,
}

impl Endpoint {
    pub(crate) async fn start(database: Database, transport: Transport) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let engine = listener.local_addr().unwrap();
        let mut tasks = vec![tokio::spawn(dynoxide::server::serve_on(listener, database))];
        if transport == Transport::Http {
            return Self { url: format!("http://{engine}"), roots: None, tasks };
        }
        let front = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (acceptor, root) = certified();
        let roots = std::env::temp_dir().join(format!("coldstart-{}.pem", front.local_addr().unwrap().port()));
        std::fs::write(&roots, root).unwrap();
        let url = format!("https://localhost:{}", front.local_addr().unwrap().port());
        tasks.push(tokio::spawn(async move {
            loop {
                let (Ok((client, _)), acceptor) = (front.accept().await, acceptor.clone()) else { return };
                tokio::spawn(async move {
                    let Ok(mut engine) = TcpStream::connect(engine).await else { return };
                    // Otherwise a handshake waits for acknowledgements that TCP puts off by 40 ms.
                    let _ = (client.set_nodelay(true), engine.set_nodelay(true));
                    let Ok(mut client) = acceptor.accept(client).await else { return };
                    // A function that ends leaves its connection as it is.
                    let _ = copy_bidirectional(&mut client, &mut engine).await;
                });
            }
        }));
        Self { url, roots: Some(roots), tasks }
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

/// A server with a certificate for `localhost`, and the root that signed it.
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
