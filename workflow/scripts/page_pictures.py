"""The first screen of the reproduction page as pictures, in a headless browser."""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

from everycell.engine.job import Job

SCREEN = {"width": 1280, "height": 800}
#: Nothing is asked from the network; in a container Chromium has no sandbox of its own.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NAMES = ("chromium", "chromium-browser", "google-chrome")

with Job(snakemake) as job:
    browsers = [path for path in map(shutil.which, NAMES) if path]
    if not browsers:
        raise ValueError(
            f"None of {', '.join(NAMES)} is on the path; install one, the page is drawn by it."
        )
    page = Path(snakemake.input.page).resolve().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browsers[0], args=ARGUMENTS)
        for scheme, picture in snakemake.output.items():
            context = browser.new_context(viewport=SCREEN, color_scheme=scheme)
            opened = context.new_page()
            opened.goto(page)
            opened.screenshot(path=picture)
        browser.close()
