//! Lambda of [`secret_rotate`](webhooks_functions::secret_rotate).
use webhooks_functions::secret_rotate::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
