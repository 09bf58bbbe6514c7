"""Take the pictures of reports, with the browser of the tests: ``python docs/pictures.py``."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from selenium import webdriver

DOCS = Path(__file__).parent
QUICKSTART = DOCS.parent / "examples" / "tutorials" / "quickstart"
# The parts of the page that five_minutes.md explains, in its order.
PARTS = (".facts", ".tiles", ".forest", "table", ".check")
NUMBERED = """
[...arguments].forEach((part, i) => {
  const box = document.querySelector(part).getBoundingClientRect();
  const sign = document.createElement("div");
  sign.textContent = i + 1;
  sign.style = `position: absolute; left: ${box.right - 22}px; top: ${box.top - 14}px; width: 30px;
    height: 30px; border-radius: 15px; background: #0a58a8; color: #fff; text-align: center;
    font: bold 18px/30px sans-serif`;
  document.body.append(sign);
});
"""


def pictures() -> None:
    """Take the pictures of a report, for wide and narrow windows, light and dark."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    service = webdriver.ChromeService(shutil.which("chromedriver") or "")
    browser = webdriver.Chrome(options=options, service=service)
    with tempfile.TemporaryDirectory() as made:
        # A copy outside of the repository, so that no branch of ours is in the picture.
        shutil.copy(QUICKSTART / "test_quickstart.py", made)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir=."]
        subprocess.run([*command, "--llmfair-html=page.html"], cwd=made, check=True)
        for scheme in ("light", "dark"):
            media = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
            for width, ratio, kind in ((960, 1.5, ""), (440, 2, "_narrow")):
                size = {"width": width, "height": 900, "deviceScaleFactor": ratio}
                browser.execute_cdp_cmd(
                    "Emulation.setDeviceMetricsOverride", {**size, "mobile": False}
                )
                browser.get((Path(made) / "page.html").as_uri())
                end = _end_of(browser, "#table ~ table")
                name = f"{kind}{'_dark' if scheme == 'dark' else ''}.webp"
                _take(browser, DOCS / "_static" / f"report{name}", width, end + 16)
                browser.execute_script(NUMBERED, *PARTS)
                end = _end_of(browser, ".check > .dots" if width > 500 else ".check > h4")
                _take(browser, DOCS / "_static" / f"page{name}", width, end + 16)
    browser.quit()


def _end_of(browser: Any, part: str) -> float:
    find = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    return float(browser.execute_script(find, part))


def _take(browser: Any, path: Path, width: int, height: float) -> None:
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = browser.execute_cdp_cmd(
        "Page.captureScreenshot",
        {"captureBeyondViewport": True, "clip": clip, "format": "webp", "quality": 80},
    )
    path.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    pictures()
