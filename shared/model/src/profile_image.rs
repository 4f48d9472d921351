//! Pictures of users, teams and members: an external URL, or an image uploaded as a data URL and
//! stored by this service.
//!
//! An uploaded image is a separate item that only the operation serving it reads. The owner's item
//! contains the image's URL and digest, so authentication and lists of users do not read the image.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crypto::digest::Digest;
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;
use wire::change::Change;
use wire::host::is_loopback;
use wire::id::{ProjectId, TeamId, UserId};

/// The largest uploaded image, in bytes: DynamoDB items are limited to 400 KB, and request bodies
/// to 256 KiB.
pub const MAX_BYTES: usize = 100 * 1024;
/// The longest URL, in bytes.
const MAX_URL: usize = 2048;

/// The picture in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileImage {
    /// An external URL.
    Url(String),
    /// An image to store.
    Upload(Upload),
}

/// An uploaded image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The format, which matches the first bytes of the file.
    pub kind: ImageKind,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Formats that every browser displays and that cannot contain scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageKind {
    /// `image/png`.
    Png,
    /// `image/jpeg`.
    Jpeg,
    /// `image/webp`.
    Webp,
    /// `image/gif`.
    Gif,
}

/// Why an image is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImageRefusal {
    /// The text is neither a permitted URL nor a data URL of an image.
    #[error(
        "must be an https URL (http on localhost) of at most {MAX_URL} bytes, or a data URL with an image: \
         data:image/(png|jpeg|webp|gif);base64,…"
    )]
    NoImage,
    /// The content of the file does not match its media type.
    #[error("must contain an image of the type named in the data URL")]
    OtherType,
    /// The image exceeds [`MAX_BYTES`].
    #[error("must be an image of at most {MAX_BYTES} bytes")]
    TooLarge,
}

impl ImageKind {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// The format named in a data URL. `image/jpg` is not registered, but is commonly used.
    fn from_media_type(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("image/jpg") {
            return Some(Self::Jpeg);
        }
        [Self::Png, Self::Jpeg, Self::Webp, Self::Gif].into_iter().find(|kind| text.eq_ignore_ascii_case(kind.media_type()))
    }

    /// The format according to the first bytes (WHATWG MIME Sniffing §6.1).
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', b'V', b'P', ..] => Some(Self::Webp),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            _ => None,
        }
    }
}

/// The scheme of data URLs.
const SCHEME: &str = "data:";

/// Whether the picture in a request is an image to store instead of the URL of an image.
pub fn is_upload(text: &str) -> bool {
    text.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME))
}

impl ProfileImage {
    /// Parses a data URL, an https URL, or an http URL on this machine. In development, uploaded
    /// images have such http URLs, and clients may send these URLs back.
    pub fn parse(text: &str) -> Result<Self, ImageRefusal> {
        if is_upload(text) {
            return Upload::parse(&text[SCHEME.len()..]).map(Self::Upload);
        }
        let is_url = Url::parse(text).is_ok_and(|url| url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url)));
        let is_plain = text.len() <= MAX_URL && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if is_url && is_plain { Ok(Self::Url(text.to_owned())) } else { Err(ImageRefusal::NoImage) }
    }
}

impl Upload {
    /// Parses the rest of a data URL (RFC 2397) after `data:`.
    fn parse(text: &str) -> Result<Self, ImageRefusal> {
        let (head, data) = text.split_once(',').ok_or(ImageRefusal::NoImage)?;
        let media_type = head.strip_suffix(";base64").ok_or(ImageRefusal::NoImage)?;
        let kind = ImageKind::from_media_type(media_type).ok_or(ImageRefusal::NoImage)?;
        if data.len() > MAX_BYTES.div_ceil(3) * 4 {
            return Err(ImageRefusal::TooLarge);
        }
        let bytes = STANDARD.decode(data).map_err(|_| ImageRefusal::NoImage)?;
        match ImageKind::from_bytes(&bytes) {
            _ if bytes.len() > MAX_BYTES => Err(ImageRefusal::TooLarge),
            Some(found) if found == kind => Ok(Self { kind, bytes }),
            _ => Err(ImageRefusal::OtherType),
        }
    }

    /// The digest of the file. The URL of an image ends with the digest, so the content at a URL
    /// never changes and can be cached.
    pub fn digest(&self) -> Digest {
        Digest::from_bytes(&self.bytes)
    }

    /// The digest for the image of a team member, computed from the member's user id and the file.
    /// Members with the same file therefore have separate copies, and each copy can be deleted
    /// separately.
    pub fn digest_of_member(&self, user: UserId) -> Digest {
        Digest::from_bytes(&[user.uuid().as_bytes(), self.bytes.as_slice()].concat())
    }
}

/// The owner of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A user.
    User(UserId),
    /// A team, or one of the team's members.
    Team(TeamId),
}

impl From<UserId> for Owner {
    fn from(user: UserId) -> Self {
        Self::User(user)
    }
}

impl From<TeamId> for Owner {
    fn from(team: TeamId) -> Self {
        Self::Team(team)
    }
}

