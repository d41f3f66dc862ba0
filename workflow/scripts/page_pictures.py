"""Screenshots of the first screen of the reproduction page, taken with a headless browser."""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

from everycell.jobs.job import Job

SCREEN = {"width": 1280, "height": 800}
#: No network requests; Chromium's sandbox does not work in a container.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NAMES = ("chromium", "chromium-browser", "google-chrome")

with Job(snakemake) as job:
    browsers = [path for path in map(shutil.which, NAMES) if path]
    if not browsers:
        raise ValueError(
            f"No browser on the path ({', '.join(NAMES)}). Install one to take screenshots."
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
