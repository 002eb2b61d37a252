"""A chat-completions server with one oddity a path: /CASE/v1/chat/completions. With tools offered it compiles, verifies
and says a word; without, it answers in a fence. The kernel is right wherever the oddity lets it be."""
import copy
import gzip
import json

from block_server import BlockServer

USAGE = {"prompt_tokens": 1000, "completion_tokens": 200}


class Broken(Exception):
    """The answer is an error's."""

    def __init__(self, status, **error):
        super().__init__(status)
        self.status, self.body = status, {"error": error}


class Talk:
    """What one request asks for."""

    def __init__(self, request, kernel):
        self.request, self.kernel = request, kernel
        self.messages = request["messages"]
        self.turn = sum(message["role"] == "assistant" for message in self.messages)
        self.fence = f"Here it is.\n\n```python\n{kernel}```\n"

    def call(self, name, arguments, **more):
        return {"type": "function", "id": f"id{self.turn}", "function": {"name": name, "arguments": arguments}, **more}

    def calls(self, arguments=None):
        if self.turn == 0:
            return [self.call("compile_kernel", arguments or json.dumps({"kernel_source": self.kernel}))]
        return [self.call("verify_kernel", "{}")] if self.turn == 1 else []

    def reply(self, content=None, calls=(), finish=None, **message):
        message = {"role": "assistant", "content": content, **message}
        if calls:
            message["tool_calls"] = list(calls)
        choice = {"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}
        return {"choices": [choice], "usage": dict(USAGE)}

    def plain(self, arguments=None, **message):
        if "tools" not in self.request:
            return self.reply(self.fence, **message)
        calls = self.calls(arguments)
        return self.reply(None if calls else "Done.", calls, **message)


def plain(talk):
    return talk.plain()


def broken_off(talk):
    body = talk.reply("```python\nimport neuronxcc", finish="error")
    body["choices"][0]["error"] = {"code": 502, "message": "upstream is gone"}
    return body


def thoughts_wanted_back(talk):
    if any(m.get("tool_calls") and not m.get("reasoning_content") for m in talk.messages):
        raise Broken(400, message="The `reasoning_content` must be passed back")
    return talk.plain(reasoning_content="I think.")


def text_wanted(talk):
    if any("content" in m and m["content"] is None for m in talk.messages):
        raise Broken(400, message='can only concatenate str (not "NoneType") to str')
    return talk.plain()


def without_ids(talk):
    ids = [call["id"] for m in talk.messages for call in m.get("tool_calls", [])]
    if len(set(ids)) != len(ids):
        raise Broken(400, message="Duplicate tool call id")
    body = talk.plain()
    for call in body["choices"][0]["message"].get("tool_calls", []):
        del call["id"]
    return body


def equal_ids(talk):
    body = without_ids(talk)
    for call in body["choices"][0]["message"].get("tool_calls", []):
        call["id"] = "0"
    return body


def wrapped(talk):
    return {"code": 0, "message": "Success", "error": None, **talk.plain()}


def left_in_text(talk):
    body = talk.plain()
    calls = body["choices"][0]["message"].pop("tool_calls", [])
    if not calls:
        return body
    function = calls[0]["function"]
    words = json.dumps({"name": function["name"], "arguments": json.loads(function["arguments"])})
    return talk.reply(f"<tool_call>\n{words}\n</tool_call>")


def raw_newlines(talk):
    return talk.plain('{"kernel_source": "' + talk.kernel.replace('"', '\\"') + '"}')


def marks_in_names(talk):
    body = talk.plain()
    for call in body["choices"][0]["message"].get("tool_calls", []):
        call["function"]["name"] += "<|channel|>commentary"
    return body


def newer_limit(talk):
    if "max_tokens" in talk.request:
        raise Broken(400, message="Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    return talk.plain()


def without_usage(talk):
    return {**talk.plain(), "usage": None}


def older_field(talk):
    body = talk.plain()
    message = body["choices"][0]["message"]
    if "tool_calls" in message:
        message["function_call"] = message.pop("tool_calls")[0]["function"]
    return body


def always_cut(talk):
    body = talk.plain()
    if "tools" in talk.request:
        body["choices"][0]["finish_reason"] = "length"
    return body


def without_choices(talk):
    return {"choices": [], "usage": dict(USAGE)}


def full_in_words(talk):
    raise Broken(500, message="the request exceeds the available context size. try increasing the context size")


def full_in_silence(talk):
    return {**talk.reply(""), "usage": {"prompt_tokens": 32768, "completion_tokens": 0}}


def fence(before, after=None, indent=""):
    """In text alone, tools or not."""

    def case(talk):
        lines = [before, *talk.kernel.splitlines(), after or before[:3]]
        return talk.reply("1. The kernel:\n\n" + "".join(f"{indent}{line}\n" for line in lines))

    return case


def streamed(body):
    choice = copy.deepcopy(body["choices"][0])
    message, finish = choice["message"], choice["finish_reason"]
    chunks = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": finish}]
    events = [json.dumps({"choices": [{"index": 0, **chunk}]}) for chunk in chunks] + ["[DONE]"]
    return "".join(f"data: {event}\n\n" for event in events).encode()


CASES = {
    function.__name__: function
    for function in (
        plain, broken_off, thoughts_wanted_back, text_wanted, without_ids, equal_ids, wrapped, left_in_text,
        raw_newlines, marks_in_names, newer_limit, without_usage, older_field, always_cut, without_choices,
        full_in_words, full_in_silence,
    )
}  # fmt: skip
CASES |= {
    "fence_tagged": fence('```python3 title="kernel.py"', "```"),
    "fence_of_tildes": fence("~~~python"),
    "fence_in_list": fence("```python", indent="    "),
}
# What is done to the bytes of a plain answer: (bytes, headers).
ENCODINGS = {
    "compressed": lambda body: (gzip.compress(json.dumps(body).encode()), {"Content-Encoding": "gzip"}),
    "stream": lambda body: (streamed(body), {"Content-Type": "text/event-stream"}),
    "marked": lambda body: (b"\xef\xbb\xbf" + json.dumps(body).encode(), {}),
    "sign_in_page": lambda body: (b"<html>Sign in</html>", {"Content-Type": "text/html"}),
}


class OddServer(BlockServer):
    def __init__(self, kernel):
        super().__init__()
        self.kernel = kernel

    def answer(self, request, body):
        case = request.path.split("/")[1]
        try:
            status, said = 200, CASES.get(case, plain)(Talk(json.loads(body), self.kernel))
        except Broken as broken:
            status, said = broken.status, broken.body
        encode = ENCODINGS.get(case, lambda whole: (json.dumps(whole).encode(), {}))
        data, headers = encode(said)
        request.send(data, status, headers)
