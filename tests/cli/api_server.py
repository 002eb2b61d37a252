"""A stand-in for the providers' apis: Messages, Responses and Converse over real sockets, /CASE/... each. It plays one
agent: compile, verify, a word; it holds the client to what the api's documentation demands, and keeps what it got."""
import hashlib
import hmac
import json
import threading
import urllib.parse

from block_server import BlockServer

THOUGHT = {"type": "thinking", "thinking": "Tiles of 128 rows.", "signature": "EqQBCgIYAhIM"}
REASONING = {"reasoningContent": {"reasoningText": {"text": "Tiles.", "signature": "EqQB"}}}


class Refused(Exception):
    def __init__(self, status, body, **headers):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


def bad(message):
    return Refused(400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}})


class Messages:
    """Anthropic's rules: sides take turns, results stand first and answer the calls, thoughts come back signed."""

    def __init__(self, kernel):
        self.kernel, self.asked = kernel, 0

    def answer(self, request, headers, path):
        self.asked += 1
        if headers.get("x-api-key") != "sk-ant-CANARY0123456789" or headers.get("anthropic-version") != "2023-06-01":
            raise Refused(401, {"type": "error", "error": {"type": "authentication_error", "message": "invalid key"}})
        if "temperature" in request:
            raise bad("`temperature` is deprecated for this model.")
        if self.asked == 2:
            raise Refused(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        if "max_tokens" not in request:
            raise bad("max_tokens: Field required")
        said = request["messages"]
        if [message["role"] for message in said] != ["user", "assistant"] * (len(said) // 2) + ["user"]:
            raise bad("messages: roles must alternate")
        for reply, results in zip(said[1::2], said[2::2]):
            if reply["content"][0] != THOUGHT:
                raise bad("messages.1.content.0: `thinking` blocks must be passed back as they were")
            calls = [block["id"] for block in reply["content"] if block["type"] == "tool_use"]
            answers = [block.get("tool_use_id") for block in results["content"][: len(calls)]]
            if calls != answers:
                raise bad("tool_use ids were found without tool_result blocks immediately after")
        turn = len(said) // 2
        usage = {"input_tokens": 100, "cache_read_input_tokens": 1000 * turn, "cache_creation_input_tokens": 1000}
        content, stop = [THOUGHT, *self.blocks(turn)], "tool_use" if turn < 2 else "end_turn"
        return {
            "type": "message", "role": "assistant", "content": content, "stop_reason": stop,
            "usage": {**usage, "output_tokens": 50},
        }  # fmt: skip

    def blocks(self, turn):
        if turn == 0:
            return [
                {"type": "tool_use", "id": "toolu_1", "name": "compile_kernel", "input": {"kernel_source": self.kernel}}
            ]
        if turn == 1:
            return [{"type": "tool_use", "id": "toolu_2", "name": "verify_kernel", "input": {}}]
        return [{"type": "text", "text": "Done."}]


class Responses:
    """Nothing is kept: every thought and call of before stands in the input."""

    def __init__(self, kernel):
        self.kernel, self.asked = kernel, 0

    def answer(self, request, headers, path):
        self.asked += 1
        if request.get("store") is not False or request["reasoning"] != {"effort": "low"}:
            raise Refused(400, {"error": {"message": "store must be false here, and the effort low"}})
        calls = [item["call_id"] for item in request["input"] if item.get("type") == "function_call"]
        results = [item["call_id"] for item in request["input"] if item.get("type") == "function_call_output"]
        thoughts = [item for item in request["input"] if item.get("type") == "reasoning"]
        if calls != results or len(thoughts) != len(calls):
            raise Refused(400, {"error": {"message": "No tool output found for function call, or no reasoning item"}})
        output = [{"type": "reasoning", "id": f"rs_{len(calls)}", "summary": [], "encrypted_content": "gAAAA"}]
        named = [("compile_kernel", {"kernel_source": self.kernel}), ("verify_kernel", {})]
        if len(calls) < 2:
            name, arguments = named[len(calls)]
            call = {"type": "function_call", "id": f"fc_{len(calls)}", "call_id": f"call_{len(calls)}", "name": name}
            output.append({**call, "arguments": json.dumps(arguments)})
        return {"status": "completed", "output": output}  # no usage


class Converse:
    """Signed requests: the signature is computed anew from what came over the wire."""

    SECRET = "wJalrXUtnFEMI/K7MDENG+CANARYKEY"

    def __init__(self, kernel):
        self.kernel, self.asked = kernel, 0

    def answer(self, request, headers, path):
        self.asked += 1
        self.check_signature(headers, path)
        if self.asked == 2:
            raise Refused(
                400, {"message": "Too many requests"}, **{"x-amzn-errortype": "ThrottlingException:http://x/"}
            )
        said = request["messages"]
        turn = len(said) // 2
        if any(message["content"][0] != REASONING for message in said[1::2]):
            raise Refused(400, {"message": "reasoning must come back"}, **{"x-amzn-errortype": "ValidationException"})
        named = [("compile_kernel", {"kernel_source": self.kernel}), ("verify_kernel", {})]
        content = [REASONING, {"text": "Done."}]
        if turn < 2:
            name, arguments = named[turn]
            content[1] = {"toolUse": {"toolUseId": f"tooluse_{turn}", "name": name, "input": arguments}}
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "tool_use" if turn < 2 else "end_turn",
            "usage": {"inputTokens": 100, "outputTokens": 50, "totalTokens": 150},
        }

    def check_signature(self, headers, path):
        """@source docs.aws.amazon.com, Create a signed AWS API request; paths are encoded twice for all but S3."""
        scheme, scope, names, signature = self.fields(headers["authorization"])
        lines = "".join(f"{name}:{headers[name]}\n" for name in names.split(";"))
        encoded = urllib.parse.quote(path, safe="/-_.~")
        canonical = "\n".join(["POST", encoded, "", lines, names, hashlib.sha256(headers["body"]).hexdigest()])
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = "\n".join([scheme, headers["x-amz-date"], scope.split("/", 1)[1], digest])
        key = ("AWS4" + self.SECRET).encode()
        for part in scope.split("/")[1:]:
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        if (
            hmac.new(key, text.encode(), hashlib.sha256).hexdigest() != signature
            or "session" not in headers["x-amz-security-token"]
        ):
            raise Refused(403, {"message": "The request signature we calculated does not match"})

    @staticmethod
    def fields(authorization):
        scheme, rest = authorization.split(" ", 1)
        values = [field.split("=", 1)[1] for field in rest.split(", ")]
        return scheme, *values


class Elsewhere:
    """Sends everybody on to another host."""

    def __init__(self, kernel):
        self.asked = 0

    def answer(self, request, headers, path):
        self.asked += 1
        raise Refused(307, {}, Location=f"http://{headers['host'].replace('127.0.0.1', 'localhost')}/trap/v1")


class Trap:
    def __init__(self, kernel):
        self.asked = 0

    def answer(self, request, headers, path):
        self.asked += 1
        raise Refused(500, {})


class ApiServer(BlockServer):
    """`requests` holds (path, headers, body) of all that came."""

    def __init__(self, kernel):
        super().__init__()
        makers = (("messages", Messages), ("responses", Responses), ("converse", Converse), ("elsewhere", Elsewhere))
        self.apis = {name: make(kernel) for name, make in (*makers, ("trap", Trap))}
        self.requests, self.lock = [], threading.Lock()

    def answer(self, request, body):
        headers = {name.lower(): value for name, value in request.headers.items()} | {"body": body}
        case = request.path.split("/")[1]
        with self.lock:
            self.requests.append((request.path, headers, body))
            try:
                said = self.apis[case].answer(json.loads(body), headers, request.path)
                request.send(json.dumps(said).encode())
            except Refused as refused:
                request.send(json.dumps(refused.body).encode(), refused.status, refused.headers)
