"""The verb `serve` through the real binary: endpoints, errors in OpenAI's form, ports, a clean stop."""
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

NKIGRID = pathlib.Path(os.environ["NKIGRID_BUILD_DIR"]) / "nkigrid"


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [NKIGRID, "serve", "--port", "0", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.url = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/v1)\n", self.process.stdout.readline()).group(1)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.out, self.err = self.process.communicate(timeout=30)
        return self.process.returncode

    def post(self, body, path="/chat/completions"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.open(
            urllib.request.Request(self.url + path, data=data, headers={"content-type": "application/json"})
        )

    def open(self, request):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)


def ask(model="novice", task="L1/001_add", **more):
    return {
        "model": model,
        "seed": 11,
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": f"Task: {task}\n\nx"}],
        **more,
    }


class Crowd(unittest.TestCase):
    """What strangers can make a server hold is bounded."""

    def setUp(self):
        self.server = Server("--threads", "32")
        self.addCleanup(self.server.stop)
        host, port = re.match(r"http://(.*):(\d+)/", self.server.url).groups()
        self.address = (host, int(port))

    def connect(self):
        connection = socket.create_connection(self.address, timeout=20)
        self.addCleanup(connection.close)
        return connection

    def test_a_thousand_connections_wait_to_be_accepted(self):
        os.kill(self.server.process.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.server.process.pid, signal.SIGCONT)
        most = int(pathlib.Path("/proc/sys/net/core/somaxconn").read_text())
        for _ in range(min(1000, most)):
            self.connect()  # with a short queue the handshake would not end

    def test_idle_connections_hold_nobody_up(self):
        for _ in range(100):
            self.connect()
        self.assertEqual(self.server.post(ask())[0], 200)  # within the client's 30 s

    def test_memory_of_a_flood_is_given_back(self):
        flood = json.dumps(ask() | {"pad": "x" * (7 << 20)}).encode()
        with concurrent.futures.ThreadPoolExecutor(16) as crowd:
            answers = list(crowd.map(lambda _: self.server.post(flood)[0], range(48)))
        self.assertEqual(set(answers), {200})
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        self.assertLess(int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)), 200 << 10)

    def test_a_body_that_is_too_large_is_refused_in_words(self):
        status, body = self.server.post(b"x" * (9 << 20))
        self.assertEqual(status, 413)
        self.assertIn("8 MiB", body["error"]["message"])

    def test_a_body_that_unpacks_or_comes_without_end_is_refused_as_well(self):
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        packed = gzip.compress(b" " * (256 << 20))
        chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
        for headers, body in (
            (f"Content-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n", packed),
            ("Transfer-Encoding: chunked\r\n", chunk * 64),
            ("Transfer-Encoding: chunked\r\n", b"2;" + b"a" * (32 << 20)),
        ):
            connection = self.connect()
            answer = b" 413 "
            try:
                connection.sendall((head + headers + "\r\n").encode() + body)
                answer = connection.recv(100)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has seen enough, and what it said is lost
            self.assertIn(b" 413 ", answer)
            status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
            self.assertLess(int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)), 200 << 10)

    def test_a_head_without_end_is_refused(self):
        for head in (b"GET /" + b"a" * (80 << 10), b"GET /health HTTP/1.1\r\n" + b"X-A: b\r\n" * (10 << 10)):
            connection = self.connect()
            answer = b" 431 "
            try:
                connection.sendall(head)
                answer = connection.recv(100)
            except (BrokenPipeError, ConnectionResetError):
                pass  # as above
            self.assertIn(b" 431 ", answer)
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        self.assertLess(int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)), 200 << 10)

    def test_requests_follow_one_another_on_a_connection(self):
        connection = self.connect()
        body = json.dumps(ask()).encode()
        post = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" + body
        requests = [post % (b"/v1/embeddings", len(body)), post % (b"/v1/chat/completions", len(body))]
        connection.sendall(b"".join(requests) + b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answers = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        self.assertEqual(re.findall(r"HTTP/1.1 (\d+)", answers), ["404", "200", "200"])


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_a_reply_says_that_it_is_synthetic_and_is_repeatable(self):
        status, first = self.server.post(ask())
        self.assertEqual(status, 200)
        self.assertEqual(first["system_fingerprint"], "nkigrid-synthetic")
        self.assertEqual(first["model"], "novice")
        self.assertEqual(first["choices"][0]["message"]["role"], "assistant")
        self.assertEqual(self.server.post(ask())[1], first)
        self.assertNotEqual(self.server.post(ask(seed=12))[1]["choices"], first["choices"])

    def test_tools_are_called_when_they_are_offered(self):
        tools = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
            for name in ("compile_kernel", "verify_kernel")
        ]
        names = set()
        for seed in range(8):
            _, body = self.server.post(ask(model="expert", tools=tools) | {"seed": seed})
            names |= {call["function"]["name"] for call in body["choices"][0]["message"].get("tool_calls", [])}
        self.assertIn("compile_kernel", names)

    def test_the_profiles_are_the_models(self):
        status, body = self.server.open(self.server.url + "/models")
        self.assertEqual(status, 200)
        self.assertLessEqual({"expert", "novice"}, {model["id"] for model in body["data"]})
        self.assertEqual(self.server.open(self.server.url[:-3] + "/health"), (200, {"status": "ok"}))

    def test_errors_have_openais_form(self):
        for body, status, code, word in (
            (ask(model="gpt"), 404, "model_not_found", "gpt"),
            (ask(task="L9/000_x"), 400, "unknown_task", "L9/000_x"),
            (b"{", 400, "invalid_request", "no chat completion request"),
            (ask(model="../../etc/passwd"), 404, "model_not_found", "passwd"),
            (ask(stream=True), 400, "invalid_request", "stream"),
        ):
            got, answer = self.server.post(body)
            self.assertEqual((got, answer["error"]["code"]), (status, code))
            self.assertIn(word, answer["error"]["message"])
        self.assertEqual(self.server.post(ask(), "/embeddings")[0], 404)

    def test_signals_stop_it_cleanly(self):
        self.assertEqual(Server().stop(signal.SIGTERM), 0)
        self.assertEqual(Server("--quiet").stop(signal.SIGINT), 130)

    def test_a_port_in_use_is_one_clear_error(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            done = subprocess.run([NKIGRID, "serve", "--port", str(port)], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 4)
        self.assertIn(f"cannot listen on 127.0.0.1:{port}", done.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
