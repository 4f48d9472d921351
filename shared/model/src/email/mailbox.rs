//! Which addresses reach the same mailbox, as the limits of emails count them. Mail providers
//! ignore parts of an address, so one person has any number of addresses there; a list of what each
//! of them ignores is in the table below, from their help pages.

/// What a mail provider ignores in the local part of an address.
struct Provider {
    /// The domains at which a mailbox has the same name. With `is_one`, they are the same mailbox.
    domains: &'static [&'static str],
    /// Whether a name at each of the domains is the same mailbox.
    is_one: bool,
    /// The characters that begin a tag, which ends the name; `+` does everywhere.
    tag: Option<char>,
    /// Characters that the provider ignores.
    ignored: &'static [char],
}

/// Providers with which everybody can have a mailbox. At their domains, the number of recipients
/// says nothing, so the limit by domain does not apply.
const PROVIDERS: &[Provider] = &[
    Provider { domains: &["gmail.com", "googlemail.com"], is_one: true, tag: None, ignored: &['.'] },
    Provider { domains: &["proton.me", "protonmail.com", "protonmail.ch", "pm.me"], is_one: true, tag: None, ignored: &['.', '-', '_'] },
    Provider { domains: &["icloud.com", "me.com", "mac.com"], is_one: true, tag: None, ignored: &[] },
    Provider {
        domains: &["yandex.com", "yandex.ru", "yandex.by", "yandex.kz", "yandex.uz", "ya.ru"],
        is_one: true,
        tag: None,
        // A hyphen stands for a dot.
        ignored: &['.', '-'],
    },
    Provider {
        // Disposable addresses are `name-tag`.
        domains: &[
            "yahoo.com",
            "yahoo.co.uk",
            "yahoo.co.in",
            "yahoo.co.jp",
            "yahoo.com.br",
            "yahoo.de",
            "yahoo.es",
            "yahoo.fr",
            "yahoo.in",
            "yahoo.it",
            "ymail.com",
            "rocketmail.com",
            "myyahoo.com",
        ],
        is_one: false,
        tag: Some('-'),
        ignored: &[],
    },
    Provider {
        domains: &[
            "outlook.com",
            "outlook.de",
            "outlook.fr",
            "outlook.jp",
            "hotmail.com",
            "hotmail.co.uk",
            "hotmail.de",
            "hotmail.es",
            "hotmail.fr",
            "hotmail.it",
            "live.com",
            "live.co.uk",
            "live.fr",
            "msn.com",
        ],
        is_one: false,
        tag: None,
        ignored: &[],
    },
    Provider {
        domains: &[
            "aol.com",
            "comcast.net",
            "fastmail.com",
            "fastmail.fm",
            "free.fr",
            "freenet.de",
            "gmx.at",
            "gmx.ch",
            "gmx.com",
            "gmx.de",
            "gmx.net",
            "hey.com",
            "libero.it",
            "mail.com",
            "mail.ru",
            "bk.ru",
            "inbox.ru",
            "list.ru",
            "mailbox.org",
            "naver.com",
            "daum.net",
            "orange.fr",
            "posteo.de",
            "posteo.net",
            "qq.com",
            "163.com",
            "126.com",
            "rediffmail.com",
            "sina.com",
            "t-online.de",
            "tuta.com",
            "tutanota.com",
            "tutanota.de",
            "web.de",
            "wp.pl",
            "o2.pl",
            "interia.pl",
            "zoho.com",
            "zohomail.com",
        ],
        is_one: false,
        tag: None,
        ignored: &[],
    },
];

/// Domains whose subdomains are mailboxes: `anything@ada.fastmail.com` reaches Ada.
const MAILBOX_DOMAINS: &[&str] = &["fastmail.com", "fastmail.fm"];

fn provider(domain: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.domains.contains(&domain))
}

/// The name that all addresses of a mailbox have in common.
pub(super) fn name(local: &str, domain: &str) -> String {
    let of_subdomain = MAILBOX_DOMAINS.iter().find_map(|parent| Some((domain.strip_suffix(parent)?.strip_suffix('.')?, *parent)));
    let (local, domain) = of_subdomain.unwrap_or((local, domain));
    let local = local.split_once('+').map_or(local, |(name, _)| name);
    let Some(Provider { domains, is_one, tag, ignored }) = provider(domain) else { return format!("{local}@{domain}") };
    let local = tag.and_then(|tag| local.split_once(tag)).map_or(local, |(name, _)| name);
    let domain = if *is_one { domains[0] } else { domain };
    format!("{}@{domain}", local.replace(*ignored, ""))
}

/// The domain that somebody has registered, to which an address belongs, unless everybody can have
/// a mailbox there: the label before a public suffix (publicsuffix.org), such as `co.uk`.
pub(super) fn organisation(domain: &str) -> Option<String> {
    let registered = psl::domain_str(domain).unwrap_or(domain);
    provider(registered).is_none().then(|| registered.to_owned())
}
