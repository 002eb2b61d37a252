"""What stands in for vLLM where a grid has its servers started: it takes its time to load, answers every request with
the same words, and can be told to die. What it saw goes to files of --folder: `starts` (a JSON line a start) and
`requests` (a line a request: port, begin and end on the machine's monotonic clock).

Files that a test puts into --folder: `deaths` (how many of its starts die, `after` that many requests).
"""
import argparse
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

ANSWER = json.dumps(
    {
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "I have no kernel."}}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }
).encode()


def number_in(path, fallback):
    return int(path.read_text()) if path.exists() else fallback


class Stub:
    def __init__(self, options):
        self.options, self.folder = options, pathlib.Path(options.folder)
        self.born = time.monotonic()
        self.lock, self.answered, self.keys = threading.Lock(), 0, set()

    def note_start(self):
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True) if self.options.child else None
        seen = {"pid": os.getpid(), "child": child and child.pid, "argv": sys.argv, "environment": dict(os.environ)}
        with open(self.folder / "starts", "a") as starts:
            starts.write(json.dumps(seen) + "\n")
        start = len((self.folder / "starts").read_text().splitlines())
        dies = start <= number_in(self.folder / "deaths", 0)
        self.dies_after = number_in(self.folder / "after", 0) if dies else None

    def is_loaded(self):
        return time.monotonic() - self.born >= self.options.load

    def answer(self):
        begun = time.monotonic()
        with self.lock:
            self.answered += 1
            if self.dies_after is not None and self.answered > self.dies_after:
                print("the accelerator is gone", flush=True)
                os._exit(3)
        time.sleep(self.options.delay)  # what a model's answer takes
        with open(self.folder / "requests", "a") as requests:
            requests.write(f"{self.options.port} {begun} {time.monotonic()}\n")
        return ANSWER


def handler_of(stub):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self, status, body=b"{}"):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if self.path == "/health" and not stub.options.no_health:
                self.reply(200 if stub.is_loaded() else 503)
            elif self.path == "/v1/models" and stub.options.no_health:
                self.reply(401 if stub.is_loaded() else 503)
            else:
                self.reply(404)

        do_HEAD = do_GET  # what some sites probe with

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.reply(200, stub.answer())

        def log_message(self, *_):
            pass

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--load", type=float, default=0.0)
    parser.add_argument("--delay", type=float, default=0.01)
    parser.add_argument("--crash", action="store_true", help="ends before it listens")
    parser.add_argument("--child", action="store_true", help="starts a process that leaves its session")
    parser.add_argument("--no-health", action="store_true", help="knows no /health, and wants a key for its models")
    options = parser.parse_args()
    stub = Stub(options)
    stub.note_start()
    if options.crash:
        sys.exit("ValueError: no such model")
    print("loading", flush=True)
    Server((options.host, options.port), handler_of(stub)).serve_forever()


if __name__ == "__main__":
    main()
