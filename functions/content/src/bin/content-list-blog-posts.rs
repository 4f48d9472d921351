//! Lambda of `list_blog_posts`.
use content_functions::list_blog_posts::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
