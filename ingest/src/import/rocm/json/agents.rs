//! Agents of rocprofv3's JSON.

use serde_json::Value as Json;

use super::Reader;
use crate::import::rocm::devices::{Gpu, Identity, Node, mark};
use crate::import::rocm::rocpd_info::{Agent, properties};

impl Reader<'_> {
    /// Reads the agents of a process. Its GPUs wait for the node, which may come later.
    pub fn agents(&mut self, tree: &Json) {
        for agent in tree.as_array().into_iter().flatten() {
            let Some(agent) = agent.as_object() else { continue };
            let int = |key: &str| agent.get(key).and_then(Json::as_i64);
            let id = agent.get("id").and_then(|id| id.get("handle").unwrap_or(id).as_i64());
            let Some(id) = id else { continue };
            if int("type") != Some(2) {
                let number = int("logical_node_type_id").unwrap_or(-1);
                self.this.agents.insert(id, Agent { is_gpu: false, number });
                continue;
            }
            let place = self.this.gpus.len() as i64;
            let stated = int("logical_node_type_id").unwrap_or(place);
            let text = |key: &str| agent.get(key).and_then(Json::as_str).map(str::to_owned);
            let name = text("product_name").filter(|name| !name.is_empty()).or(text("name"));
            let mut properties = properties(stated, name, agent);
            for key in ["name", "model_name", "vendor_name"] {
                if let Some(value) = text(key) {
                    properties.insert(format!("agent_{key}"), value.into());
                }
            }
            let identity = Identity::new(Node::default(), |key| mark(agent.get(key)));
            self.this.gpus.push(Gpu { id, stated, identity, properties });
        }
    }

    /// Gives the GPUs of a process their numbers.
    pub fn number_gpus(&mut self) {
        let mut gpus = std::mem::take(&mut self.this.gpus);
        for gpu in &mut gpus {
            gpu.identity.node = self.this.node.clone();
        }
        for (id, number) in self.devices.add(gpus) {
            self.this.agents.insert(id, Agent { is_gpu: true, number });
        }
    }
}
