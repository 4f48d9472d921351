//! Images in an S3 bucket, as in deployments on AWS.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws::bucket::Bucket;
use aws::{Client, Credentials, Endpoint};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use jiff::SignedDuration;
use store::content::images::Shelf;
use support::TestApp;

use super::images::{Site, png};

/// The media type, the cache rule and the bytes of an object.
type Object = (String, String, Vec<u8>);

/// A bucket in memory that can be told to refuse all calls.
#[derive(Debug, Clone, Default)]
struct Memory {
    objects: Arc<Mutex<BTreeMap<String, Object>>>,
    refuses: bool,
}

impl Memory {
    fn answer(&self, request: &HttpRequest) -> (u16, Vec<u8>) {
        assert!(request.headers().get("authorization").is_some_and(|header| header.contains("/s3/aws4_request")));
        if self.refuses {
            return (403, b"<Error><Code>AccessDenied</Code></Error>".to_vec());
        }
        let key = request.uri().strip_prefix("https://pictures.s3.eu-central-1.amazonaws.com/").unwrap().to_owned();
        let mut objects = self.objects.lock().unwrap();
        let header = |name| request.headers().get(name).unwrap_or_default().to_owned();
        match request.method() {
            "PUT" => {
                objects.insert(key, (header("content-type"), header("cache-control"), request.body().bytes().unwrap().to_vec()));
                (200, Vec::new())
            }
            "DELETE" => {
                objects.remove(&key);
                (204, Vec::new())
            }
            _ => objects.get(&key).map_or((404, Vec::new()), |(.., bytes)| (200, bytes.clone())),
        }
    }

    fn shelf(&self) -> Shelf {
        let credentials = Credentials::new("key", "secret", None, None, "test");
        Shelf::Bucket(Bucket::new(Client::new(Endpoint::for_bucket("pictures", "eu-central-1", credentials), self.clone())))
    }
}

impl HttpConnector for Memory {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (status, body) = self.answer(&request);
        HttpConnectorFuture::ready(Ok(HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body))))
    }
}

#[tokio::test]
async fn images_are_put_under_their_paths_and_deleted_when_none_needs_them() {
    let (app, site, bucket) = (TestApp::start().await, Site::new("bucket"), Memory::default());
    let shelf = bucket.shelf();
    let publish = async || site.read().unwrap().publish(&app.app.store, Some(&shelf), app.now()).await.unwrap();
    site.write("blog/a.png", png(3, 2, "a"));
    site.post("![A](a.png)");
    assert_eq!((publish().await.stored, publish().await.stored), (5, 0));
    let page = app.anonymous().get("/blog/hello").await.text().to_owned();
    let path = page.split_once(" src=\"/").unwrap().1.split_once('"').unwrap().0.to_owned();
    let object = bucket.objects.lock().unwrap()[&path].clone();
    assert_eq!(object, ("image/png".to_owned(), "public, max-age=31536000, immutable".to_owned(), png(3, 2, "a")));
    let name = path.trim_start_matches("images/").parse().unwrap();
    assert_eq!(shelf.get(&name).await.unwrap(), Some(png(3, 2, "a")));
    assert!(app.table().keys().all(|(_, sk)| !sk.starts_with('~')), "the table has no bytes");

    site.post("No image.");
    app.advance(SignedDuration::from_hours(2));
    for number in 0..5 {
        site.write("site.toml", format!("name = \"Example\"\ndescription = \"Number {number}\"\n"));
        publish().await;
    }
    assert_eq!(shelf.get(&name).await.unwrap(), None);
    assert_eq!(bucket.objects.lock().unwrap().len(), 4, "the pictures of the pages");
}

#[tokio::test]
async fn a_bucket_that_refuses_leaves_the_content_as_it_was() {
    let (app, site) = (TestApp::start().await, Site::new("bucket-refuses"));
    site.post("Text.");
    site.publish(&app).await;
    site.write("blog/a.png", png(3, 2, "a"));
    site.post("![A](a.png)");
    let shelf = Memory { refuses: true, ..Memory::default() }.shelf();
    let error = site.read().unwrap().publish(&app.app.store, Some(&shelf), app.now()).await.unwrap_err();
    assert!(format!("{error:#}").contains("cannot store the image") && format!("{error:#}").contains("403 AccessDenied"), "{error:#}");
    assert!(app.anonymous().get("/blog/hello.md").await.text().ends_with("Text.\n"));
}

#[tokio::test]
async fn a_table_on_aws_without_a_bucket_takes_content_without_images() {
    let (app, site) = (TestApp::start().await, Site::new("bucket-none"));
    site.post("Text.");
    let done = site.read().unwrap().publish(&app.app.store, None, app.now()).await.unwrap();
    assert_eq!((done.stored, done.published.number), (0, 1));
    assert!(!app.anonymous().get("/blog/hello").await.text().contains("og:image"));
    site.write("blog/a.png", png(3, 2, "a"));
    site.post("![A](a.png)");
    let error = site.read().unwrap().publish(&app.app.store, None, app.now()).await.unwrap_err();
    assert!(error.to_string().contains("--images"), "{error}");
}
