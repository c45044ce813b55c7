"""A node of the cluster in one small script, with nothing but the standard library.

    python push_node_script.py SERVER NODE_ID FAULTS_FILE

It registers, beats, runs processes and tells how they are. Tests read what it logs, one JSON object a
line, and say in a file how it misbehaves: refuse, hang (take the work, answer late), silent.
"""

import json
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SERVER, NODE_ID, FAULTS = sys.argv[1], sys.argv[2], Path(sys.argv[3])
COMMON = {"node_id": NODE_ID, "resources": {"cpu": 900, "memory": 1000, "cpu_used": 100}, "healthy": True}
allocs: dict[str, dict[str, Any]] = {}


def has(fault: str) -> bool:
    return fault in (FAULTS.read_text().split() if FAULTS.exists() else ())


def tell(event: str, **facts: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, "at": time.time(), **facts}) + "\n")
    sys.stdout.flush()


def post(path: str, **body: Any) -> None:
    data = json.dumps({**COMMON, **body}).encode()
    urllib.request.urlopen(urllib.request.Request(SERVER + path, data)).read()


class Agent(BaseHTTPRequestHandler):
    def answer(self, status: int) -> None:
        if has("hang"):
            time.sleep(8)
        self.send_response(status)
        self.end_headers()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tell("posted", body=body)
        if has("refuse"):
            return self.answer(500)
        lines = {task["name"]: task["config"]["command"] for task in body["task_group"]["tasks"]}
        run = {name: subprocess.Popen(["/bin/sh", "-c", line]) for name, line in lines.items()}
        allocs[body["allocation_id"]] = {"start_time": time.time(), "run": run}
        return self.answer(200)

    def do_GET(self) -> None:
        tell("asked", id=self.path.split("/")[-1])
        self.answer(200 if self.path.split("/")[-1] in allocs else 404)

    def do_DELETE(self) -> None:
        alloc = allocs.pop(self.path.split("/")[-1], None)
        for process in alloc["run"].values() if alloc else ():
            process.terminate()
            process.wait()
        tell("deleted", id=self.path.split("/")[-1], known=alloc is not None)
        self.answer(200 if alloc else 404)


def said(alloc: dict[str, Any]) -> dict[str, Any]:
    codes = {name: process.poll() for name, process in alloc["run"].items()}
    words = {
        name: "failed" if code else "running" if code is None else "complete" for name, code in codes.items()
    }
    tasks = {
        name: {"status": word, "start_time": alloc["start_time"], "message": "héllo"}
        for name, word in words.items()
    }
    whole = next((word for word in ("failed", "running") if word in words.values()), "complete")
    return {"status": whole, "start_time": alloc["start_time"], "end_time": None, "tasks": tasks}


agent = ThreadingHTTPServer(("127.0.0.1", 0), Agent)
threading.Thread(target=agent.serve_forever, daemon=True).start()
post("/register", ip_address="127.0.0.1", endpoint=f"http://localhost:{agent.server_port}")
tell("registered")
while True:
    try:
        if not has("silent"):
            heard = {alloc_id: said(alloc) for alloc_id, alloc in list(allocs.items())}
            post("/heartbeat", timestamp=time.time(), allocations=heard)
    except OSError as error:
        tell("heartbeat failed", why=str(error))
    time.sleep(1)
