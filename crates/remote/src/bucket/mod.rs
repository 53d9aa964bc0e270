//! Buckets: worlds are published to Amazon S3 and to every server that speaks like it (MinIO, R2, Ceph).
//!
//! The address says which bucket, and the environment says where it is and who asks, in the names that
//! every such program knows: `AWS_REGION`, `AWS_ENDPOINT`, `AWS_ACCESS_KEY_ID` and so on. What is wrong with
//! them is said before anything is done. Secrets go into signatures and nowhere else: an error is told
//! in our own words, never in those of a server.

mod answer;
mod client;
mod place;
mod settings;

use chicane_store::Cdn;
use client::Connector;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, RetryConfig};
use place::Place;
use std::sync::Arc;

/// A bucket as a CDN to publish to: `s3://BUCKET` or `s3://BUCKET/FOLDER`, with settings from the environment.
pub fn bucket(address: &str) -> Result<Cdn, String> {
    let place = Place::parse(address)?;
    let environment = std::env::vars_os();
    let environment = environment.filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
    let builder = settings::checked(environment)?;
    let store = builder
        .with_bucket_name(&place.bucket)
        .with_http_connector(Connector)
        // The connector tries again by itself.
        .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
        .build()
        .map_err(|e| format!("the settings of the bucket can't be used: {e}"))?;
    let store: Arc<dyn ObjectStore> = match &place.folder {
        None => Arc::new(store),
        Some(folder) => Arc::new(PrefixStore::new(store, folder.as_str())),
    };
    Ok(Cdn::store(store))
}
