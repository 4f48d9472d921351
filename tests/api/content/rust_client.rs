//! The MCP endpoint, called by the protocol's Rust client.

use rmcp::model::{CallToolRequestParams, ProtocolVersion, ReadResourceRequestParams};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _};
use serde_json::json;

use super::documents::published;

#[tokio::test]
async fn the_rust_client_of_the_protocol_uses_tools_and_resources() {
    // The client uses the process's crypto provider, which another test may have installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let app = published().await.redeployed(|settings| settings.site_url.clone_from(&url));
    let router = app.router();
    let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for (lifecycle, version) in [(newest, ProtocolVersion::V_2026_07_28), (ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25)]
    {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{url}/mcp"));
        #[expect(clippy::disallowed_methods, reason = "the server is in this process")]
        let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
        let client = ().serve_with_lifecycle(transport, lifecycle).await.unwrap();

        let tools = client.list_all_tools().await.unwrap();
        assert_eq!((tools.len(), &*tools[0].name), (6, "list_apps"), "{version}");
        let arguments = json!({ "appId": "notes" }).as_object().cloned().unwrap();
        let called = client.call_tool(CallToolRequestParams::new("get_app").with_arguments(arguments)).await.unwrap();
        assert_eq!(called.structured_content.unwrap()["data"]["id"], "notes", "{version}");

        let resources = client.list_all_resources().await.unwrap();
        let last = resources.last().unwrap().uri.clone();
        assert_eq!((resources.len(), &last), (5, &format!("{url}/blog/hello.md")), "{version}");
        let read = client.read_resource(ReadResourceRequestParams::new(last)).await.unwrap();
        assert_eq!(read.contents.len(), 1, "{version}");
        assert!(client.read_resource(ReadResourceRequestParams::new(format!("{url}/none"))).await.is_err(), "{version}");
        client.cancel().await.unwrap();
    }
    server.abort();
}
