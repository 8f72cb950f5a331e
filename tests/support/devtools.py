"""A headless browser that does what a user does, over Chromium's DevTools protocol on a pair of pipes."""

import json
import os
import subprocess

from support.waiting import wait_for


class Browser:
    """Chromium with one page."""

    def __init__(self, directory, url):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def descriptors():
            # The protocol is on the file descriptors 3 and 4. Either end may be one of them already.
            copies = [os.dup(to_browser), os.dup(from_browser)]
            for copy, wanted in zip([os.dup(copy) for copy in copies], (3, 4)):
                os.dup2(copy, wanted)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={directory}",
             "about:blank"], preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.received, self.number, self.session = b"", 0, None
        target = self.call("Target.createTarget", url=url)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer, found, rest = self.received.partition(b"\0")
            if not found:
                more = os.read(self.read_end, 1 << 16)
                assert more, "the browser has ended"
                self.received += more
                continue
            self.received = rest
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def value(self, expression):
        """Evaluates an expression of the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def text(self):
        return self.value("document.body ? document.body.innerText : ''")

    def wait_for_text(self, text):
        wait_for(f"'{text}' on the page", lambda: text in self.text())

    def click(self, selector):
        """Presses the mouse on an element, at its place on the screen, when it has stopped moving."""
        def place_of():
            return self.value(
                f"(() => {{ const one = document.querySelector({json.dumps(selector)}); if (!one) return null;"
                " one.scrollIntoView({block: 'center'}); const at = one.getBoundingClientRect();"
                " return {x: at.x + at.width / 2, y: at.y + at.height / 2}; })()")

        place = wait_for(selector, lambda: (before := place_of()) and before == place_of() and before)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def click_until(self, selector, text):
        """Presses an element until the page shows a text: a part that has just been drawn anew may have moved it away."""
        def shown():
            if text not in self.text():
                self.click(selector)
            return text in self.text()

        wait_for(f"'{text}' after {selector}", shown, pause_seconds=0.5)

    def type(self, text):
        """Types into the element that has the focus."""
        self.call("Input.insertText", text=text)

    def press(self, key):
        """Presses a key that is no character, for example Tab, Enter or Escape, on the element that has the focus."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27}[key]
        down = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def press_until(self, key, condition):
        """Presses a key, at most 200 times, until an expression of the page is true."""
        for _ in range(200):
            if self.value(condition):
                return
            self.press(key)
        raise AssertionError(f"no {key} makes true: {condition}")

    def names(self, *roles):
        """Returns roles and names of the elements with these roles, as a screen reader is told them."""
        nodes = [node for node in self.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
        return [(node["role"]["value"], node["name"]["value"].strip()) for node in nodes if node["role"]["value"] in roles]

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
