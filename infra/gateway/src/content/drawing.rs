//! Pictures for the link previews of pages that have no image. The pictures show the page's title
//! and the site's name in the site's colors.
//!
//! The name of a picture contains a digest of its content, so a stored picture is not drawn again.

use std::borrow::Cow;
use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef, Glyph, GlyphId, PxScale, ScaleFont as _, point};
use anyhow::Context as _;
use crypto::digest::Digest;
use model::content::image::{Format, ImageName};

const WIDTH: u16 = 1200;
const HEIGHT: u16 = 630;
/// The distance of the logo and the texts from the edges of the picture, in pixels.
const MARGIN: f32 = 80.0;
/// The font sizes of the title in pixels, each with the maximum number of lines at that size.
const SIZES: [(f32, usize); 3] = [(92.0, 2), (76.0, 3), (62.0, 4)];
const SMALL: f32 = 38.0;
/// The number of shades from the background to a color, including both.
const SHADES: u8 = 16;
/// The colors of the pages in the light theme: background, text, muted text and accent.
const BACK: [u8; 3] = [0xff, 0xff, 0xff];
const COLOURS: [[u8; 3]; 3] = [[0x1a, 0x1f, 0x24], [0x56, 0x61, 0x6b], [0x0a, 0x5c, 0x5a]];
const TEXT: u8 = 0;
const MUTED: u8 = 1;
const ACCENT: u8 = 2;
/// Increase this number when the look of the pictures changes, so that all pictures get new names.
const VERSION: u8 = 1;

#[expect(clippy::expect_used, reason = "the font is part of the program, and tests use it")]
static FONT: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("../../assets/Inter-SemiBold-subset.otf")).expect("the font is valid"));

/// What a picture shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Drawing {
    title: String,
    site: String,
    /// Further text that the picture's name depends on.
    rest: String,
}

impl Drawing {
    /// The picture of a page with the title `title`.
    pub(super) fn of(title: &str, site: &str) -> Self {
        Self { title: title.to_owned(), site: site.to_owned(), rest: String::new() }
    }

    /// The picture of a post that will appear later, but whose picture is already stored. The
    /// picture's name also depends on the text of the post, so that nobody can find the picture by
    /// guessing the title.
    pub(super) fn from_coming_post(title: &str, site: &str, text: &str) -> Self {
        Self { rest: format!("\n{}", Digest::of(text)), ..Self::of(title, site) }
    }

    pub(super) fn name(&self) -> ImageName {
        let digest = Digest::of(&format!("{VERSION}\n{}\n{}{}", self.title, self.site, self.rest));
        ImageName { digest, width: WIDTH.into(), height: HEIGHT.into(), format: Format::Png }
    }

