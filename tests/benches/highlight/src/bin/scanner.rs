//! The site's own highlighting.

fn main() {
    highlight::measure(highlight::code::highlighted);
}
