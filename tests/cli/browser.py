"""A Chromium without a window, steered over a pipe by the DevTools protocol: https://chromedevtools.github.io."""
import json
import os
import pathlib
import subprocess
import time


class Browser:
    """One page of it. Waits for what was asked and for nothing else; ends with its `with`."""

    def __init__(self, profile):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        # The protocol's numbers of the pipe's ends are 3 and 4.
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe")
        words = ["chromium", *flags, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", command, "sh", *words],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser), os.close(from_browser)
        self.inbox, self.number, self.session = b"", 0, None
        (page,) = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        session, self.session = self.session, None
        self.call("Browser.close")
        self.process.wait(timeout=60)
        os.close(self.write_end), os.close(self.read_end)

    def message(self):
        while b"\0" not in self.inbox:
            more = os.read(self.read_end, 1 << 16)
            assert more, "the browser ended"
            self.inbox += more
        text, self.inbox = self.inbox.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **values):
        """What a command of the protocol answers."""
        self.number += 1
        said = {"id": self.number, "method": method, "params": values}
        said |= {"sessionId": self.session} if self.session else {}
        os.write(self.write_end, json.dumps(said).encode() + b"\0")
        while (heard := self.message()).get("id") != self.number:
            pass
        assert "error" not in heard, heard
        return heard["result"]

    def value(self, script):
        """What a script of the page gives, or the value of its promise."""
        told = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def until(self, script, seconds=120):
        """Waits for a frame after which a script of the page gives something that is true."""
        end = time.monotonic() + seconds
        while not self.value(f"new Promise((go) => requestAnimationFrame(() => go(Boolean({script}))))"):
            assert time.monotonic() < end, f"never became true: {script}"

    def open(self, path, place=""):
        """A file, at a place of it: until the page says that it shows that."""
        self.call("Page.navigate", url=f"{pathlib.Path(path).as_uri()}{place}")
        self.settle(place)

    def settle(self, place=None):
        here = "location.hash.slice(1)" if place is None else json.dumps(place[1:])
        self.until(f"document.body && document.body.dataset.shown === ({here} || 'tables')")

    def words(self):
        """The text of what is shown, folded or not."""
        return self.value("document.getElementById('main').textContent")

    def click(self, selector):
        self.value(f"document.querySelector({json.dumps(selector)}).click()")
        self.settle()

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 else "")
