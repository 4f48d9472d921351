//! If a project has a mail server, the gateway sends the project's emails to this server; all other
//! emails go to the inbox.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::support::{Folder, Gateway, gateway, run, succeeds, variable};

/// Starts a mail server that accepts everything; returns its port, and a receiver of its messages.
fn mail_server() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, messages) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = sender.send(conversation(stream.unwrap()));
        }
    });
    (port, messages)
}

/// Receives one message and returns it.
fn conversation(mut stream: TcpStream) -> String {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
    let mut message = String::new();
    stream.write_all(b"220 stub\r\n").unwrap();
    while let Some(line) = lines.next() {
        let answer = match line.split(' ').next().unwrap() {
            "DATA" => {
                stream.write_all(b"354 go on\r\n").unwrap();
                message = lines.by_ref().take_while(|line| line != ".").collect::<Vec<_>>().join("\n");
                "250 taken"
            }
            "AUTH" => "235 welcome",
            "EHLO" => "250-stub\r\n250 AUTH PLAIN",
            _ => "250 ok",
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).unwrap();
    }
    message
}

#[tokio::test]
async fn emails_go_through_the_mail_server_of_their_project() {
    let folder = Folder::new("mail-server");
    let data = folder.data();
    let (port, messages) = mail_server();
    let start = || Gateway::spawn(gateway(&["--data", &data, "--listen", "127.0.0.1:0"]).env("GATELET_ALLOW_PRIVATE_ISSUERS", "1"));
    let id = start().line("Project");
    let config = format!(
        r#"config.email_config={{"type":"standard","host":"localhost","port":{port},"username":"notes","password":"the-password","sender_name":"Notes",
        "sender_email":"notes@example.com"}}"#
    );
    let other = variable(&succeeds(&run(&["project", "create", "Other", "--data", &data])), "GATELET_PROJECT_ID");
    let set = succeeds(&run(&["project", "set", &id, &config, "config.magic_link_enabled=true", "--data", &data]));
    assert!(set.contains("********") && !set.contains("the-password"), "{set}");
    succeeds(&run(&["project", "set", &other, "config.magic_link_enabled=true", "--data", &data]));

    let gateway = start();
    for (project, address) in [(&other, "charles@example.com"), (&id, "ada@example.com")] {
        let body = json!({ "email": address, "callback_url": "http://localhost:3000/x" });
        let (status, answer) = gateway.client(project, Method::POST, "/api/v1/auth/otp/send-sign-in-code", Some(body)).await;
        assert_eq!(status, 200, "{answer}");
    }
    let message = tokio::task::spawn_blocking(move || messages.recv_timeout(Duration::from_secs(120))).await.unwrap().unwrap();
    assert!(message.contains("To: ada@example.com") && message.contains("From: Notes <notes@example.com>"), "{message}");
    let inbox = async |address: &str| gateway.get(&format!("/inbox/api/messages?to={address}")).await.text().await.unwrap();
    // Both emails are sent at the same time, so the email in the inbox may arrive later.
    for _ in 0..1_200 {
        if inbox("charles@example.com").await.contains("\"subject\"") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for (address, count) in [("charles@example.com", 1), ("ada@example.com", 0)] {
        let inbox = inbox(address).await;
        assert_eq!(inbox.matches("\"subject\"").count(), count, "{inbox}");
    }
}
