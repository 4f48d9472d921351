//! `gateway call`: calls any operation of the deployment.

use std::io::Read as _;

use anyhow::{Context as _, ensure};
use clap::Args;
use model::text::line::plain;
use reqwest::Method;
use serde_json::Value;

use super::super::input::project_id;
use super::super::tools::Target;
use super::output::json;
use super::session::{ApiRequest, Session};
use crate::say::say;

#[derive(Args)]
pub(crate) struct Call {
    /// HTTP method
    method: String,
    /// Path below `/api/v1`, such as `/users?limit=10`
    path: String,
    /// Act as an administrator of this project, which must belong to one of your teams. By default,
    /// act as yourself in `internal` or, if you have not signed in, as an administrator of the data
    /// folder's project
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Body of the request, as JSON; `-` reads it from standard input, which keeps secrets off the
    /// command line
    #[arg(long, value_name = "JSON")]
    body: Option<String>,
}

impl Call {
    pub(crate) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let method: Method = self.method.to_uppercase().parse().with_context(|| format!("{:?} is not an HTTP method", self.method))?;
        ensure!(self.path.starts_with('/'), "the path must begin with /, as in /users");
        let project = self.project.as_deref().map(project_id).transpose()?;
        let body = self.body.map(body).transpose()?;
        let mut session = Session::required(target).await?;
        project.iter().try_for_each(|project| session.reaches(project))?;
        let ask = ApiRequest { method, path: &self.path, body: body.as_ref(), project: project.as_ref() };
        let answer = session.text(ask).await?;
        match serde_json::from_str::<Value>(&answer) {
            Ok(answer) => json(&answer),
            Err(_) => {
                answer.lines().for_each(|line| say!("{}", plain(line)));
                Ok(())
            }
        }
    }
}

fn body(text: String) -> anyhow::Result<Value> {
    let text = if text == "-" {
        let mut read = String::new();
        std::io::stdin().read_to_string(&mut read).context("cannot read the body from standard input")?;
        read
    } else {
        text
    };
    // PowerShell and some editors begin a text with a byte order mark.
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text)).context("the body is not JSON")
}
