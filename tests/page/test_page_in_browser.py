"""The reproduction page as a reader has it: from disk, in headless Chromium."""

import shutil
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from page import toys
from playwright.sync_api import expect, sync_playwright

from everycell.engine.render.page.page_file import write_page
from everycell.engine.render.page.vocabulary import VERDICTS

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
]
# Without the last four Chromium looks for hosts of its own at every start.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    page = write_page(folder / "r" / "index.html", toys.found(folder / "p", folder / "r"))
    return page.as_uri()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, url):
    """The page at the width of a desk, watched for errors and requests."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    yield page
    assert said == []
    assert [one for one in asked if not one.startswith(("file:", "data:"))] == []
    page.close()


def test_text_of_cards_cells_and_files_does_nothing(browser, tmp_path):
    found = toys.hostile(tmp_path / "p", tmp_path / "r")
    path = write_page(tmp_path / "r" / "index.html", found)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    said, asked, dialogs = [], [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.select_option("select[name=verdict]", "differs")
    page.click("button[type=reset]")
    for cell in page.locator("td.v").all():
        cell.hover()
    page.keyboard.press("Tab")
    assert (page.title(), said, dialogs) == ("everycell: which printed numbers stand", [], [])
    figures = (tmp_path / "r" / "released" / "toy2026").as_uri()
    assert {url for url in asked if not url.startswith("data:")} <= {
        path.as_uri(),
        f"{figures}/figure_1.svg",
    }
    count = "selector => document.querySelectorAll(selector).length"
    assert page.evaluate(count, "script") == 1
    assert page.evaluate(count, "body svg, iframe, textarea, img:not(figure img)") == 0
    assert page.evaluate(count, "a[href^='javascript:']") == 0
    handlers = """[...document.querySelectorAll("*")].flatMap(node => [...node.attributes])
        .filter(attribute => attribute.name.startsWith("on")).length"""
    assert page.evaluate(handlers) == 0
    # It all stands there to be read: in titles, needs, claims, errata, cells and faults.
    text = page.evaluate("document.body.textContent")
    assert text.count(toys.EVIL) > 40 and "{{ 7 * 7 }}" in text and "&lt;b&gt;" in text
    page.close()


def visible(page):
    return [
        article.get_attribute("id")
        for article in page.locator("article").all()
        if article.is_visible()
    ]


def test_opens_from_disk_with_its_figures(page):
    assert page.title() == "everycell: which printed numbers stand"
    image = page.locator("figure img")
    image.scroll_into_view_if_needed()
    # Not `wait_for_function`: the page's policy lets nobody evaluate text in it.
    expect(image).to_have_js_property("complete", True)
    assert image.evaluate("image => image.naturalWidth") > 100
    assert image.get_attribute("alt") == "Bars of the two runs"


def test_filter_by_state_verdict_text_and_back(page):
    assert len(visible(page)) == 4
    page.select_option("select[name=state]", "drawing")
    assert visible(page) == ["toy2026-figure_2"]
    assert page.locator("#filter output").inner_text() == "1 of 4 artefacts"
    page.click("button[type=reset]")
    expect(page.locator("article:not([hidden])")).to_have_count(4)
    page.select_option("select[name=verdict]", "differs")
    assert visible(page) == ["toy2026-table_1"]
    page.select_option("select[name=verdict]", "")
    page.fill("input[name=text]", "Crowd WORKERS")
    assert visible(page) == ["toy2026-table_2"]
    page.fill("input[name=text]", "no such thing")
    assert visible(page) == []
    assert not page.locator(".chapter").first.is_visible()


def test_a_link_reaches_what_the_filter_hid(page):
    page.select_option("select[name=state]", "drawing")
    page.locator("#falls a", has_text="b / x / MAP").click()
    expect(page.locator("article:not([hidden])")).to_have_count(4)
    cell = page.locator("td.differs")
    expect(cell).to_be_in_viewport(ratio=1)
    assert page.url.endswith("#" + cell.get_attribute("id"))


def after(cell):
    return cell.evaluate("cell => getComputedStyle(cell, '::after').content")


def test_keyboard_reaches_the_cells_and_shows_both_values(page):
    page.locator("#toy2026-table_1 h4 a").focus()
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('td.v')"):
            break
    focused = page.locator("td.v:focus")
    assert focused.inner_text() == "0.301 ✓"
    assert "0.30142" in after(focused)
    page.keyboard.press("ArrowDown")
    assert page.locator("td.v:focus").inner_text() == "printed 0.250 / rebuilt 0.210 ✗"
    assert "0.21" in after(page.locator("td.v:focus"))
    page.keyboard.press("ArrowRight")
    assert page.locator("td.v:focus").inner_text() == "M –"
    page.keyboard.press("ArrowUp")
    assert page.locator("td.v:focus").inner_text() == "S ✓"


def test_hover_shows_the_rebuilt_value(page):
    cell = page.locator("td.v.equal").first
    assert after(cell) == "none"
    cell.hover()
    assert "0.30142" in after(cell)
    marked = page.locator("td.v.close").first
    aside = marked.locator(".aside").bounding_box()
    assert (aside["width"], aside["height"]) == (1, 1)  # only for those who cannot hover
    marked.hover()
    assert "0.5007; printed marker: b<; rebuilt marker: none" in after(marked)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_marks_and_contrast(browser, url, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.goto(url)
    grounds = set()
    for verdict, (mark, *_) in VERDICTS.items():
        for cell in page.locator(f"td.v.{verdict}").all():
            assert cell.inner_text().endswith(mark)
            ink, ground = cell.evaluate(
                "c => [getComputedStyle(c).color, getComputedStyle(c).backgroundColor]"
            )
            grounds.add(ground)
            assert contrast(ink, ground) >= 4.5
    assert len(grounds) == len(VERDICTS)
    page.close()


def contrast(*colours):
    """Ratio of relative luminances, as in WCAG 2."""

    def luminance(colour):
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def test_a_phone_scrolls_tables_and_not_the_page(browser, url):
    page = browser.new_page(viewport={"width": 375, "height": 700})
    page.goto(url)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    inner, outer = page.locator("#toy2026-table_1 .scroll").first.evaluate(
        "box => [box.scrollWidth, box.clientWidth]"
    )
    assert inner > outer
    page.close()


def test_without_scripts_all_is_there(browser, url):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    assert len(visible(page)) == 4
    assert not page.locator("#filter").is_visible()
    assert "printed 0.250 / rebuilt 0.210 ✗" in page.locator("#toy2026-table_1").inner_text()
    # Cells that do not stand are stops of the Tab key even so.
    assert page.locator("td.differs").get_attribute("tabindex") == "0"
    context.close()


def test_print_shows_the_markers(page):
    page.emulate_media(media="print")
    aside = page.locator("td.v.close .aside")
    assert aside.inner_text().strip() == "(printed marker: b<; rebuilt marker: none)"
    assert aside.bounding_box()["height"] > 5


def test_print_has_no_form(page):
    page.emulate_media(media="print")
    assert not page.locator("#filter").is_visible()
    assert page.locator("#toy2026-table_1 table").first.is_visible()


def test_the_policy_of_the_page_lets_nothing_else_run_or_load(browser, url):
    """As if some text had come through: its script, handler and pictures do nothing."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

    elsewhere = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=elsewhere.serve_forever, args=(0.01,), daemon=True).start()
    page = browser.new_page()
    page.goto(url)
    page.evaluate(
        """host => {
            const script = document.createElement("script");
            script.textContent = "window.ran = 1";
            document.body.append(script);
            const box = document.createElement("div");
            box.innerHTML = `<img src="nothing:" onerror="window.ran = 1"><img src="${host}/a.png">
                <iframe src="${host}/frame"></iframe>`;
            document.body.append(box);
            return fetch(host).catch(() => 0);
        }""",
        f"http://127.0.0.1:{elsewhere.server_port}",
    )
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None and asked == []
    page.close()
    elsewhere.shutdown()
    elsewhere.server_close()
