"""usage: slow_server.py DELAY_SECONDS. A chat-completions endpoint that answers each request DELAY after it came, with
words and no kernel. Prints its port; when its stdin closes, what it saw, as JSON: requests, the most in flight, and
slot seconds (the integral of requests in flight) between the first request and the last answer."""
import asyncio
import json
import sys
import time

BODY = json.dumps(
    {
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "I have no kernel."}}
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 5},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Seen:
    requests = in_flight = most = 0
    slot_seconds = 0.0
    first = last = None

    def count(self, change):
        now = time.monotonic()
        if self.last is not None:
            self.slot_seconds += self.in_flight * (now - self.last)
        self.first, self.last = self.first or now, now
        self.in_flight += change
        self.most = max(self.most, self.in_flight)
        self.requests += change > 0


seen = Seen()


class Endpoint(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.bytes = transport, bytearray()

    def data_received(self, data):
        self.bytes += data
        head = self.bytes.find(b"\r\n\r\n")
        if head < 0:
            return
        fields = bytes(self.bytes[:head]).lower()
        if b"expect: 100-continue" in fields and len(self.bytes) == head + 4:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(fields.split(b"content-length:")[1].split(b"\r\n")[0])
        if len(self.bytes) < head + 4 + length:
            return
        del self.bytes[: head + 4 + length]
        seen.count(1)
        asyncio.get_running_loop().call_later(DELAY, self.answer)

    def answer(self):
        seen.count(-1)
        if not self.transport.is_closing():
            self.transport.write(ANSWER)


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Endpoint, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    makespan = (seen.last - seen.first) if seen.first else 0
    print(json.dumps({"requests": seen.requests, "most": seen.most, "slot_seconds": seen.slot_seconds, "s": makespan}))


if __name__ == "__main__":
    DELAY = float(sys.argv[1])
    asyncio.run(main())
