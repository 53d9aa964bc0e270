//! Publishes worlds to S3 buckets: Amazon S3 and compatible servers (MinIO, R2, Ceph).
//!
//! The address names the bucket. The environment holds the settings under their usual names:
//! `AWS_REGION`, `AWS_ENDPOINT`, `AWS_ACCESS_KEY_ID` and so on. Invalid settings are reported
//! before the first request. Error texts contain no secrets: of a response they show only the
//! status, the error code and the region, because the rest may repeat secrets.
//!
//! `object_store` implements the S3 protocol and its signatures; this crate provides the
//! connections. A request whose response was lost is sent again. If the object then exists already,
//! it is read and compared, because the first request may have written it.

mod address;
mod client;
mod error;
mod response;
mod settings;

pub use error::BucketError;

use address::BucketAddress;
use chicane_store::Cdn;
use client::Connector;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, RetryConfig};
use std::sync::Arc;

/// Opens a bucket as a CDN to publish to. The address is `s3://BUCKET` or `s3://BUCKET/FOLDER`; the
/// settings come from the environment. No request is sent yet.
pub fn open_bucket(address: &str) -> Result<Cdn, BucketError> {
    let address = BucketAddress::parse(address)?;
    let environment = std::env::vars_os();
    let environment = environment.filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
    let builder = settings::builder_from(environment)?;
    let store = builder
        .with_bucket_name(&address.bucket)
        .with_http_connector(Connector)
        // `object_store` must not retry requests, because the clients of `Connector` do so
        // themselves.
        .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
        .build()
        .map_err(|e| BucketError::Settings(e.to_string()))?;
    let store: Arc<dyn ObjectStore> = match &address.folder {
        None => Arc::new(store),
        Some(folder) => Arc::new(PrefixStore::new(store, folder.as_str())),
    };
    Ok(Cdn::store(store))
}
