//! Code without colors, as the base of the comparison.

fn main() {
    highlight::measure(|_, code| highlight::escape::markup(code));
}
