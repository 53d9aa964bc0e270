//! The services of `rosapi`. They list topics, types, nodes, services and parameters, and return
//! the time.
//!
//! There is one node, the robot, and one parameter, `use_sim_time`. The parameter is true, because
//! the robot's time is simulated.

use super::definitions::{definitions_of, type_definitions};
use super::protocol::quoted;
use chicane_ros::definitions::{fields, full_text, short_type};
use chicane_ros::messages::Time;
use chicane_ros::{Direction, Topic};
use serde_json::{Map, Value, json};

/// The name of the robot's node.
const NODE: &str = "/chicane";
/// The name of the parameter, and its value as JSON.
const PARAMETER: (&str, &str) = ("use_sim_time", "true");

/// A service.
struct Service {
    /// Name after `/rosapi/`.
    name: &'static str,
    /// Type after `rosapi_msgs/srv/`.
    kind: &'static str,
    /// Fields of the request, as lines of type and name.
    request: &'static str,
    /// Fields of the response, as lines of type and name.
    response: &'static str,
}

const fn service(
    name: &'static str,
    kind: &'static str,
    request: &'static str,
    response: &'static str,
) -> Service {
    Service { name, kind, request, response }
}

static SERVICES: [Service; 25] = [
    service("action_servers", "GetActionServers", "", "string[] action_servers"),
    service("delete_param", "DeleteParam", "string name", "bool successful\nstring reason"),
    service(
        "get_param",
        "GetParam",
        "string name\nstring default_value",
        "string value\nbool successful\nstring reason",
    ),
    service("get_param_names", "GetParamNames", "", "string[] names"),
    service("get_ros_version", "GetROSVersion", "", "uint8 version\nstring distro"),
    service("get_time", "GetTime", "", "builtin_interfaces/Time time"),
    service("has_param", "HasParam", "string name", "bool exists\nbool successful\nstring reason"),
    service("interfaces", "Interfaces", "", "string[] interfaces"),
    service("message_details", "MessageDetails", "string type", "rosapi_msgs/TypeDef[] typedefs"),
    service(
        "node_details",
        "NodeDetails",
        "string node",
        "string[] subscribing\nstring[] publishing\nstring[] services",
    ),
    service("nodes", "Nodes", "", "string[] nodes"),
    service("publishers", "Publishers", "string topic", "string[] publishers"),
    service("service_node", "ServiceNode", "string service", "string node"),
    service("service_providers", "ServiceProviders", "string service", "string[] providers"),
    service(
        "service_request_details",
        "ServiceRequestDetails",
        "string type",
        "rosapi_msgs/TypeDef[] typedefs",
    ),
    service(
        "service_response_details",
        "ServiceResponseDetails",
        "string type",
        "rosapi_msgs/TypeDef[] typedefs",
    ),
    service("service_type", "ServiceType", "string service", "string type"),
    service("services", "Services", "", "string[] services"),
    service("services_for_type", "ServicesForType", "string type", "string[] services"),
    service("set_param", "SetParam", "string name\nstring value", "bool successful\nstring reason"),
    service("subscribers", "Subscribers", "string topic", "string[] subscribers"),
    service("topic_type", "TopicType", "string topic", "string type"),
    service("topics", "Topics", "", "string[] topics\nstring[] types"),
    service("topics_for_type", "TopicsForType", "string type", "string[] topics"),
    service(
        "topics_and_raw_types",
        "TopicsAndRawTypes",
        "",
        "string[] topics\nstring[] types\nstring[] typedefs_full_text",
    ),
];

impl Service {
    fn full_name(&self) -> String {
        format!("/rosapi/{}", self.name)
    }

    fn full_kind(&self) -> String {
        format!("rosapi_msgs/srv/{}", self.kind)
    }

