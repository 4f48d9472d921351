//! The architecture: crates depend only on lower layers, files and folders have no cyclic
//! dependencies, operations do not depend on each other, and files stay small.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use infra::checked_in::root;

use super::imports::{Module, Sources, arrows, circles, folders};
use super::tree::{dependencies, names};

/// The crates of `shared/`, from the lowest layer up: each may use those before it.
const FLOORS: [&str; 13] =
    ["wire", "crypto", "model", "site", "settings", "net", "aws", "store", "errors", "email", "oauth", "flows", "api"];
/// The external crates that a layer may not use, by prefixes of their names. Layers that are not
/// listed may use any crate.
const UNKNOWN: [(&str, &[&str]); 8] = [
    ("wire", &["axum", "http", "hyper", "lambda", "aws"]),
    ("crypto", &["axum", "http", "hyper", "lambda", "aws"]),
    ("model", &["axum", "http", "hyper", "lambda", "aws"]),
    ("site", &["axum", "http", "hyper", "lambda", "aws"]),
    ("store", &["axum", "lambda"]),
    ("email", &["axum", "lambda"]),
    ("oauth", &["axum", "lambda", "aws"]),
    ("flows", &["axum", "http", "hyper", "lambda", "aws"]),
];
/// The crates whose folders may depend on each other.
const WITH_CYCLES: [&str; 2] = ["functions/auth", "shared/api"];
const MAX_LINES: usize = 350;
/// The tests that contain addresses of other machines, each with the reason why it does not connect
/// to them.
const FOREIGN: [(&str, &str); 8] = [
    ("api/challenges/suspicion.rs", "senders of requests, in headers"),
    ("api/challenges/turnstile.rs", "senders of requests, in headers"),
    ("api/edge/small.rs", "a version"),
    ("api/limits/mod.rs", "senders of requests, in headers"),
    ("api/limits/places.rs", "senders of requests, in headers"),
    ("api/limits/reads.rs", "senders of requests, in headers"),
    ("api/limits/unknown.rs", "senders of requests, in headers"),
    ("api/webhooks/endpoints.rs", "URLs of endpoints that get no events"),
];

