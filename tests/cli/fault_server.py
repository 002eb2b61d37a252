"""Plays scripts over real sockets: /ROW/... gets the answers of ROW in order, the last one for ever. What an answer
does to a connection is part of it: cut short, or reset. Every request is kept."""
import http.server
import json
import socket
import struct
import threading


class Answer:
    """One answer. `cut`: bytes of the body that are sent before the connection ends; `reset`: by RST, before any."""

    def __init__(self, body, status=200, cut=None, reset=False, **headers):
        self.body = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.status, self.cut, self.reset = status, cut, reset
        self.headers = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }


class FaultServer:
    """Serves until the block ends. `asked[row]` holds the requests' (headers, body)."""

    def __init__(self, scripts):
        self.asked = {row: [] for row in scripts}
        outer, lock = self, threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                row = self.path.split("/")[1]
                with lock:
                    outer.asked[row].append((dict(self.headers), body))
                    script = scripts[row]
                    answer = script[min(len(outer.asked[row]), len(script)) - 1]
                self.close_connection = answer.reset or answer.cut is not None
                if answer.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                self.send_response_only(answer.status)
                for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body[: answer.cut])

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
