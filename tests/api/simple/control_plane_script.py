"""A control plane of the simple dialect in one small script, with nothing but the standard library.

    python control_plane_script.py

It takes registrations and heartbeats, and logs them, one JSON object a line. To the first node that
registers it gives a process that goes on and one that ends; it deletes the first once both are reported so.
"""

import json
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LINES = {"goes-on": "sleep 1000", "ends": "exit 0"}
endpoints: list[str] = []
done = threading.Event()


def tell(event: str, **facts: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


def call(method: str, path: str, body: Any = None) -> None:
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(endpoints[0] + path, data, method=method)
    with urllib.request.urlopen(request) as answer:
        tell("answered", method=method, path=path, status=answer.status, body=json.loads(answer.read()))


def give_work() -> None:
    for alloc_id, line in LINES.items():
        task = {"name": "t", "resources": {"cpu": 0, "memory": 0}, "config": {"command": line}}
        group = {"name": "g", "tasks": [task]}
        call("POST", "/allocations", {"allocation_id": alloc_id, "job_id": "j", "task_group": group})


class ControlPlane(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tell(self.path.removeprefix("/"), body=body)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"message": "thanks"}')
        if self.path == "/register":
            endpoints.append(body["endpoint"])
            threading.Thread(target=give_work).start()
        elif not done.is_set():
            found = {alloc_id: alloc["status"] for alloc_id, alloc in body["allocations"].items()}
            if found == {"goes-on": "running", "ends": "complete"}:
                done.set()
                threading.Thread(target=call, args=("DELETE", "/allocations/goes-on")).start()


server = ThreadingHTTPServer(("127.0.0.1", 0), ControlPlane)
tell("serving", port=server.server_port)
server.serve_forever()
