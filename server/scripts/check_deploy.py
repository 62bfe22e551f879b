"""Checks the Kubernetes files of deploy/ and prints the arguments of each container.

    check_deploy.py FOLDER

A name that one object uses and no other one defines is an error: secrets, volumes, ports, labels,
variables. The output has one line of JSON for each container: {"file", "name", "args"}, with
variables of the form $(NAME) replaced.
"""

import json
import pathlib
import re
import sys

import yaml

KINDS = {
    "Namespace": "v1",
    "ConfigMap": "v1",
    "Secret": "v1",
    "Service": "v1",
    "Job": "batch/v1",
    "Deployment": "apps/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
}
QUANTITY = re.compile(r"^\d+(m|[KMGT]i?)?$")
# Secrets that comments tell the user to make.
MADE_BY_HAND = {"tracesql-users", "tracesql-tls"}
# The keys of the object storage, which a comment of settings.yaml shows.
STORAGE_KEYS = {"name": "tracesql-storage", "optional": True}
# Set by Kubernetes.
BUILT_IN = {"POD_IP": "10.0.0.7"}


def documents(folder):
    for path in sorted(pathlib.Path(folder).glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            yield path.name, document


def main():
    everything = list(documents(sys.argv[1]))
    named = {(d["kind"], d["metadata"]["name"]): d for _, d in everything}
    assert len(named) == len(everything), "two objects have the same kind and name"
    settings = named["ConfigMap", "tracesql"]["data"]
    comment = (pathlib.Path(sys.argv[1]) / "settings.yaml").read_text().split("# ---\n")[1]
    secret = yaml.safe_load(re.sub(r"^# ", "", comment, flags=re.MULTILINE))
    assert secret["kind"] == "Secret", secret
    assert secret["metadata"]["name"] == STORAGE_KEYS["name"], secret
    assert secret["metadata"]["namespace"] == "tracesql", secret
    pods, images = [], set()

    for file, document in everything:
        kind, name = document["kind"], document["metadata"]["name"]
        where = f"{file}: {kind} {name}"
        assert document["apiVersion"] == KINDS[kind], where
        if kind != "Namespace":
            namespace = document["metadata"].get("namespace")
            assert ("Namespace", namespace) in named, f"{where}: no namespace {namespace}"
        if kind not in ("Deployment", "Job"):
            continue
        spec = document["spec"]
        template = spec["template"]
        labels = template["metadata"]["labels"]
        pod = template["spec"]
        if kind == "Deployment":
            assert spec["selector"]["matchLabels"].items() <= labels.items(), where
        else:
            assert pod["restartPolicy"] in ("Never", "OnFailure"), where
        volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
        for volume in volumes.values():
            if "secret" in volume:
                assert volume["secret"]["secretName"] in MADE_BY_HAND, f"{where}: {volume}"
        ports = set()
        for container in pod["containers"]:
            images.add(container["image"])
            ports |= {port["name"] for port in container.get("ports", [])}
            mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
            assert mounted == set(volumes), f"{where}: {mounted} of {set(volumes)}"
            for amounts in container["resources"].values():
                assert all(QUANTITY.match(amount) for amount in amounts.values()), where
            for probe in ("readinessProbe", "livenessProbe"):
                if probe in container:
                    assert container[probe]["tcpSocket"]["port"] in ports, f"{where}: {probe}"
            values = dict(BUILT_IN)
            for source in container.get("envFrom", []):
                if "configMapRef" in source:
                    assert ("ConfigMap", source["configMapRef"]["name"]) in named, where
                    values |= settings
                else:
                    # Where a role gives access, the secret does not exist.
                    assert source["secretRef"] == STORAGE_KEYS, f"{where}: {source}"
            for variable in container.get("env", []):
                if "value" in variable:
                    assert isinstance(variable["value"], str), f"{where}: {variable}"
                    values[variable["name"]] = variable["value"]
            if spec.get("completionMode") == "Indexed":
                assert values["TRACESQL_SHARES"] == str(spec["completions"]), where
            replace = lambda match: values[match[1]]
            arguments = [re.sub(r"\$\((\w+)\)", replace, text) for text in container["args"]]
            print(json.dumps({"file": file, "name": name, "args": arguments}))
        pods.append((labels, ports))

    for file, document in everything:
        if document["kind"] != "Service":
            continue
        selector = document["spec"]["selector"]
        found = [ports for labels, ports in pods if selector.items() <= labels.items()]
        assert len(found) == 1, f"{file}: {selector} selects {len(found)}"
        for port in document["spec"]["ports"]:
            assert port["targetPort"] in found[0], f"{file}: {port}"
    assert len(images) == 1, images


main()
