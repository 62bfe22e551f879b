//! A client that reads and writes lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: i64,
}

impl Client {
    /// Starts `tracesql mcp`.
    pub fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tracesql"))
            .arg("mcp")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, next: 0 }
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the program reads");
    }

    pub fn send(&mut self, object: &Value) {
        self.write(format!("{object}\n").as_bytes());
    }

    /// The next line; `None` if there is none for this long.
    pub fn line_within(&self, time: Duration) -> Option<String> {
        match self.lines.recv_timeout(time) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the output has ended"),
        }
    }

    pub fn line(&self) -> String {
        self.line_within(PATIENCE).expect("a line")
    }

    pub fn object(&self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// Sends a request without a state. Returns its id.
    pub fn ask(&mut self, method: &str, mut params: Value) -> i64 {
        self.next += 1;
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        self.send(&json!({
            "jsonrpc": "2.0", "id": self.next, "method": method, "params": params,
        }));
        self.next
    }

    /// The answer to a request without a state.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.object();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The result of a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.request("tools/call", params);
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// The value that a tool answers. The text is the same value.
    pub fn value(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        let value = result["structuredContent"].clone();
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), value);
        value
    }

    /// The error that a tool answers.
    pub fn error(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    /// Ends the input. Returns the exit code.
    pub fn end(&mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().expect("it ends").code()
    }

    /// Processor time of the process so far, in seconds.
    pub fn processor_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))
            .expect("the process runs");
        let fields: Vec<&str> =
            stat.rsplit(')').next().expect("fields").split_whitespace().collect();
        let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
        (ticks(11) + ticks(12)) / 100.0
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
