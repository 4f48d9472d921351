//! Commands find the same AWS credentials as the AWS CLI. A local server takes the place of
//! DynamoDB and records the requests.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use crate::support::{Folder, end_of, fails, gateway};

/// Starts a server. A request that begins with the first text of a pair gets the second text as
/// response; all other requests get 400. Returns the URL of the server, and a receiver of the
/// requests.
fn server(answers: &'static [(&'static str, &'static str)]) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request = request(&mut stream);
            let found = answers.iter().find(|(start, _)| request.starts_with(start));
            let (status, body) = found.map_or(("400 Bad Request", "{}"), |(_, body)| ("200 OK", *body));
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            let _ = sender.send(request);
        }
    });
    (url, requests)
}

/// Reads a request and returns it without the body.
fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    stream.read_exact(&mut vec![0; length]).unwrap();
    head
}

/// The machine of an operator: a home folder, a folder of programs, and a server in place of
/// DynamoDB.
struct Machine {
    folder: Folder,
    dynamodb: String,
    requests: Receiver<String>,
}

impl Machine {
    fn new(name: &str) -> Self {
        let (dynamodb, requests) = server(&[]);
        let folder = Folder::new(name);
        std::fs::create_dir_all(folder.path("bin")).unwrap();
        Self { folder, dynamodb, requests }
    }

