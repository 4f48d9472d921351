//! The highlighting of the site.

fn main() {
    highlight::measure(highlight::code::highlighted);
}
