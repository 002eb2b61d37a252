"""The rows that test_faults.py plays: a script of answers, and what must come of it. What each api's documents and
public reports have, in our own words; waits are shortened."""
import gzip
import json
import os
import pathlib
import zlib

from fault_server import Answer

SOURCE = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])
CASES = SOURCE / "tests/data/cases"
KERNEL = (SOURCE / "configs/nkigen-bench/kernels/L1/001_add.py").read_text()
FENCE = f"Here it is.\n\n```python\n{KERNEL}```\n"
TOKENS = {"in": 1000, "cached": 400, "out": 200}
APIS = ("chat", "responses", "anthropic", "bedrock")
# A clock of the server's own, far from any other: dates count from it.
DATE = {"Date": "Wed, 21 Oct 2026 07:27:10 GMT"}


def said(api, text=None, calls=(), finish=None):
    """A reply of an api: text, or calls of (id, name, arguments)."""
    if api == "chat":
        message = {"role": "assistant", "content": text}
        if calls:
            named = [{"name": name, "arguments": json.dumps(arguments)} for _, name, arguments in calls]
            message["tool_calls"] = [
                {"id": call[0], "type": "function", "function": function} for call, function in zip(calls, named)
            ]
        details = {"cached_tokens": TOKENS["cached"]}
        usage = {"prompt_tokens": TOKENS["in"], "completion_tokens": TOKENS["out"], "prompt_tokens_details": details}
        reason = finish or ("tool_calls" if calls else "stop")
        return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}
    if api == "responses":
        output = [{"type": "message", "content": [{"type": "output_text", "text": text}]}] if text else []
        details = {"cached_tokens": TOKENS["cached"]}
        usage = {"input_tokens": TOKENS["in"], "output_tokens": TOKENS["out"], "input_tokens_details": details}
        return {"status": "completed", "output": output, "usage": usage}
    fresh = TOKENS["in"] - TOKENS["cached"]
    if api == "anthropic":
        blocks = [{"type": "text", "text": text}] if text else []
        blocks += [{"type": "tool_use", "id": id, "name": name, "input": inputs} for id, name, inputs in calls]
        usage = {"input_tokens": fresh, "cache_read_input_tokens": TOKENS["cached"], "output_tokens": TOKENS["out"]}
        reason = finish or ("tool_use" if calls else "end_turn")
        return {"type": "message", "role": "assistant", "content": blocks, "stop_reason": reason, "usage": usage}
    usage = {"inputTokens": fresh, "cacheReadInputTokens": TOKENS["cached"], "outputTokens": TOKENS["out"]}
    content = {"message": {"role": "assistant", "content": [{"text": text}]}}
    return {"output": content, "stopReason": finish or "end_turn", "usage": usage}


def failed(api, status, message, name="", **headers):
    """An error as an api writes one; `name` is its type."""
    if api == "anthropic":
        body = {"type": "error", "error": {"type": name, "message": message}, "request_id": "req_1"}
    elif api == "bedrock":
        body, headers = {"message": message}, {"x-amzn-errortype": name, **headers}
    else:
        body = {"error": {"message": message, "type": name, "code": None}}
    return Answer(body, status, **headers)


class Row:
    """What is played, and what must come of it: the outcome ("stopped": the model stops, its episode is outstanding),
    how often it asked, how many of that were retries, the least that was waited [s]."""

    def __init__(self, api, first, outcome="pass", asked=None, retries=None, wait=0, then=None, words=""):
        self.api, self.outcome, self.wait, self.words = api, outcome, wait, words
        first = first if isinstance(first, list) else [first]
        last = [Answer(said(api, FENCE))] if then is None else then
        self.script = first + last
        self.asked = asked or (len(self.script) if outcome == "pass" else 1)
        self.retries = retries if retries is not None else self.asked - 1


