"""A loopback server that answers as an API server does, for the real kubectl: lists in pages, refusals, slowness."""

import base64
import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PAGE = 500


def widgets(maximum=100, versions=("v1",), stored=("v1",)):
    """A CRD as a cluster lists it, with the versions that objects may be stored at."""
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {"size": {"type": "integer", "maximum": maximum}, "colour": {"type": "string"}},
            }
        },
    }
    return {
        "metadata": {"name": "widgets.example.org", "managedFields": [{"manager": "kubectl"}]},
        "spec": {
            "group": "example.org",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "scope": "Namespaced",
            "versions": [
                {"name": name, "served": True, "storage": name == versions[-1], "schema": {"openAPIV3Schema": schema}}
                for name in versions
            ],
        },
        "status": {"storedVersions": list(stored)},
    }


def widget(number, size=1, **spec):
    """An object that one manager applied."""
    return {
        "apiVersion": "example.org/v1",
        "kind": "Widget",
        "metadata": {
            "name": f"w{number:05}",
            "namespace": "shop",
            "managedFields": [
                {
                    "manager": "argocd",
                    "operation": "Apply",
                    "apiVersion": "example.org/v1",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:spec": {f"f:{key}": {} for key in ["size", *spec]}},
                }
            ],
        },
        "spec": {"size": size, **spec},
    }


class Server:
    """Lists by their paths. A fault of a path is a status with a reason, `hang`, or `stall` and `cut` in the middle of the answer; after
    `fault_after` pages it shows."""

    def __init__(self, lists, version="1.32"):
        self.lists = lists
        self.version = version
        self.faults = {}
        self.fault_after = 0
        self.requests = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                server.requests.append((self.command, self.path))
                status, body = server.respond(self.command, self.path)
                text = json.dumps(body).encode()
                fault = server.fault(self.path.partition("?")[0])
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                if fault in ("stall", "cut"):
                    self.wfile.write(text[: len(text) // 2])
                    self.wfile.flush()
                    time.sleep(60 if fault == "stall" else 0)
                    self.close_connection = True
                    return
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def refusal(self, status, reason, message):
        body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": status}
        return status, body

    def fault(self, path):
        pages = sum(1 for _, asked in self.requests if asked.partition("?")[0] == path)
        return self.faults.get(path) if pages > self.fault_after else None

    def respond(self, method, uri):
        path, _, query = uri.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        if method != "GET":
            return self.refusal(405, "MethodNotAllowed", "this server is only read")
        if path == "/version":
            major, minor = self.version.split(".")
            return 200, {"major": major, "minor": minor, "gitVersion": f"v{self.version}.0"}
        if path in ("/api", "/apis"):
            return 200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [], "versions": ["v1"]}
        fault = self.fault(path)
        if fault == "hang":
            time.sleep(60)
        elif isinstance(fault, tuple):
            return self.refusal(*fault)
        if path not in self.lists:
            return self.refusal(404, "NotFound", "the server could not find the requested resource")
        items = self.lists[path]
        start = int(base64.b64decode(query["continue"])) if "continue" in query else 0
        end = min(start + min(int(query.get("limit", PAGE)), PAGE), len(items))
        metadata = {"resourceVersion": "1"}
        if end < len(items):
            metadata["continue"] = base64.b64encode(str(end).encode()).decode()
        return 200, {"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items[start:end]}

    def kubeconfig(self):
        """With the context `here`, which is the current one."""
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "here",
                "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.http.server_port}"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
            }
        )
