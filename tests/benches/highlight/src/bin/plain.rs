//! Code without colors, as a baseline for the highlighters.

fn main() {
    highlight::measure(|_, code| highlight::escape::markup(code));
}
