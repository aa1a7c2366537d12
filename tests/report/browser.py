"""A page of the report in a real browser, and what a test may ask of it."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def installed() -> str | None:
    """Return the browser of this machine."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@dataclass
class Opened:
    """A report that is open: the page, and everything that went wrong or over the wire."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def js(self, code: str, argument: Any = None) -> Any:
        return self.page.evaluate(code, argument)

    def drawn(self) -> int:
        """How many lines are drawn in the network."""
        return self.page.locator("#network .line").count()

    def panel(self) -> str:
        return self.page.inner_text("#panel")

    def column(self, head: str) -> list[str]:
        """The texts of a column of the table."""
        heads = self.page.locator("#pairs th button").all_inner_texts()
        n = [text.split(" ")[0] for text in heads].index(head) + 1
        return self.page.locator(f"#pairs tbody tr td:nth-child({n})").all_inner_texts()

    def settle(self) -> None:
        """Wait until what was asked for is painted."""
        self.js("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def point(self, kind: str, index: int) -> list[float]:
        """Return where a variable ("node") or the middle of a line ("pair") is on the screen."""
        self.settle()
        return self.js(
            """([kind, index]) => {
                const found = document.querySelector(`#network [data-${kind}="${index}"]`);
                found.scrollIntoView({ block: "center" });
                const line = found.querySelector("path");
                if (!line) {
                    const box = found.getBoundingClientRect();
                    return [box.left + box.width / 2, box.top + box.height / 2];
                }
                const at = line.getPointAtLength(line.getTotalLength() / 2);
                const half = at.matrixTransform(line.getScreenCTM());
                return [half.x, half.y];
            }""",
            [kind, index],
        )

    def click(self, kind: str, index: int, *, finger: bool = False) -> None:
        """Click a variable, or the middle of a line."""
        at = self.point(kind, index)
        if finger:
            self.page.touchscreen.tap(*at)
        else:
            self.page.mouse.click(*at)
        self.settle()


def opened(browser: Any, path: Path, **options: Any) -> Opened:
    """Open a report and wait until it is drawn."""
    page = browser.new_page(**{"viewport": {"width": 1300, "height": 900}, **options})
    found = Opened(page)
    bad = ("error", "warning")
    page.on("console", lambda said: found.complaints.append(said.text) if said.type in bad else None)
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("dialog", lambda dialog: (found.complaints.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]", timeout=30_000)
    return found