    pub(super) fn png(&self) -> anyhow::Result<Vec<u8>> {
        let mut canvas = Canvas::new();
        canvas.gate(MARGIN, MARGIN, 56.0);
        canvas.bar();
        let site = line_within(&words(&self.site), SMALL, 900.0);
        canvas.text(&site, MARGIN + 80.0, MARGIN + 42.0, SMALL, MUTED);
        let words = words(&self.title);
        if is_drawable(&self.title) {
            let width = f32::from(WIDTH) - 2.0 * MARGIN;
            let mut fitting = SIZES.iter().map(|(size, max_lines)| (*size, *max_lines, lines(&words, *size, width)));
            let (size, max_lines, mut all) =
                fitting.clone().find(|(_, max_lines, all)| all.len() <= *max_lines).or_else(|| fitting.next_back()).unwrap_or_default();
            if all.len() > max_lines {
                let rest = all.drain(max_lines - 1..).collect::<Vec<_>>().join(" ");
                all.push(line_within(&rest, size, width));
            }
            for (number, line) in all.iter().enumerate() {
                canvas.text(line, MARGIN, 270.0 + size * 0.35 + size * 1.18 * as_f32(number), size, TEXT);
            }
        }
        canvas.encoded()
    }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are those of lines and pixels")]
fn as_f32(number: usize) -> f32 {
    number as f32
}

fn glyph(character: char) -> Option<GlyphId> {
    Some(FONT.glyph_id(character)).filter(|id| id.0 != 0)
}

/// Whether the font contains at least three quarters of a text's characters.
fn is_drawable(text: &str) -> bool {
    let visible = text.chars().filter(|character| !character.is_whitespace());
    let (known, all) = visible.fold((0, 0), |(known, all), character| (known + usize::from(glyph(character).is_some()), all + 1));
    known > 0 && known * 4 >= all * 3
}

/// The text on one line, without characters missing from the font.
fn words(text: &str) -> String {
    let known: String = text.chars().filter(|character| character.is_whitespace() || glyph(*character).is_some()).collect();
    known.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The glyphs of a line, and the line's width.
fn glyphs(line: &str, size: f32) -> (Vec<(GlyphId, f32)>, f32) {
    let font = FONT.as_scaled(PxScale::from(size));
    let mut x = 0.0;
    let placed = line.chars().filter_map(glyph).map(|id| {
        let here = x;
        x += font.h_advance(id);
        (id, here)
    });
    let placed = placed.collect();
    (placed, x)
}

fn is_within(line: &str, size: f32, width: f32) -> bool {
    glyphs(line, size).1 <= width
}

/// Breaks a text into lines, between words and inside words that are longer than a line.
fn lines(text: &str, size: f32, width: f32) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        let longer = if line.is_empty() { Cow::Borrowed(word) } else { Cow::Owned(format!("{line} {word}")) };
        if is_within(&longer, size, width) {
            line = longer.into_owned();
            continue;
        }
        lines.extend(Some(std::mem::take(&mut line)).filter(|line| !line.is_empty()));
        for character in word.chars() {
            if !is_within(&format!("{line}{character}"), size, width) {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    lines.push(line);
    lines
}

/// The beginning of a text that fits on a line, with an ellipsis if the text is cut off.
fn line_within(text: &str, size: f32, width: f32) -> String {
    if is_within(text, size, width) {
        return text.to_owned();
    }
    let mut kept = text.to_owned();
    while kept.pop().is_some() && !is_within(&format!("{}…", kept.trim_end()), size, width) {}
    format!("{}…", kept.trim_end())
}

/// The pixels, as indices into a palette that contains the shades from the background to each
/// color.
struct Canvas(Vec<u8>);

impl Canvas {
    fn new() -> Self {
        Self(vec![0; usize::from(WIDTH) * usize::from(HEIGHT)])
    }

    /// Covers a part of a pixel with a color.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the shades, and a place on the canvas")]
    fn cover(&mut self, x: f32, y: f32, share: f32, colour: u8) {
        let shade = (share.clamp(0.0, 1.0) * f32::from(SHADES - 1)).round() as u8;
        let is_on_canvas = x >= 0.0 && y >= 0.0 && x < f32::from(WIDTH) && y < f32::from(HEIGHT);
        if shade > 0 && is_on_canvas {
            let pixel = &mut self.0[y as usize * usize::from(WIDTH) + x as usize];
            *pixel = (*pixel).max(colour * SHADES + shade);
        }
    }

    /// Draws a line of text with its baseline at `y`.
    fn text(&mut self, line: &str, x: f32, y: f32, size: f32, colour: u8) {
        for (id, advance) in glyphs(line, size).0 {
            let glyph = Glyph { id, scale: PxScale::from(size), position: point(x + advance, y) };
            let Some(outline) = FONT.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            outline.draw(|column, row, share| {
                let place = |start: f32, offset: u32| start + as_f32(usize::try_from(offset).unwrap_or_default());
                self.cover(place(bounds.min.x, column), place(bounds.min.y, row), share, colour);
            });
        }
    }

    /// Draws the logo of the pages: two posts, an arch and two bars.
    fn gate(&mut self, left: f32, top: f32, side: f32) {
        let unit = side / 24.0;
        // Vertical strokes: center, top and bottom.
        let strokes = [(4.0, 11.0, 22.25), (20.0, 11.0, 22.25), (9.0, 10.75, 22.25), (15.0, 10.75, 22.25)];
        for row in 0..64_u16 {
            for column in 0..64_u16 {
                let (x, y) = (f32::from(column) / unit, f32::from(row) / unit);
                let arch = if y <= 11.0 { ((x - 12.0).hypot(y - 11.0) - 8.0).abs() } else { f32::MAX };
                let stroke = |(middle, upper, lower): &(f32, f32, f32)| {
                    let beyond = (upper - y).max(y - lower).max(0.0);
                    (x - middle).abs().max(if beyond > 0.0 { 1.25 + beyond } else { 0.0 })
                };
                let distance = strokes.iter().map(stroke).fold(arch, f32::min);
                self.cover(left + f32::from(column), top + f32::from(row), (1.25 - distance) * unit + 0.5, ACCENT);
            }
        }
    }

    /// Draws the bar at the bottom of the logo.
    fn bar(&mut self) {
        for row in 0..14 {
            for column in 0..WIDTH {
                self.cover(f32::from(column), f32::from(HEIGHT - 1 - row), 1.0, ACCENT);
            }
        }
    }

    fn encoded(&self) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, WIDTH.into(), HEIGHT.into());
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette());
        encoder.set_compression(png::Compression::Balanced);
        // The filter is set last, because setting the compression also sets a filter. Filters are
        // meant for photographs. For these pictures, filters would take ten times as long and make
        // the file larger.
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header().context("cannot write the header of a picture")?;
        writer.write_image_data(&self.0).context("cannot write the pixels of a picture")?;
        writer.finish().context("cannot finish a picture")?;
        Ok(bytes)
    }
}

