//! The Lambda of [`fallback`], behind the route `$default`.
use flows::App;
use registry::fallback;

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_router(fallback::NAME, App::without_secret, fallback::deployment_router)
}
