"""What the endpoints of tests share: an HTTP server of the loopback that answers every POST until a block ends."""
import http.server
import threading


class Request(http.server.BaseHTTPRequestHandler):
    """One POST, with its `path` and `headers`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.endpoint.answer(self, self.rfile.read(int(self.headers["Content-Length"])))

    def send(self, data, status=200, headers={}):
        self.send_response_only(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass  # who asked is gone: killed by a test


class BlockServer:
    """Whoever derives from it says answer(request, body), which runs in a thread of each connection. `port`: where."""

    def __init__(self):
        self.server = Server(("127.0.0.1", 0), Request)
        self.server.endpoint = self
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
