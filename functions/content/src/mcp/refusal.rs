//! The reasons why a call returns no data.

use api::content::Problem;

/// The reason why a call returns no data.
pub(super) enum Refusal {
    /// The parameters of the call do not match the method or the tool.
    Misused(String),
    /// There is no resource at the URI.
    NoResource(String),
    /// The tool cannot do what the call requests. The text tells the model what to do instead.
    Advice(&'static str),
    /// The content cannot be read.
    Failed,
}

impl Refusal {
    pub(super) fn misused(message: impl Into<String>) -> Self {
        Self::Misused(message.into())
    }
}

impl From<Problem> for Refusal {
    fn from(_: Problem) -> Self {
        Self::Failed
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        Problem::from(error).into()
    }
}
