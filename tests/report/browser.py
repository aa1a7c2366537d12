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

COUNT_TAPS = """() => {
    const { tapped } = ibmapReport;
    window.taps = 0;
    ibmapReport.tapped = (...where) => { tapped(...where); window.taps += 1; };
}"""


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
        """How many pairs are drawn in the network."""
        return self.js("ibmapReport.models.edges.data.x0.length")

    def panel(self) -> str:
        return self.page.inner_text("#panel")

    def column(self, n: int) -> list[str]:
        """The texts of a column of the table."""
        return self.page.locator(f"#pairs tbody tr td:nth-child({n})").all_inner_texts()

    def settle(self) -> None:
        """Wait until what was asked for is painted."""
        self.js("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def point(self, plot: str, x: float, y: float) -> list[float]:
        """Return where a point of a figure, given in its own coordinates, is on the screen."""
        self.settle()
        return self.js(
            """([name, x, y]) => {
                const plot = ibmapReport.models[`${name} plot`];
                const view = Bokeh.index.find_one(plot), frame = view.frame.bbox;
                const [across, up] = [plot.x_range, plot.y_range];
                view.el.scrollIntoView({ block: 'end' });
                const box = view.el.getBoundingClientRect();
                return [
                    box.left + frame.left + (x - across.start) / (across.end - across.start) * frame.width,
                    box.top + frame.bottom - (y - up.start) / (up.end - up.start) * frame.height,
                ];
            }""",
            [plot, x, y],
        )

    def click(self, plot: str, x: float, y: float, *, finger: bool = False) -> None:
        """Click at a point of a figure, and wait until the page has noticed."""
        at = self.point(plot, x, y)
        before = self.js("window.taps")
        if finger:
            self.page.touchscreen.tap(*at)
        else:
            self.page.mouse.move(*at)
            self.page.mouse.click(*at)
        self.page.wait_for_function("(before) => window.taps > before", arg=before)


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
    page.evaluate(COUNT_TAPS)
    return found
