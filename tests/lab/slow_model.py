"""The synthetic model behind a wire that takes its time: `nkigrid serve` and a proxy in front of it that holds each
request back.

    with SlowModel(delay=0.5) as model:
        model.grid(...)      # a grid that asks it
        model.requests       # how many replies were paid for
"""
import http.client
import http.server
import subprocess
import threading
import time

import harness
from harness import SMALL


class SlowModel:
    def __init__(self, delay):
        self.delay = delay
        self.requests = 0
        self.port = 0
        self.away = False
        self._lock = threading.Lock()

    def __enter__(self):
        self.server = subprocess.Popen(
            [harness.NKIGRID, "serve", "--port", "0", "--threads", "64", "--quiet"],
            stdout=subprocess.PIPE,
            text=True,
            env=harness.environment(),
            stdin=subprocess.DEVNULL,
        )
        self.upstream = int(self.server.stdout.readline().rsplit(":", 1)[1].split("/")[0])
        outer = self

        class Proxy(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if outer.away:
                    self.close_connection = True
                    return
                with outer._lock:
                    outer.requests += 1
                came = time.monotonic()
                while time.monotonic() - came < outer.delay:  # the wire, not the test; a shorter delay frees what waits
                    time.sleep(min(outer.delay, 0.05))
                connection = http.client.HTTPConnection("127.0.0.1", outer.upstream, timeout=60)
                connection.request("POST", self.path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                data = answer.read()
                connection.close()
                try:
                    self.send_response(answer.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # who asked is gone: killed by the test

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.make_server, self.handler = Server, Proxy
        self.listen()
        return self

    def listen(self):
        self.proxy = self.make_server(("127.0.0.1", self.port), self.handler)
        self.port = self.proxy.server_address[1]
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()

    def die(self):
        """Nobody listens any more, and connections that stand bring nothing."""
        self.away = True
        self.proxy.shutdown()
        self.proxy.server_close()

    def revive(self):
        self.away = False
        self.listen()

    def __exit__(self, *_):
        self.proxy.shutdown()
        self.proxy.server_close()
        self.server.terminate()
        self.server.wait(timeout=20)
        self.server.stdout.close()

    def grid(self, slurm, tasks=None, replicates=None):
        """The small grid asked over this wire, one lane a rank: enough turns to be disturbed in."""
        text = SMALL.read_text()
        for profile in ("novice", "expert"):
            text = text.replace(
                f"{{api: synthetic, profile: {profile}}}",
                f'{{api: openai, endpoint: "http://127.0.0.1:{self.port}/v1", model: {profile}, temperature: 0}}',
            )
        lines = [line for line in text.splitlines() if not line.startswith("slurm:")]
        if tasks is not None:
            lines = [f"tasks: {tasks}" if line.startswith("tasks:") else line for line in lines]
        if replicates is not None:
            lines = [f"replicates: {replicates}" if line.startswith("replicates:") else line for line in lines]
        return "\n".join(lines + ["lanes: 1", f"slurm: {slurm}", ""])
