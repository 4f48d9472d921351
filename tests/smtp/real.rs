//! Tests against a real mail server. `tests/smtp/run` installs the packages that the tests require,
//! and sets `PYTHON` to the Python interpreter.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use email::smtp::Smtp;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use support::TestApp;
use wire::clock::Clock;

use super::{PASSWORD, TIMEOUT, email_config, outbox, send_emails_by};

/// A server with a certificate for `localhost`, which is stopped when this value is dropped.
struct RealServer {
    child: Child,
    stdout: BufReader<ChildStdout>,
    folder: PathBuf,
    /// The port for STARTTLS. Port 2465 uses TLS from the start.
    port: u16,
    certificate: CertificateDer<'static>,
}

impl RealServer {
    fn start() -> Self {
        let python =
            std::env::var("PYTHON").unwrap_or_else(|_| panic!("PYTHON is not set: run tests/smtp/run, which installs the mail server"));
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("smtp-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/smtp/real.py");
        let mut child = Command::new(python).arg(script).args([&certificate, &key]).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let port = line(&mut stdout).trim().parse().unwrap();
        Self { child, stdout, folder, port, certificate: made.cert.der().clone() }
    }

    /// The next message that the server receives.
    fn message(&mut self) -> Value {
        serde_json::from_str(&line(&mut self.stdout)).unwrap()
    }

    /// Sends due emails. The client trusts the server's certificate if `is_trusted`.
    async fn send_emails(&self, app: &TestApp, is_trusted: bool) {
        let mut roots = RootCertStore::empty();
        if is_trusted {
            roots.add(self.certificate.clone()).unwrap();
        }
        send_emails_by(app, Smtp::new(&app.app.settings, roots, TIMEOUT * 10, Clock::system())).await;
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn line(stdout: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    assert!(stdout.read_line(&mut line).unwrap() > 0, "the mail server exited");
    line
}

/// There is only one test, because the server always uses port 2465.
#[tokio::test]
#[ignore = "needs the mail server of tests/smtp/run"]
async fn a_real_server_accepts_authenticated_emails_over_tls() {
    let mut server = RealServer::start();
    for port in [server.port, 2465] {
        let (app, id) = outbox(email_config("localhost", port), json!({})).await;
        server.send_emails(&app, true).await;
        let sent = app.outbox_entry(&id).await;
        assert_eq!(sent["status"], "sent", "{port} {sent}");
        let taken = server.message();
        assert_eq!((&taken["tls"], &taken["login"]), (&json!(true), &json!(true)), "{port}");
        assert_eq!((&taken["from"], &taken["to"]), (&json!("notes@example.org"), &json!(["ada@example.com"])));
        assert!(taken["message"].as_str().unwrap().contains(&format!("Message-ID: <{id}@")), "{taken}");

        let mut wrong = email_config("localhost", port);
        wrong["password"] = json!("another");
        let (app, id) = outbox(wrong, json!({})).await;
        server.send_emails(&app, true).await;
        assert_failed(&app.outbox_entry(&id).await, "server-error", "AUTH_FAILED");

        // A server that does not prove its identity does not get the password. The certificate may
        // have been replaced before the last attempt.
        let (app, id) = outbox(email_config("localhost", port), json!({})).await;
        server.send_emails(&app, false).await;
        assert_failed(&app.outbox_entry(&id).await, "scheduled", "UNKNOWN");
        let (app, id) = outbox(email_config("127.0.0.1", port), json!({})).await;
        server.send_emails(&app, true).await;
        assert_failed(&app.outbox_entry(&id).await, "scheduled", "UNKNOWN");
    }
}

fn assert_failed(entry: &Value, status: &str, class: &str) {
    assert_eq!(entry["status"], status, "{entry}");
    assert_eq!(entry["send_attempt_errors"][0]["external_details"]["errorType"], class, "{entry}");
    assert!(!entry.to_string().contains(PASSWORD), "{entry}");
}