    /// Whether `kind` names the type of this service. `rosapi/Topics`, `rosapi_msgs/Topics` and
    /// `rosapi_msgs/srv/Topics` are the same type.
    fn has_type(&self, kind: &str) -> bool {
        let (package, name) = kind.replacen("/srv/", "/", 1).split_once('/').map_or_else(
            || (String::new(), kind.to_owned()),
            |(package, name)| (package.to_owned(), name.to_owned()),
        );
        matches!(package.as_str(), "rosapi" | "rosapi_msgs") && name == self.kind
    }
}

fn by_name(name: &str) -> Option<&'static Service> {
    let name = name.strip_prefix('/').unwrap_or(name).strip_prefix("rosapi/")?;
    SERVICES.iter().find(|service| service.name == name)
}

/// Answers a service call. `tick` is the current tick.
pub(super) fn call(name: &str, args: &Value, tick: u64) -> Result<Value, String> {
    let Some(service) = by_name(name) else {
        return Err(format!("unknown service {}; /rosapi/services lists all services", quoted(name)));
    };
    let args = ServiceArgs::parse(service, args)?;
    let names = |topics: Vec<Topic>| topics.iter().map(|t| t.name()).collect::<Vec<_>>();
    let types = || Topic::ALL.map(Topic::type_name);
    Ok(match service.name {
        "action_servers" => json!({"action_servers": []}),
        "delete_param" | "set_param" => {
            json!({"successful": false, "reason": "parameters can't be changed"})
        }
        "get_param" => match args.names_the_parameter() {
            true => json!({"value": PARAMETER.1, "successful": true, "reason": ""}),
            false => {
                let default = args.text("default_value");
                let missing = default.is_empty();
                let reason = if missing { args.unknown_parameter() } else { String::new() };
                let value = if missing { "null" } else { default };
                json!({"value": value, "successful": !missing, "reason": reason})
            }
        },
        "has_param" => json!({"exists": args.names_the_parameter(), "successful": true, "reason": ""}),
        "get_param_names" => json!({"names": [format!("{NODE}:{}", PARAMETER.0)]}),
        "get_ros_version" => json!({"version": 2, "distro": "jazzy"}),
        "get_time" => {
            // The response also has the field names of ROS 1, because the Python library roslibpy
            // reads them even from a ROS 2 server.
            let Time { sec, nanosec } = Time::of_tick(tick);
            json!({"time": {"sec": sec, "nanosec": nanosec, "secs": sec, "nsecs": nanosec}})
        }
        "interfaces" => {
            let mut all = types().to_vec();
            all.sort_unstable();
            all.dedup();
            json!({"interfaces": all})
        }
        "message_details" => {
            let kind = args.text("type");
            let typedefs =
                type_definitions(kind).ok_or_else(|| format!("no topic has type {}", quoted(kind)))?;
            json!({"typedefs": typedefs})
        }
        "node_details" if args.names_the_node() => json!({
            "subscribing": names(topics_with(Direction::In)),
            "publishing": names(topics_with(Direction::Out)),
            "services": SERVICES.iter().map(Service::full_name).collect::<Vec<_>>(),
        }),
        "node_details" => json!({"subscribing": [], "publishing": [], "services": []}),
        "nodes" => json!({"nodes": [NODE]}),
        "publishers" => json!({"publishers": args.nodes_with(Direction::Out)}),
        "subscribers" => json!({"subscribers": args.nodes_with(Direction::In)}),
        "service_node" => json!({"node": args.service().map_or("", |_| NODE)}),
        "service_providers" => {
            json!({"providers": args.service().map(|_| NODE).into_iter().collect::<Vec<_>>()})
        }
        "service_request_details" => args.service_details(|s| (s.request, "Request"))?,
        "service_response_details" => args.service_details(|s| (s.response, "Response"))?,
        "service_type" => json!({"type": args.service().map(Service::full_kind).unwrap_or_default()}),
        "services" => json!({"services": SERVICES.iter().map(Service::full_name).collect::<Vec<_>>()}),
        "services_for_type" => {
            let kind = args.text("type");
            let all: Vec<_> = SERVICES.iter().filter(|s| s.has_type(kind)).map(Service::full_name).collect();
            json!({"services": all})
        }
        "topic_type" => json!({"type": args.topic().map_or("", Topic::type_name)}),
        "topics" => json!({"topics": names(Topic::ALL.to_vec()), "types": types()}),
        "topics_for_type" => {
            let kind = short_type(args.text("type"));
            let all = Topic::ALL.into_iter().filter(|t| short_type(t.type_name()) == kind).collect();
            json!({"topics": names(all)})
        }
        "topics_and_raw_types" => json!({
            "topics": names(Topic::ALL.to_vec()),
            "types": types(),
            "typedefs_full_text": types().map(|kind| full_text(kind).unwrap_or_default()),
        }),
        other => return Err(format!("/rosapi/{other} is not supported")),
    })
}