/// The sources of the crate in this folder, without its binaries.
fn sources(folder: &Path) -> Sources {
    rust_files(folder)
        .into_iter()
        .filter_map(|path| Some((module_of(path.strip_prefix(folder).ok()?)?, fs::read_to_string(path).unwrap())))
        .collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = names(folder).into_iter().map(|name| folder.join(name));
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

fn module_of(file: &Path) -> Option<Module> {
    let mut module: Module = file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.first().is_some_and(|first| first == "bin") {
        return None;
    }
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    Some(module)
}

/// The sources of the crates in `shared/`, `functions/` and `infra/`, by the crate's folder.
fn crates() -> BTreeMap<String, Sources> {
    let below = |folder: &'static str| names(&root().join(folder)).into_iter().map(move |name| format!("{folder}/{name}"));
    let of_infra = ["infra", "infra/console", "infra/gateway", "infra/registry"].map(str::to_owned);
    let folders = below("shared").chain(below("functions")).chain(of_infra);
    folders.map(|folder| (folder.clone(), sources(&root().join(folder).join("src")))).filter(|(_, sources)| !sources.is_empty()).collect()
}

/// The operations that are named in files other than the area's list. Code that operations share
/// belongs in a folder of the area.
fn borrowed(sources: &Sources) -> Vec<String> {
    let is_operation = |module: &Module| sources.get(module).is_some_and(|text| text.contains("\npub const ROUTE: Route"));
    let of = |(module, names): (Module, BTreeSet<Module>)| {
        let names = names.into_iter().filter(|name| is_operation(name)).map(|name| name.join("::"));
        names.filter(|_| !module.is_empty()).map(|name| format!("{} names {name}", module.join("::"))).collect::<Vec<_>>()
    };
    arrows(sources).into_iter().flat_map(of).collect()
}

#[test]
fn no_files_depend_on_each_other_in_a_cycle() {
    for (folder, sources) in crates() {
        assert_eq!(circles(arrows(&sources)), [""; 0], "{folder}");
    }
}

#[test]
fn no_folders_depend_on_each_other_in_a_cycle() {
    for (folder, sources) in crates() {
        let circles = circles(folders(&arrows(&sources)));
        assert_eq!(circles.is_empty(), !WITH_CYCLES.contains(&folder.as_str()), "{folder}: {circles:?}");
    }
}

#[test]
fn no_operation_imports_another() {
    for (folder, sources) in crates().into_iter().filter(|(folder, _)| folder.starts_with("functions/")) {
        assert_eq!(borrowed(&sources), [""; 0], "{folder}");
        let areas: Vec<_> = dependencies(&folder).into_iter().filter(|name| name.ends_with("-functions")).collect();
        // Hosted pages are a client of the API within the same process.
        assert!(
            areas.is_empty() || folder == "functions/hosted",
            "{folder} uses {areas:?}: what areas share belongs in shared/flows or shared/api"
        );
    }
}

#[test]
fn every_crate_only_depends_on_lower_layers() {
    assert_eq!(names(&root().join("shared")), FLOORS.map(str::to_owned).into());
    for (floor, name) in FLOORS.iter().enumerate() {
        let used = dependencies(&format!("shared/{name}"));
        let above: Vec<_> = FLOORS[floor..].iter().filter(|other| used.contains(**other)).collect();
        assert!(above.is_empty(), "{name} uses {above:?}, which is not below it");
        let unknown = UNKNOWN.iter().find(|(of, _)| of == name).map_or(&[][..], |(_, unknown)| unknown);
        let known = used.iter().find(|key| !FLOORS.contains(&key.as_str()) && unknown.iter().any(|start| key.starts_with(start)));
        assert_eq!(known, None, "{name}");
    }
}

#[test]
fn files_stay_within_their_limit() {
    let folders = ["shared", "functions", "infra", "tests"].map(|folder| root().join(folder));
    let mut long = Vec::new();
    for path in folders.iter().flat_map(|folder| rust_files(folder)).filter(|path| !path.iter().any(|part| part == "target")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let lines = text.lines().count();
        long.extend((lines > MAX_LINES).then(|| format!("{name}: {lines} lines")));
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// The source files of a crate whose tests are in the wrong place. Tests belong next to the tested
/// file, in a file with its name and `_tests`, or in `tests` in its folder.
fn astray(sources: &Sources) -> impl Iterator<Item = String> + '_ {
    let is_beside = |module: &Module| {
        let (name, folder) = module.split_last()?;
        let tested = folder.iter().map(String::as_str).chain([name.strip_suffix("_tests")?]).map(str::to_owned).collect::<Module>();
        Some(sources.contains_key(&tested))
    };
    let has_path = |text: &str| text.lines().any(|line| line.trim_start().starts_with("#[path"));
    let astray = sources.iter().filter(move |(module, text)| is_beside(module) == Some(false) || has_path(text));
    astray.map(|(module, _)| module.join("::"))
}

#[test]
fn tests_are_beside_what_they_test() {
    for (folder, sources) in crates() {
        assert_eq!(astray(&sources).collect::<Vec<_>>(), [""; 0], "{folder}");
    }
    let planted = planted(&[
        ("lib.rs", ""),
        ("a/mod.rs", ""),
        ("a/tests.rs", ""),
        ("a/b.rs", "    #[path = \"c.rs\"]\nmod tests;"),
        ("a/b_tests.rs", ""),
        ("a/c_tests.rs", ""),
    ]);
    assert_eq!(astray(&planted).collect::<Vec<_>>(), ["a::b", "a::c_tests"]);
}

/// The addresses of other machines in a source file, without its comments. Loopback addresses
/// belong to this machine, and addresses for documentation (RFC 5737, RFC 3849) belong to nobody.
fn foreign_addresses(source: &str) -> Vec<IpAddr> {
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let addresses = lines.flat_map(|line| {
        // The numbers of sections in standards look like addresses.
        let parts = line.split(|letter: char| !(letter.is_alphanumeric() || ".§".contains(letter)));
        let bracketed = line.split('[').skip(1).filter_map(|rest| rest.split(']').next());
        let in_brackets = bracketed.filter_map(|part| part.parse::<Ipv6Addr>().ok()).map(IpAddr::V6);
        parts.filter_map(|part| part.parse::<Ipv4Addr>().ok()).map(IpAddr::V4).chain(in_brackets).collect::<Vec<_>>()
    });
    addresses.filter(|address| !is_ours_or_nobodys(*address)).collect()
}

fn is_ours_or_nobodys(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let is_for_documentation = matches!(address.octets(), [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _]);
            address.is_loopback() || address.is_unspecified() || is_for_documentation
        }
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_ours_or_nobodys(mapped.into()),
            None => address.is_loopback() || address.is_unspecified() || address.segments()[..2] == [0x2001, 0xdb8],
        },
    }
}