    /// Creates a program on `PATH` from a script.
    fn program(&self, name: &str, script: &str) {
        self.folder.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(self.folder.path(&format!("bin/{name}")), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, settings: &[(&str, &str)]) -> Command {
        let mut command = gateway(&["export", "--to", &self.folder.path("export"), "--table", "gatelet"]);
        command.env("HOME", self.folder.path("home")).env("PATH", format!("{}:/usr/bin:/bin", self.folder.path("bin")));
        command.env("AWS_ENDPOINT_URL_DYNAMODB", &self.dynamodb).env("AWS_EC2_METADATA_DISABLED", "true");
        command.envs(settings.iter().copied());
        command
    }

    /// Runs a command with the environment variables in `settings`. Returns the access key, the
    /// region and the session token that the command sends to DynamoDB. The call is rejected.
    fn caller(&self, settings: &[(&str, &str)]) -> (String, String, Option<String>) {
        let said = fails(&end_of(&mut self.command(settings)));
        let request = self.requests.try_iter().next().unwrap_or_else(|| panic!("no request arrived: {said}"));
        let credential = request.split("Credential=").nth(1).unwrap().split('/').collect::<Vec<_>>();
        let token = request.lines().find_map(|line| line.strip_prefix("x-amz-security-token: "));
        (credential[0].to_owned(), credential[2].to_owned(), token.map(str::to_owned))
    }

    fn refusal(&self, settings: &[(&str, &str)]) -> String {
        let said = fails(&end_of(&mut self.command(settings)));
        assert!(self.requests.try_iter().next().is_none(), "a request arrived: {said}");
        said
    }
}

fn caller(key: &str, region: &str, token: Option<&str>) -> (String, String, Option<String>) {
    (key.to_owned(), region.to_owned(), token.map(str::to_owned))
}

#[test]
fn credentials_come_from_the_environment_and_then_from_the_profile() {
    let machine = Machine::new("aws-files");
    machine.folder.write("home/.aws/config", "[default]\nregion = eu-central-1\n[profile work]\nregion = eu-west-1\n");
    machine.folder.write(
        "home/.aws/credentials",
        "[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key = s\n[work]\naws_access_key_id = AKWORK\naws_secret_access_key = s\naws_session_token = t\n",
    );
    assert_eq!(machine.caller(&[]), caller("AKDEFAULT", "eu-central-1", None));
    assert_eq!(machine.caller(&[("AWS_PROFILE", "work")]), caller("AKWORK", "eu-west-1", Some("t")));
    assert_eq!(machine.caller(&[("AWS_PROFILE", "work"), ("AWS_REGION", "us-east-1")]), caller("AKWORK", "us-east-1", Some("t")));
    let keys = [("AWS_ACCESS_KEY_ID", "AKENV"), ("AWS_SECRET_ACCESS_KEY", "s"), ("AWS_PROFILE", "work")];
    assert_eq!(machine.caller(&keys), caller("AKENV", "eu-west-1", None));
    let elsewhere = machine.folder.path("elsewhere");
    machine.folder.write("elsewhere", "[other]\naws_access_key_id = AKOTHER\naws_secret_access_key = s\n");
    let settings = [("AWS_SHARED_CREDENTIALS_FILE", elsewhere.as_str()), ("AWS_PROFILE", "other"), ("AWS_DEFAULT_REGION", "eu-north-1")];
    assert_eq!(machine.caller(&settings), caller("AKOTHER", "eu-north-1", None));
}

#[test]
fn a_profile_can_name_a_credential_process() {
    let machine = Machine::new("aws-process");
    machine
        .program("helper", r#"[ "$1" = "a b" ] && echo '{"Version":1,"AccessKeyId":"AKHELPER","SecretAccessKey":"s","SessionToken":"t"}'"#);
    machine.folder.write("home/.aws/config", "[default]\nregion = eu-central-1\ncredential_process = helper \"a b\"\n");
    assert_eq!(machine.caller(&[]), caller("AKHELPER", "eu-central-1", Some("t")));
    machine.program("helper", "echo 'no ticket' >&2; exit 3");
    let said = machine.refusal(&[]);
    assert!(said.contains("credential_process of profile default failed") && said.contains("no ticket"), "{said}");
    machine.program("helper", "echo '{\"SecretAccessKey\":\"hush\"}'");
    let said = machine.refusal(&[]);
    assert!(said.contains("AccessKeyId") && !said.contains("hush"), "{said}");
}

#[test]
fn roles_and_single_sign_on_are_resolved_by_the_aws_cli() {
    let machine = Machine::new("aws-cli");
    let config = "[profile sso]\nregion = eu-central-1\nsso_session = corp\nsso_account_id = 1\n[profile role]\nregion = eu-central-1\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = sso\n";
    machine.folder.write("home/.aws/config", config);
    let script = r#"[ "$1" = --version ] && exit 0
        [ "$*" = "configure export-credentials --format process --profile $AWS_PROFILE" ] || exit 9
        echo "{\"Version\":1,\"AccessKeyId\":\"AK-$AWS_PROFILE\",\"SecretAccessKey\":\"s\",\"SessionToken\":\"t\"}""#;
    machine.program("aws", script);
    for profile in ["sso", "role"] {
        assert_eq!(machine.caller(&[("AWS_PROFILE", profile)]), caller(&format!("AK-{profile}"), "eu-central-1", Some("t")));
    }
    machine.program("aws", "[ \"$1\" = --version ] && exit 0; echo 'The SSO session has expired: aws sso login' >&2; exit 255");
    assert!(machine.refusal(&[("AWS_PROFILE", "sso")]).contains("aws sso login"));
    std::fs::remove_file(machine.folder.path("bin/aws")).unwrap();
    let mut command = machine.command(&[("AWS_PROFILE", "sso")]);
    let said = fails(&end_of(command.env("PATH", machine.folder.path("bin"))));
    assert!(said.contains("single sign-on") && said.contains("install it"), "{said}");
}

#[test]
fn container_and_instance_roles_are_used() {
    let machine = Machine::new("aws-metadata");
    let role = r#"{"AccessKeyId":"AKROLE","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}"#;
    let answers: &[_] = Box::leak(Box::new([
        ("GET /container ", role),
        ("PUT /latest/api/token ", "a-token"),
        ("GET /latest/meta-data/iam/security-credentials/ ", "the-role\n"),
        ("GET /latest/meta-data/iam/security-credentials/the-role ", role),
    ]));
    let (metadata, requests) = server(answers);
    let container = format!("{metadata}/container");
    let settings =
        [("AWS_REGION", "eu-central-1"), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &container), ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pass")];
    assert_eq!(machine.caller(&settings), caller("AKROLE", "eu-central-1", Some("t")));
    assert!(requests.try_iter().all(|request| request.to_lowercase().contains("authorization: pass")));

    let settings =
        [("AWS_REGION", "eu-central-1"), ("AWS_EC2_METADATA_DISABLED", "false"), ("AWS_EC2_METADATA_SERVICE_ENDPOINT", &metadata)];
    assert_eq!(machine.caller(&settings), caller("AKROLE", "eu-central-1", Some("t")));
    let asked: Vec<String> = requests.try_iter().collect();
    assert_eq!(asked.len(), 3);
    assert!(asked[1..].iter().all(|request| request.to_lowercase().contains("x-aws-ec2-metadata-token: a-token")), "{asked:?}");

    let foreign = [("AWS_REGION", "eu-central-1"), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/x")];
    assert!(machine.refusal(&foreign).contains("credentials is http://example.com/x (AWS_CONTAINER_CREDENTIALS_"));
}

#[test]
fn missing_credentials_are_reported_with_the_places_searched() {
    let machine = Machine::new("aws-nothing");
    let said = machine.refusal(&[("AWS_REGION", "eu-central-1")]);
    for tried in ["AWS_ACCESS_KEY_ID", ".aws/config", ".aws/credentials", "AWS_PROFILE", "container", "AWS_EC2_METADATA_DISABLED"] {
        assert!(said.contains(tried), "{tried} is missing in {said}");
    }
    assert!(machine.refusal(&[]).contains("AWS_REGION"));
    assert!(machine.refusal(&[("AWS_PROFILE", "nobody"), ("AWS_REGION", "x")]).contains("profile nobody (AWS_PROFILE) does not exist"));
    machine.folder.write("home/.aws/config", "[default]\nregion = eu-central-1\n");
    assert!(machine.refusal(&[]).contains("profile default has no keys"));
}
