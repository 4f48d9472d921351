//! Determines which addresses belong to the same mailbox, for the limits on emails. Mail providers
//! ignore parts of an address, so a single person can have any number of addresses with a provider.
//! The table below lists what each provider ignores, according to the provider's help pages.

/// What a mail provider ignores in the local part of an address.
struct Provider {
    /// Domains with the same rules.
    domains: &'static [&'static str],
    /// Whether a name belongs to the same mailbox at all of these domains.
    is_one: bool,
    /// The character that starts a tag, in addition to `+`, which starts a tag at every provider.
    /// The tag is not part of the name.
    tag: Option<char>,
    /// Characters that the provider ignores.
    ignored: &'static [char],
}

/// Providers open to everyone. Many recipients at one of the provider's domains are normal, so the
/// limit per domain does not apply to these domains.
const PROVIDERS: &[Provider] = &[
    Provider { domains: &["gmail.com", "googlemail.com"], is_one: true, tag: None, ignored: &['.'] },
    Provider { domains: &["proton.me", "protonmail.com", "protonmail.ch", "pm.me"], is_one: true, tag: None, ignored: &['.', '-', '_'] },
    Provider { domains: &["icloud.com", "me.com", "mac.com"], is_one: true, tag: None, ignored: &[] },
    Provider {
        domains: &["yandex.com", "yandex.ru", "yandex.by", "yandex.kz", "yandex.uz", "ya.ru"],
        is_one: true,
        tag: None,
        // The name contains a hyphen in place of the dot.
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
            "yahoo.at",
            "yahoo.be",
            "yahoo.ca",
            "yahoo.cl",
            "yahoo.co.id",
            "yahoo.co.nz",
            "yahoo.co.th",
            "yahoo.co.za",
            "yahoo.com.ar",
            "yahoo.com.au",
            "yahoo.com.co",
            "yahoo.com.hk",
            "yahoo.com.mx",
            "yahoo.com.pe",
            "yahoo.com.ph",
            "yahoo.com.sg",
            "yahoo.com.tr",
            "yahoo.com.tw",
            "yahoo.com.vn",
            "yahoo.dk",
            "yahoo.gr",
            "yahoo.ie",
            "yahoo.nl",
            "yahoo.no",
            "yahoo.pl",
            "yahoo.ro",
            "yahoo.se",
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
            "outlook.at",
            "outlook.be",
            "outlook.cl",
            "outlook.com.ar",
            "outlook.com.au",
            "outlook.com.br",
            "outlook.cz",
            "outlook.dk",
            "outlook.es",
            "outlook.hu",
            "outlook.ie",
            "outlook.in",
            "outlook.it",
            "outlook.kr",
            "outlook.ph",
            "outlook.pt",
            "outlook.sa",
            "outlook.sg",
            "outlook.sk",
            "hotmail.be",
            "hotmail.ca",
            "hotmail.ch",
            "hotmail.co.jp",
            "hotmail.com.ar",
            "hotmail.com.br",
            "hotmail.com.tr",
            "hotmail.dk",
            "hotmail.gr",
            "hotmail.nl",
            "hotmail.no",
            "hotmail.se",
            "live.at",
            "live.be",
            "live.ca",
            "live.cl",
            "live.cn",
            "live.co.za",
            "live.com.ar",
            "live.com.au",
            "live.com.mx",
            "live.com.pt",
            "live.de",
            "live.dk",
            "live.ie",
            "live.in",
            "live.it",
            "live.jp",
            "live.nl",
            "live.no",
            "live.se",
            "windowslive.com",
            "passport.com",
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
            "fastmail.cn",
            "fastmail.co.uk",
            "fastmail.com.au",
            "fastmail.de",
            "fastmail.es",
            "fastmail.in",
            "fastmail.jp",
            "fastmail.mx",
            "fastmail.net",
            "fastmail.nl",
            "fastmail.org",
            "fastmail.se",
            "fastmail.to",
            "fastmail.tw",
            "fastmail.uk",
            "fastmail.us",
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
    // Forwarding services. Each address is an alias, and only the service knows who uses it.
    // Apple's aliases are at privaterelay.appleid.com.
    Provider {
        domains: &["appleid.com", "duck.com", "mozmail.com", "passmail.net", "simplelogin.com"],
        is_one: false,
        tag: None,
        ignored: &[],
    },
];

/// Domains at which each mailbox has a subdomain: `anything@ada.fastmail.com` reaches Ada.
const MAILBOX_DOMAINS: &[&str] = &[
    "fastmail.com",
    "fastmail.fm",
    "fastmail.cn",
    "fastmail.co.uk",
    "fastmail.com.au",
    "fastmail.de",
    "fastmail.es",
    "fastmail.in",
    "fastmail.jp",
    "fastmail.mx",
    "fastmail.net",
    "fastmail.nl",
    "fastmail.org",
    "fastmail.se",
    "fastmail.to",
    "fastmail.tw",
    "fastmail.uk",
    "fastmail.us",
];

fn provider(domain: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.domains.contains(&domain))
}

/// The name common to all addresses of a mailbox.
pub(super) fn name(local: &str, domain: &str) -> String {
    let of_subdomain = MAILBOX_DOMAINS.iter().find_map(|parent| Some((domain.strip_suffix(parent)?.strip_suffix('.')?, *parent)));
    let (local, domain) = of_subdomain.unwrap_or((local, domain));
    let local = local.split_once('+').map_or(local, |(name, _)| name);
    let Some(Provider { domains, is_one, tag, ignored }) = provider(domain) else { return format!("{local}@{domain}") };
    let local = tag.and_then(|tag| local.split_once(tag)).map_or(local, |(name, _)| name);
    let domain = if *is_one { domains[0] } else { domain };
    format!("{}@{domain}", local.replace(*ignored, ""))
}

/// The registered domain of an address, such as `example.co.uk`: one label and a public suffix
/// (publicsuffix.org). `None` if mailboxes at the domain are open to everyone.
pub(super) fn organisation(domain: &str) -> Option<String> {
    let registered = psl::domain_str(domain).unwrap_or(domain);
    provider(registered).is_none().then(|| registered.to_owned())
}
