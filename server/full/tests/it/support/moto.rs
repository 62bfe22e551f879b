//! An S3 server on loopback: moto, a Python package.
//!
//! Each test process starts a server of its own, which takes about a second, unless
//! `TRACESQL_TEST_S3` names one as `HOST:PORT`; `scripts/test-server` starts one for all tests.
//! Tests share servers but not buckets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use futures::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};

use super::child::Child;
use super::{root, tools};

/// A running server.
pub struct Moto {
    /// `HOST:PORT`.
    address: String,
    _child: Option<Child>,
}

/// A bucket of a test.
#[derive(Clone)]
pub struct Bucket {
    server: Arc<Moto>,
    name: String,
}

impl Moto {
    /// The server of this process. `None` if the test is skipped because Python is missing.
    #[track_caller]
    pub fn get() -> Option<Arc<Self>> {
        static RUNNING: Mutex<Weak<Moto>> = Mutex::new(Weak::new());
        let mut running = RUNNING.lock().expect("no panic");
        if let Some(server) = running.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Self::named().or_else(Self::start)?);
        *running = Arc::downgrade(&server);
        Some(server)
    }

    fn named() -> Option<Self> {
        let address = std::env::var("TRACESQL_TEST_S3").ok().filter(|text| !text.is_empty())?;
        Some(Self { address, _child: None })
    }

    #[track_caller]
    fn start() -> Option<Self> {
        let python = tools::server_python()?;
        let mut command = Command::new(python);
        // It ends with its standard input, so that it never outlives a test that was killed.
        command.arg(root().join("server/scripts/s3_server.py")).arg("--until-stdin-ends");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Child::start(&mut command);
        let stdout = child.pipes().stdout.take().expect("a pipe");
        let address = BufReader::new(stdout)
            .lines()
            .map_while(Result::ok)
            .find(|line| line.starts_with("127.0.0.1:"))
            .expect("moto starts; it needs the packages of server/requirements.txt");
        Some(Self { address, _child: Some(child) })
    }

    /// Its address as a URL.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A new bucket.
    pub fn bucket(self: &Arc<Self>) -> Bucket {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test-{}-{number}", std::process::id());
        let mut stream = TcpStream::connect(&self.address).expect("the server accepts");
        write!(
            stream,
            "PUT /{name} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            self.address
        )
        .expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Bucket { server: self.clone(), name }
    }
}

/// A new bucket. `None` if the test is skipped because Python is missing.
#[track_caller]
pub fn bucket() -> Option<Bucket> {
    Some(Moto::get()?.bucket())
}

impl Bucket {
    /// The URL of a place in the bucket.
    pub fn url(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.name)
    }

    /// The server that has it.
    pub fn server(&self) -> &Moto {
        &self.server
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The variables with which programs find the server.
    pub fn environment(&self) -> Vec<(String, String)> {
        [
            ("AWS_ENDPOINT", self.server.endpoint().as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    /// A client of the bucket.
    pub fn client(&self) -> Arc<dyn ObjectStore> {
        let client = AmazonS3Builder::new()
            .with_endpoint(self.server.endpoint())
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_access_key_id("key")
            .with_secret_access_key("secret")
            .with_bucket_name(&self.name)
            .build()
            .expect("a client");
        Arc::new(client)
    }

    /// Writes an object.
    pub fn put(&self, key: &str, bytes: Vec<u8>) {
        let client = self.client();
        wait(async move { client.put(&Key::from(key), bytes.into()).await }).expect("an object");
    }

    /// Reads an object.
    pub fn get(&self, key: &str) -> Vec<u8> {
        let client = self.client();
        let read = async move { client.get(&Key::from(key)).await?.bytes().await };
        wait(read).expect("an object").to_vec()
    }

    /// Removes an object.
    pub fn remove(&self, key: &str) {
        let client = self.client();
        wait(async move { client.delete(&Key::from(key)).await }).expect("an object is removed");
    }

    /// The keys that begin with a folder, in order.
    pub fn keys(&self, folder: &str) -> Vec<String> {
        let (client, folder) = (self.client(), Key::from(folder));
        let list = async move { client.list(Some(&folder)).try_collect::<Vec<_>>().await };
        let mut keys: Vec<String> =
            wait(list).expect("a list").into_iter().map(|o| o.location.to_string()).collect();
        keys.sort();
        keys
    }
}

/// Runs a future to its end.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

#[test]
fn buckets_of_tests_are_their_own() {
    let Some(one) = bucket() else { return };
    let other = bucket().expect("the same server");
    one.put("folder/name.json", b"text".to_vec());
    assert_eq!(one.keys(""), ["folder/name.json"]);
    assert!(other.keys("").is_empty());
    assert_eq!(one.get("folder/name.json"), b"text");
}
