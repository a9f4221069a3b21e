#!/usr/bin/env python3
"""Makes the pictures of docs/use.md (the pages of `mnn graph` and `mnn profile` for the digits net, in headless
Chromium) and that of docs/tool.md (boxes that `mnn run --draw` draws).

    docs/pictures.py MNN_TOOL

The environment names the browser (CHROMIUM, default: chromium) and its flags (CHROMIUM_FLAGS). The times in the
pictures are those of this machine.
"""
import base64
import os
import pathlib
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests/tool"))
from check_browser import Browser  # noqa: E402
from digits_detector import write_detector, write_page  # noqa: E402

PICTURES = {"graph": (1000, 760, ["--profile"]), "profile": (1000, 740, [])}  # width, height, further flags


def draw_boxes(tool):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_detector("flatc", folder / "digits_detector.mnn")
        write_page(folder / "page.ppm")
        subprocess.run([tool, "run", "digits_detector.mnn", "--image", "page.ppm", "--mean", "255", "--scale=-0.0041667",
                        "--draw", DOCS / "boxes.png"], cwd=folder, check=True)


def main(tool):
    tool = str(pathlib.Path(tool).resolve())
    draw_boxes(tool)
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(os.environ.get("CHROMIUM", "chromium"), folder)
        try:
            for command, (width, height, flags) in PICTURES.items():
                page = pathlib.Path(folder, command + ".html")
                subprocess.run([tool, command, "digits.mnn", "--output", page, *flags], check=True,
                               cwd=DOCS.parent / "examples/digits", stdout=subprocess.DEVNULL)
                browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                            mobile=False)
                browser.open(page)
                shot = browser.ask("Page.captureScreenshot", format="png")
                (DOCS / f"{command}.png").write_bytes(base64.b64decode(shot["data"]))
        finally:
            browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