fn topics_with(direction: Direction) -> Vec<Topic> {
    Topic::ALL.into_iter().filter(|topic| topic.direction() == direction).collect()
}

/// The arguments of a service call: texts by name.
struct ServiceArgs(Map<String, Value>);

impl ServiceArgs {
    /// Parses the arguments of a service call: an object, a list of values in the order of the
    /// fields, or null for no arguments.
    fn parse(service: &Service, args: &Value) -> Result<ServiceArgs, String> {
        let known: Vec<&str> = fields(service.request).map(|field| field.name).collect();
        let takes = || match known.len() {
            0 => format!("{} takes no args", service.full_name()),
            _ => format!("{} takes {} in args", service.full_name(), known.join(", ")),
        };
        let given = match args {
            Value::Null => Map::new(),
            Value::Object(given) => given.clone(),
            Value::Array(values) if values.len() <= known.len() => {
                known.iter().map(|name| (*name).to_owned()).zip(values.iter().cloned()).collect()
            }
            _ => return Err(takes()),
        };
        for (name, value) in &given {
            if !known.contains(&name.as_str()) {
                return Err(format!("unknown arg {}: {}", quoted(name), takes()));
            }
            if !value.is_string() {
                return Err(format!("{name} must be a text: {}", takes()));
            }
        }
        Ok(ServiceArgs(given))
    }

    /// The value of an argument. The text is empty if the argument is missing.
    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or("")
    }

    fn topic(&self) -> Option<Topic> {
        Topic::by_name(self.text("topic"))
    }

    fn service(&self) -> Option<&'static Service> {
        by_name(self.text("service"))
    }

    fn names_the_node(&self) -> bool {
        let node = self.text("node");
        node == NODE || node == &NODE[1..]
    }

    /// The robot's node if the topic in the arguments has this direction, otherwise an empty list.
    fn nodes_with(&self, direction: Direction) -> Vec<&'static str> {
        self.topic().filter(|topic| topic.direction() == direction).map(|_| NODE).into_iter().collect()
    }

    /// Whether the argument `name` is the name of the parameter. The name of the node may precede
    /// the name of the parameter.
    fn names_the_parameter(&self) -> bool {
        let name = self.text("name");
        let (node, name) = name.rsplit_once(':').unwrap_or((NODE, name));
        let node = node.strip_prefix('/').unwrap_or(node);
        node == &NODE[1..] && name.strip_prefix('/').unwrap_or(name) == PARAMETER.0
    }

    fn unknown_parameter(&self) -> String {
        format!(
            "unknown parameter {}; the only parameter is {NODE}:{}",
            quoted(self.text("name")),
            PARAMETER.0
        )
    }

    fn service_details(&self, side: fn(&Service) -> (&'static str, &'static str)) -> Result<Value, String> {
        let kind = self.text("type");
        let found = SERVICES.iter().find(|service| service.has_type(kind));
        let service = found.ok_or_else(|| format!("no service has type {}", quoted(kind)))?;
        let (lines, suffix) = side(service);
        let name = format!("rosapi_msgs/{}_{suffix}", service.kind);
        Ok(json!({"typedefs": definitions_of(&name, lines)}))
    }
}

#[cfg(test)]
mod tests;