fn palette() -> Vec<u8> {
    let mixed = |colour: [u8; 3], shade: u8| {
        [0, 1, 2].map(|channel: usize| {
            let (back, front) = (u16::from(BACK[channel]), u16::from(colour[channel]));
            let (share, max) = (u16::from(shade), u16::from(SHADES - 1));
            u8::try_from((back * (max - share) + front * share) / max).unwrap_or(u8::MAX)
        })
    };
    COLOURS.iter().flat_map(|colour| (0..SHADES).flat_map(move |shade| mixed(*colour, shade))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_a_small_png_and_always_the_same() {
        for title in ["Hello", "", "语言", "🎉", "Ein sehr langer Titel ".repeat(20).as_str(), "x".repeat(300).as_str()] {
            let drawing = Drawing::of(title, "Example");
            let png = drawing.png().unwrap();
            let size = imagesize::blob_size(&png).unwrap();
            assert_eq!((size.width, size.height), (1200, 630), "{title}");
            assert!(png.len() < 40_000 && png == drawing.png().unwrap(), "{title}: {}", png.len());
        }
    }

    #[test]
    fn a_picture_differs_with_its_title_and_its_site() {
        let one = Drawing::of("Hello", "Example");
        for other in [Drawing::of("Hello!", "Example"), Drawing::of("Hello", "Other")] {
            assert!(one.name() != other.name() && one.png().unwrap() != other.png().unwrap());
        }
    }

    #[test]
    fn the_picture_of_a_coming_post_has_a_name_that_nobody_can_guess() {
        let of = |text| Drawing::from_coming_post("Hello", "Example", text);
        assert!(of("One").name() != of("Two").name() && of("One").name() != Drawing::of("Hello", "Example").name());
        assert_eq!(of("One").png().unwrap(), Drawing::of("Hello", "Example").png().unwrap());
    }

    #[test]
    fn a_title_is_broken_into_lines_that_fit() {
        let text = "One table is enough for everything that a service of this kind has to remember";
        for (size, _) in SIZES {
            let lines = lines(text, size, 1040.0);
            assert!(lines.len() > 1 && lines.iter().all(|line| is_within(line, size, 1040.0)), "{lines:?}");
            assert_eq!(lines.join(" "), text);
        }
        let cut = line_within(text, 92.0, 500.0);
        assert!(cut.ends_with('…') && is_within(&cut, 92.0, 500.0) && text.starts_with(cut.trim_end_matches('…')), "{cut}");
    }

    #[test]
    fn the_colours_are_those_of_the_pages() {
        let hex = |colour: [u8; 3]| format!("light-dark(#{:02x}{:02x}{:02x},", colour[0], colour[1], colour[2]);
        let names = ["text", "muted", "accent"].into_iter().zip(COLOURS).chain([("back", BACK)]);
        for (name, colour) in names {
            assert!(site::look::TOKENS.contains(&format!("--{name}: {}", hex(colour))), "{name}");
        }
    }
}
