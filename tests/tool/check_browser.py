#!/usr/bin/env python3
"""Opens the pages of `mnn graph` and `mnn profile` in headless Chromium, without a network, looks at what their scripts made
of them, and uses them: a click, a search, a sort. CHROMIUM names the browser's program, CHROMIUM_FLAGS adds flags. The exit
status is 77 where there is none.

    check_browser.py MNN_TOOL MODEL...
"""
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

from pages import Page

LONGEST = 120  # seconds


class Browser:
    """Chromium, which takes commands and sends answers over two pipes (its file descriptors 3 and 4)."""

    def __init__(self, program, folder):
        ours, theirs = os.pipe(), os.pipe()

        def take_pipes():
            os.dup2(os.dup(ours[0]), 3)
            os.dup2(os.dup(theirs[1]), 4)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--proxy-server=127.0.0.1:9",
                 f"--user-data-dir={folder}", *os.environ.get("CHROMIUM_FLAGS", "").split(), "about:blank"]
        self.process = subprocess.Popen([program, *flags], preexec_fn=take_pipes, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.output, self.input, self.rest, self.number, self.events = ours[1], theirs[0], b"", 0, []
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def receive(self):
        end = time.monotonic() + LONGEST
        while b"\0" not in self.rest:
            assert select.select([self.input], [], [], max(0, end - time.monotonic()))[0], "Chromium does not answer"
            part = os.read(self.input, 1 << 20)
            assert part, "Chromium has ended"
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, page):
        """Loads a page. Every error of the page, and every request to another address, is a failure."""
        self.events.clear()
        self.ask("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())
        for event in self.events:
            assert event.get("method") not in ("Runtime.exceptionThrown", "Log.entryAdded"), event
            if event.get("method") == "Network.requestWillBeSent":
                assert event["params"]["request"]["url"] == page.as_uri(), event

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def count(self, selector):
        return self.value(f"document.querySelectorAll({json.dumps(selector)}).length")

    def close(self):
        self.process.kill()
        self.process.wait()


def check_graph(browser, data, model):
    wanted = {".box": sum(len(graph["boxes"]) for graph in data["graphs"]),
              ".edge": sum(len(graph["edges"]) for graph in data["graphs"]),
              ".call": len(data["calls"]), "rect.body": len(data["graphs"]) - 1}
    made = {selector: browser.count(selector) for selector in wanted}
    assert made == wanted and made[".box"] > 2, f"{model}: {made}, wanted {wanted}"
    assert browser.value("document.title") == f"Graph of {model}"
    inside = """[...document.querySelectorAll('.box')].every((box) => {
        const a = box.getBoundingClientRect(), b = document.getElementById('picture').getBoundingClientRect();
        return a.width > 0 && a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
    })"""
    browser.value("document.getElementById('whole').click()")
    assert browser.value(inside), f"{model}: a box is outside of the picture"
    first = data["graphs"][0]["boxes"][0]["ops"][0]
    browser.value("document.querySelector('.box').dispatchEvent(new Event('click'))")
    assert f"{first['type']} {first['name']}" in browser.value("document.getElementById('details').textContent")
    browser.value("""const field = document.getElementById('search'); field.value = 'input';
                     field.dispatchEvent(new Event('input'))""")
    inputs = sum(any("input" in f"{op['type']} {op['name']}".lower() for op in box["ops"])
                 for graph in data["graphs"] for box in graph["boxes"])
    assert browser.count(".found") == inputs > 0


def check_profile(browser, ops, model):
    sums = {(op["type"], op["algorithm"]) for op in ops}
    assert browser.count("#ops tbody tr") == len(ops) and browser.count("#sums tbody tr") == len(sums)
    assert browser.count("#timeline rect") == len(ops), f"{model}: bars of the timeline"
    assert browser.value("document.title") == f"Profile of {model}"
    names = "[...document.querySelectorAll('#ops tbody tr')].map((row) => row.children[2].textContent)"
    assert browser.value(names)[0] == max(ops, key=lambda op: op["ms"])["name"]
    browser.value("document.querySelectorAll('#ops th')[2].click()")
    assert browser.value(names) == sorted(op["name"] for op in ops)


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"]
    program = next((path for path in (name and shutil.which(name) for name in names) if path), None)
    if not program:
        print("there is no Chromium")
        return 77
    tool = arguments[0]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        page = pathlib.Path(name) / "page.html"
        browser = Browser(program, pathlib.Path(name) / "user")
        try:
            for model in arguments[1:]:
                subprocess.run([tool, "graph", model, "--output", page, "--profile", "--runs", "1"], check=True)
                browser.open(page)
                check_graph(browser, Page(page.read_text()).data, model)
                subprocess.run([tool, "profile", model, "--output", page, "--runs", "1"], check=True,
                               stdout=subprocess.DEVNULL)
                browser.open(page)
                check_profile(browser, Page(page.read_text()).data["ops"], model)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
