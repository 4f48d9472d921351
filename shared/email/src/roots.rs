//! The root certificates trusted by the operating system.

use std::path::Path;

use rustls::RootCertStore;

/// Files with the root certificates of Linux distributions.
const FILES: [&str; 4] = [
    // Debian, Ubuntu, Alpine, Arch Linux.
    "/etc/ssl/certs/ca-certificates.crt",
    // Amazon Linux (used by Lambda functions), Fedora, Red Hat Enterprise Linux.
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    // openSUSE.
    "/etc/ssl/ca-bundle.pem",
];

/// The system's root certificates, from one of [`FILES`], regardless of `SSL_CERT_FILE` and
/// `SSL_CERT_DIR`. If these variables are set, `load_native_certs` reads only the certificates
/// named there, so it is called only on systems without any of the files.
pub(crate) fn system_roots() -> RootCertStore {
    let found = match FILES.iter().map(Path::new).find(|file| file.exists()) {
        Some(file) => rustls_native_certs::load_certs_from_paths(Some(file), None),
        None => rustls_native_certs::load_native_certs(),
    };
    for error in &found.errors {
        tracing::warn!(%error, "a file of system certificates cannot be read");
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    roots
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::system_roots;

    /// An environment variable that marks the process started by the test.
    const INNER: &str = "ROOTS_TEST_INNER";

    // Tests share a process and its environment variables, so this test starts a process of its
    // own.
    #[test]
    fn variables_of_the_operator_do_not_hide_the_systems_roots() {
        if std::env::var_os(INNER).is_some() {
            println!("found {} roots", system_roots().len());
            return;
        }
        let roots = system_roots().len();
        assert!(roots > 0, "the system has root certificates");
        let name = "roots::tests::variables_of_the_operator_do_not_hide_the_systems_roots";
        let mut inner = Command::new(std::env::current_exe().unwrap());
        inner.args(["--exact", name, "--nocapture"]).env(INNER, "1");
        inner.env("SSL_CERT_FILE", "/dev/null").env("SSL_CERT_DIR", "/dev");
        let said = String::from_utf8(inner.output().unwrap().stdout).unwrap();
        assert!(said.contains(&format!("found {roots} roots")), "{said}");
    }
}
