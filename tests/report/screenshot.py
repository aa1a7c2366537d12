"""Make the picture of the README: ``python tests/report/screenshot.py demo/report.html docs/report.png``.

Run ``make demo`` first.
"""

import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.report.browser import FLAGS, installed, opened


def picture(report: Path, target: Path, variable: str = "bmi") -> None:
    """Open a report, pick a variable and take a small picture."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=installed(), args=FLAGS)
        shown = opened(browser, report.resolve(), viewport={"width": 1200, "height": 830})
        shown.js("(name) => pick('variable', data.names.indexOf(name))", variable)
        shown.settle()
        seen = Image.open(io.BytesIO(shown.page.screenshot()))
        browser.close()
    seen.convert("RGB").quantize(96, Image.Quantize.MAXCOVERAGE).save(target, optimize=True)


if __name__ == "__main__":
    picture(Path(sys.argv[1]), Path(sys.argv[2]))