/// Even if the filter for addresses is broken, a test must not connect to other machines.
#[test]
fn no_test_names_an_address_that_is_not_ours() {
    let folder = root().join("tests");
    let mut found = BTreeSet::new();
    for path in rust_files(&folder).into_iter().filter(|path| !path.iter().any(|part| part == "contract")) {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        let foreign = foreign_addresses(&fs::read_to_string(&path).unwrap());
        if !foreign.is_empty() {
            assert!(FOREIGN.iter().any(|(file, _)| *file == name), "tests/{name} names {foreign:?}: use 127.0.0.2, for example");
            found.insert(name);
        }
    }
    assert_eq!(found, FOREIGN.iter().map(|(file, _)| (*file).to_owned()).collect());
}

#[test]
fn foreign_addresses_are_recognized_in_every_form() {
    for text in ["\"10.0.0.1\"", "https://169.254.169.254/latest", "\"10.0.0.7:25,localhost\"", "[fd00:ec2::254]:443"] {
        assert_eq!(foreign_addresses(text).len(), 1, "{text}");
    }
    for text in ["127.0.0.2:25", "[::ffff:127.0.0.1]", "[::1]", "203.0.113.7", "[2001:db8::1]", "§4.1.1.2", "// 10.0.0.1", "a::b", "0.0.1"]
    {
        assert!(foreign_addresses(text).is_empty(), "{text}");
    }
}

fn planted(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| (module_of(Path::new(path)).unwrap(), (*text).to_owned())).collect()
}

#[test]
fn violations_of_the_rules_are_detected() {
    let circle = planted(&[
        ("lib.rs", "pub mod a; pub mod b; pub mod c; pub use a::A;"),
        ("a/mod.rs", "use crate::b::{self, B}; pub struct A;"),
        ("b.rs", "pub struct B; fn f() { g!(super::c::C) }"),
        ("c.rs", "pub struct C; mod inner { use super::super::a::A; use super::C; }"),
        ("d.rs", "use super::a::A; /// [`crate::e`]\nfn f() {}"),
        ("e.rs", "use crate::d;"),
    ]);
    assert_eq!(circles(arrows(&circle)), ["a", "b", "c"]);
    let through_files = planted(&[
        ("lib.rs", "pub mod a; pub mod b; pub mod c;"),
        ("a/mod.rs", "pub mod low; pub mod high;"),
        ("a/low.rs", "use crate::c::C;"),
        ("a/high.rs", "use crate::b::B; use super::low;"),
        ("b.rs", "use crate::a::low;"),
        ("c.rs", "pub struct C;"),
    ]);
    assert_eq!(circles(arrows(&through_files)), [""; 0]);
    assert_eq!(circles(folders(&arrows(&through_files))), ["a", "b"]);
    let operations = planted(&[
        ("lib.rs", "register.operation(one::ROUTE, one::handle);"),
        ("one.rs", "use crate::two::handle;\npub const ROUTE: Route = Route::get();"),
        ("two.rs", "\npub const ROUTE: Route = Route::get();"),
        ("shared/mod.rs", "use crate::one::Answer;"),
    ]);
    assert_eq!(borrowed(&operations), ["one names two", "shared names one"]);
}