impl Owner {
    /// The URL of an image of this owner.
    pub fn url(self, api_url: &str, project: &ProjectId, digest: &Digest) -> String {
        let owner = match self {
            Self::User(user) => format!("users/{user}"),
            Self::Team(team) => format!("teams/{team}"),
        };
        format!("{api_url}/api/v1/projects/{project}/{owner}/images/{digest}")
    }
}

/// The effect of a change on a picture's URL and stored image.
#[derive(Debug, Clone, Default)]
pub struct NewImage {
    /// The new URL and, if this service stores the image, its digest.
    pub change: Change<(String, Option<Digest>)>,
    /// The image to store, if an image is uploaded.
    pub upload: Option<(Digest, Upload)>,
}

impl NewImage {
    /// The effect of `change`. `digest` computes the digest of an uploaded image, and `url` the
    /// image's URL.
    pub fn of(change: &Change<ProfileImage>, digest: impl Fn(&Upload) -> Digest, url: impl Fn(&Digest) -> String) -> Self {
        match change {
            Change::Keep => Self::default(),
            Change::Clear => Self { change: Change::Clear, upload: None },
            Change::Set(ProfileImage::Url(url)) => Self { change: Change::Set((url.clone(), None)), upload: None },
            Change::Set(ProfileImage::Upload(new)) => {
                let digest = digest(new);
                Self { change: Change::Set((url(&digest), Some(digest.clone()))), upload: Some((digest, new.clone())) }
            }
        }
    }

    /// Changes a picture's URL and the digest of the stored image. Returns the previous image's
    /// digest if that image is no longer used and must be deleted.
    pub fn apply(&self, url: &mut Option<String>, uploaded: &mut Option<Digest>) -> Option<Digest> {
        let old = uploaded.clone();
        match &self.change {
            Change::Keep => {}
            Change::Clear => (*url, *uploaded) = (None, None),
            // The client sent back the current URL, so the stored image is kept.
            Change::Set((new, None)) if url.as_ref() == Some(new) => {}
            Change::Set((new, upload)) => (*url, *uploaded) = (Some(new.clone()), upload.clone()),
        }
        old.filter(|old| uploaded.as_ref() != Some(old))
    }
}

wire::deserr_from!(ProfileImage, String, |text| Self::parse(&text));

impl utoipa::PartialSchema for ProfileImage {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        String::schema()
    }
}

impl ToSchema for ProfileImage {}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

    fn data(media_type: &str, bytes: &[u8]) -> String {
        format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
    }

    #[test]
    fn the_media_type_of_an_image_must_match_its_first_bytes() {
        let images: [(&str, &[u8]); 6] = [
            ("image/png", PNG),
            ("image/jpeg", b"\xff\xd8\xff\xe0"),
            ("image/jpg", b"\xff\xd8\xff\xe0"),
            ("image/webp", b"RIFF\0\0\0\0WEBPVP8 "),
            ("image/gif", b"GIF89a"),
            ("IMAGE/GIF", b"GIF87a"),
        ];
        for (media_type, bytes) in images {
            assert!(matches!(ProfileImage::parse(&data(media_type, bytes)), Ok(ProfileImage::Upload(image)) if image.bytes == bytes));
            let other = if media_type == "image/png" { "image/jpeg" } else { "image/png" };
            assert_eq!(ProfileImage::parse(&data(other, bytes)), Err(ImageRefusal::OtherType));
        }
        assert_eq!(ProfileImage::parse(&data("image/png", b"<svg/>")), Err(ImageRefusal::OtherType));
        for text in ["data:image/svg+xml;base64,PHN2Zy8+", "data:image/png,abc", "data:image/png;base64,%%%", "data:", "data:;base64,AAAA"]
        {
            assert_eq!(ProfileImage::parse(text), Err(ImageRefusal::NoImage), "{text}");
        }
    }

    #[test]
    fn an_image_has_at_most_100_kib() {
        let image = |length: usize| {
            let mut bytes = PNG.to_vec();
            bytes.resize(length, 0);
            ProfileImage::parse(&data("image/png", &bytes))
        };
        assert!(image(MAX_BYTES).is_ok());
        for length in [MAX_BYTES + 1, MAX_BYTES + 3, 2 * MAX_BYTES] {
            assert_eq!(image(length), Err(ImageRefusal::TooLarge));
        }
    }

    #[test]
    fn an_image_url_is_https_or_points_to_this_machine() {
        assert_eq!(ProfileImage::parse("https://example.com/a.png"), Ok(ProfileImage::Url("https://example.com/a.png".to_owned())));
        let long = format!("https://example.com/{}", "a".repeat(MAX_URL));
        assert!(ProfileImage::parse("http://localhost:8787/a.png").is_ok());
        for text in [
            "",
            "http://example.com/a.png",
            "javascript:alert(1)",
            "/a.png",
            "https://",
            "äöü€",
            " https://example.com",
            "https://example.com/\n",
            &long,
        ] {
            assert_eq!(ProfileImage::parse(text), Err(ImageRefusal::NoImage), "{text}");
        }
    }
}
