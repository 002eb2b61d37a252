"""Plays scripts over real sockets: /ROW/... gets the answers of ROW in order, the last one for ever. What an answer
does to a connection is part of it: cut short, or reset. Every request is kept."""
import json
import socket
import struct
import threading

from block_server import BlockServer


class Answer:
    """One answer. `cut`: bytes of the body that are sent before the connection ends; `reset`: by RST, before any."""

    def __init__(self, body, status=200, cut=None, reset=False, **headers):
        self.body = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.status, self.cut, self.reset = status, cut, reset
        self.headers = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }


class FaultServer(BlockServer):
    """`asked[row]` holds the requests' (headers, body)."""

    def __init__(self, scripts):
        super().__init__()
        self.scripts, self.lock = scripts, threading.Lock()
        self.asked = {row: [] for row in scripts}

    def answer(self, request, body):
        row = request.path.split("/")[1]
        with self.lock:
            self.asked[row].append((dict(request.headers), body))
            script = self.scripts[row]
            answer = script[min(len(self.asked[row]), len(script)) - 1]
        request.close_connection = answer.reset or answer.cut is not None
        if answer.reset:
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        request.send(
            answer.body[: answer.cut], answer.status, {"Content-Length": str(len(answer.body)), **answer.headers}
        )