def passing(api):
    """What passes over: sent again, no turn, no cost."""
    names = {
        "chat": [(408, ""), (409, ""), (425, ""), (429, "rate_limit"), (500, ""), (502, ""), (503, ""), (529, "")],
        "responses": [(429, "rate_limit"), (500, "server_error"), (503, "")],
        "anthropic": [
            (409, "conflict_error"), (429, "rate_limit_error"), (500, "api_error"), (504, "timeout_error"),
            (529, "overloaded_error"),
        ],
        "bedrock": [
            (400, "ThrottlingException"), (429, "ThrottlingException"), (408, "ModelTimeoutException"),
            (429, "ModelNotReadyException"), (500, "InternalServerException"), (503, "ServiceUnavailableException"),
            (424, "ModelErrorException"),
        ],
    }[api]  # fmt: skip
    rows = {f"{status}_{name or 'plain'}": Row(api, failed(api, status, "try later", name)) for status, name in names}
    whole = json.dumps(said(api, FENCE))
    rows["reset"] = Row(api, Answer("", reset=True))
    rows["cut_body"] = Row(api, Answer(whole, cut=len(whole) // 2))
    rows["cut_json"] = Row(api, Answer(whole[:-2]))
    rows["no_body"] = Row(api, Answer(""))
    rows["sign_in_page"] = Row(api, Answer("<html>Sign in</html>", Content_Type="text/html"))
    rows["bad_gateway_page"] = Row(api, Answer("<html>502</html>", 502, Content_Type="text/html"))
    rows["nothing_of_the_api"] = Row(api, Answer({"hello": "world"}))
    return rows


def final(api):
    """What no retry mends: asked once, nothing is paid; a full context and a filter are the model's, no more."""
    long = {"chat": "This model's maximum context length is 8192 tokens", "bedrock": "Input is too long for the model."}
    name = {"anthropic": "invalid_request_error", "bedrock": "ValidationException"}.get(api, "invalid_request_error")
    rows = {
        "too_long": Row(api, failed(api, 400, long.get(api, "prompt is too long: 9 > 8"), name), "context_full"),
        "bad_request": Row(api, failed(api, 400, "messages: roles must alternate", name), "stopped", words="alternate"),
        "no_key": Row(api, failed(api, 401, "invalid key", "authentication_error"), "stopped", words=".key"),
        "no_money": Row(api, failed(api, 402, "no credit", "billing_error"), "stopped", words="quota"),
        "forbidden": Row(
            api,
            failed(api, 403, "not yours", "permission_error", Request_Id="req_7"),
            "stopped",
            words="(request req_7)",
        ),
        "no_model": Row(api, failed(api, 404, "no such model", "not_found_error"), "stopped", words=".model"),
        "gateways_limit": Row(api, Answer("<html>413 Too Large</html>", 413), "stopped", words="413"),
        "a_day": Row(api, failed(api, 429, "used up", "x", Retry_After="86400"), "stopped", words="quota"),
        "redirect": Row(api, Answer("", 307, Location="http://localhost:9/trap"), "stopped", words="localhost:9"),
        "no_temperature": Row(api, failed(api, 400, "`temperature` is deprecated for this model.", name), retries=0),
        "cut_upload": Row(api, failed(api, 400, "not valid JSON: unexpected end of data", name)),
    }
    if api == "anthropic":
        rows["too_large"] = Row(
            api, failed(api, 413, "Request exceeds the maximum size", "request_too_large"), "context_full"
        )
    return rows


def waits():
    """The server's word on how long, in each of its forms."""
    forms = {
        "seconds": ({"Retry-After": "2"}, 2),
        "fraction": ({"retry-after": "1.9"}, 1.9),
        "unit": ({"Retry-After": "2s"}, 2),
        "milliseconds": ({"retry-after-ms": "2100", "retry-after": "9"}, 2.1),
        "date": ({"Retry-After": "Wed, 21 Oct 2026 07:27:12 GMT", **DATE}, 2),
        "older_date": ({"Retry-After": "Wednesday, 21-Oct-26 07:27:12 GMT", **DATE}, 2),
        "windows": ({"x-ratelimit-reset-requests": "2s", "x-ratelimit-reset-tokens": "250ms"}, 2),
        "rfc3339": ({"anthropic-ratelimit-tokens-reset": "2026-10-21T07:27:12Z", **DATE}, 2),
        "unix": ({"x-ratelimit-reset": "1792567632", **DATE}, 2),
        "draft": ({"RateLimit": '"default";r=0;t=2'}, 2),
        "words": ({}, 2),
    }
    return {
        form: Row("chat", failed("chat", 429, "slow down; try again in 2s", **headers), wait=least)
        for form, (headers, least) in forms.items()
    }


def streams():
    chunk = lambda delta, end=None: json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
    events = lambda *data: "".join(f"data: {each}\n\n" for each in data)
    half = events(chunk({"content": FENCE[:50]}))
    overloaded = CASES / "11_sse_overloaded_after_200.txt"
    return {
        "cut": Row("chat", Answer(half)),
        "error": Row("chat", Answer(half + events(json.dumps({"error": {"message": "overloaded"}}), "[DONE]"))),
        "error_event": Row("chat", Answer(half + "event: error\ndata: overloaded\n\n")),
        "finish_error": Row("chat", Answer(half + events(chunk({}, "error"), "[DONE]"))),
        "nothing": Row("chat", Answer(events("[DONE]"))),
        "overloaded_after_200": Row("anthropic", Answer(overloaded.read_text().split("\n\n", 1)[1])),
    }


def encodings():
    whole = json.dumps(said("chat", FENCE)).encode()
    return {
        "gzip": Row("chat", [], then=[Answer(gzip.compress(whole), Content_Encoding="gzip")]),
        "deflate": Row("chat", [], then=[Answer(zlib.compress(whole), Content_Encoding="deflate")]),
        "bom": Row("chat", [], then=[Answer(b"\xef\xbb\xbf" + whole)]),
        "cut_gzip": Row("chat", Answer(gzip.compress(whole)[:-30], Content_Encoding="gzip")),
    }


def broken_off():
    """A 200 that says within that it is none."""
    error = {"error": {"code": 502, "message": "Provider returned error"}}
    finish = lambda word: said("chat", "```python\nimport", finish=word)
    return {
        "error_in_200": Row("chat", Answer(error)),
        "finish_error": Row("chat", Answer(finish("error"))),
        "finish_abort": Row("chat", Answer(finish("abort"))),
        "no_choices": Row("chat", Answer({"choices": []})),
        "failed": Row("responses", Answer({"status": "failed", "output": [], "error": {"message": "x"}})),
        "error_of_messages": Row("anthropic", failed("anthropic", 200, "Overloaded", "overloaded_error")),
        "key_in_200": Row("chat", Answer({"error": {"code": 401, "message": "bad key"}}), "stopped", words="bad key"),
        "filter": Row("chat", Answer(said("chat", "I cannot.", finish="content_filter")), "refused", then=[]),
        "refusal": Row("anthropic", Answer(said("anthropic", "No.", finish="refusal")), "refused", then=[]),
        "guardrail": Row("bedrock", Answer(said("bedrock", "No.", finish="guardrail_intervened")), "refused", then=[]),
    }


def overflow():
    """Too long, in every server's words that are kept: by number."""
    rows = {}
    words = json.loads((CASES / "21_context_overflow_words.json").read_text())
    words += json.loads((CASES / "13_context_overflow_shapes.json").read_text())[:4]
    for number, case in enumerate(words):
        rows[str(number)] = Row("chat", Answer(case["body"], case["status"]), "context_full")
    ours = json.loads((CASES / "13_context_overflow_shapes.json").read_text())[4]
    rows["ours"] = Row("chat", Answer(ours["body"], ours["status"]), "stopped", words="delimiter")
    return rows


def all_rows():
    rows = {}
    for api in APIS:
        rows |= {f"{api}_{name}": row for name, row in {**passing(api), **final(api)}.items()}
    parts = {"wait": waits, "stream": streams, "encoding": encodings, "broken": broken_off, "overflow": overflow}
    for part, make in parts.items():
        rows |= {f"{part}_{name}": row for name, row in make().items()}
    return {name.lower(): row for name, row in rows.items()}
