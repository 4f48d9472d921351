//! Code without colors, the baseline of the comparison.

fn main() {
    highlight::measure(|_, code| highlight::escape::markup(code));
}
