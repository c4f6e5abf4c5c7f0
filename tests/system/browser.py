# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its own protocol through two pipes: what the
page tests need of it, and no package beside the browser itself."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")


def find():
    return next((p for p in map(shutil.which, NAMES) if p), None)


class Browser:
    """One page.  Logs, exceptions and network requests are kept."""

    def __init__(self, width=1280, height=900, dark=False):
        self.dir = tempfile.mkdtemp(prefix="weft-browser-")
        to_r, to_w = os.pipe()
        from_r, from_w = os.pipe()

        def pipes():
            os.dup2(to_r, 3)
            os.dup2(from_w, 4)

        for fd in (to_r, from_w):
            os.set_inheritable(fd, True)
        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--hide-scrollbars", "--no-first-run", "--disable-extensions",
             "--disable-background-networking",
             f"--user-data-dir={self.dir}", f"--window-size={width},{height}",
             "about:blank"],
            preexec_fn=pipes, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_r)
        os.close(from_w)
        self.to, self.source, self.buffer = to_w, from_r, b""
        self.n, self.session = 0, None
        self.complaints, self.requests, self.events = [], [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"]
                      if t["type"] == "page")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)
        self.theme(dark)

    # ---- the protocol ----

    def read(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.source], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.source, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, m):
        what, p = m.get("method"), m.get("params", {})
        self.events.append(what)
        if what == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.complaints.append(
                d.get("exception", {}).get("description", d["text"]))
        elif what == "Runtime.consoleAPICalled":
            self.complaints.append(str([a.get("value") for a in p["args"]]))
        elif what == "Log.entryAdded":
            self.complaints.append(p["entry"]["text"])
        elif what == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])

    def call(self, method, timeout=30, **params):
        self.n += 1
        m = {"id": self.n, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        data = json.dumps(m).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + timeout
        while True:
            got = self.read(until)
            if got.get("id") == self.n:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.note(got)

    # ---- actions of a user ----

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + 30
        while "Page.loadEventFired" not in self.events:
            self.note(self.read(until))

    def js(self, text):
        r = self.call("Runtime.evaluate", expression=text, returnByValue=True,
                      awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(text + ": " + str(r["exceptionDetails"]))
        return r["result"].get("value")

    def frame(self):
        """Until what was asked for is drawn."""
        self.js("new Promise(f => requestAnimationFrame(() => "
                "requestAnimationFrame(f)))")

    def box(self, selector):
        """Brings it into view; left, top, width, height."""
        r = self.js("(() => { const e = document.querySelector(%s); "
                    "e.scrollIntoView({block: 'center', behavior: 'instant'});"
                    " const b = e.getBoundingClientRect();"
                    " return [b.left, b.top, b.width, b.height]; })()"
                    % json.dumps(selector))
        self.frame()
        return r

    def mouse(self, kind, x, y, button="none"):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                  button=button, buttons=int(button == "left"),
                  clickCount=int(button == "left"))

    def hover(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.frame()

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left")
        self.mouse("mouseReleased", x, y, "left")
        self.frame()

    def drag(self, x0, y0, x1, y1):
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, "left")
        for i in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 5,
                       y0 + (y1 - y0) * i / 5, "left")
        self.mouse("mouseReleased", x1, y1, "left")
        self.frame()

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            text = key if len(key) == 1 and kind == "keyDown" else ""
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=text)
        self.frame()

    def type(self, selector, text):
        """Into a field, as if typed."""
        self.js("(() => { const e = document.querySelector(%s); e.value = %s;"
                " e.dispatchEvent(new Event('input', {bubbles: true}));"
                " e.dispatchEvent(new Event('change', {bubbles: true})); })()"
                % (json.dumps(selector), json.dumps(text)))
        self.frame()

    def theme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def picture(self, whole=False):
        """PNG."""
        r = self.call("Page.captureScreenshot", format="png",
                      captureBeyondViewport=whole)
        return base64.b64decode(r["data"])

    def pdf(self):
        r = self.call("Page.printToPDF", printBackground=True)
        return base64.b64decode(r["data"])

    def close(self):
        try:
            self.session = None
            self.call("Browser.close", timeout=5)
        except (TimeoutError, EOFError, OSError):
            self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.dir, ignore_errors=True)
