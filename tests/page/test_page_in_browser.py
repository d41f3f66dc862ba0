"""The reproduction page as a reader has it: from disk, in headless Chromium."""

import re
import shutil
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from axe_playwright_python.sync_playwright import Axe
from page import toys
from playwright.sync_api import expect, sync_playwright

from everycell.records.registry import load_registry
from everycell.render.grid import Cell, Grid
from everycell.render.page.pages import page_environment, write_page
from everycell.render.vocabulary import PAGE, TINTS, VERDICTS

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
def home(tmp_path_factory):
    """The results folder of the toys, with its pages."""
    folder = tmp_path_factory.mktemp("page")
    write_page(folder / "r" / "index.html", toys.toy_results(folder / "p", folder / "r"))
    return folder / "r"


@pytest.fixture(scope="module")
def overview_url(home):
    return (home / "index.html").as_uri()


@pytest.fixture(scope="module")
def url(home):
    """The page of the chapter, which has all artefacts."""
    return (home / "pages" / "toy2026_ch1.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def unfold(page):
    """Open what is folded, such as tables on surrogate data."""
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


@contextmanager
def watched(browser, url):
    """A page at desktop width without console output, external requests and dialogs."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    output, requests = [], []
    page.on("console", lambda message: output.append(message.text))
    page.on("pageerror", lambda error: output.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: (output.append(dialog.message), dialog.dismiss()))
    page.goto(url)
    yield page
    assert output == []
    assert [one for one in requests if not one.startswith(("file:", "data:"))] == []
    page.close()


@pytest.fixture
def page(browser, url):
    with watched(browser, url) as page:
        yield page


@pytest.fixture
def overview(browser, overview_url):
    with watched(browser, overview_url) as page:
        yield page


@pytest.mark.parametrize(
    ("name", "scripts", "texts"), [("index.html", 3, 12), ("pages/toy2026_ch1.html", 2, 40)]
)
def test_texts_run_no_code(browser, tmp_path, name, scripts, texts):
    home = tmp_path / "r"
    write_page(home / "index.html", toys.hostile(tmp_path / "p", home))
    with watched(browser, (home / name).as_uri()) as page:
        title = page.title()
        if name == "index.html":
            page.fill("input[name=q]", "onerror")
            page.select_option("select[name=verdict]", "different")
            page.fill("input[name=q]", toys.EVIL)
            page.click("button[type=reset]")
        unfold(page)
        for cell in page.locator("td.v").all():
            cell.hover()
        page.keyboard.press("Tab")
        assert page.title() == title and title.endswith(("reproduced", "everycell"))
        count = "selector => document.querySelectorAll(selector).length"
        assert page.evaluate(count, "script") == scripts
        assert page.evaluate(count, "body svg, iframe, textarea, img:not(figure img)") == 0
        assert page.evaluate(count, "a[href^='javascript:']") == 0
        handlers = """[...document.querySelectorAll("*")].flatMap(node => [...node.attributes])
            .filter(attribute => attribute.name.startsWith("on")).length"""
        assert page.evaluate(handlers) == 0
        # All texts are shown: in titles, needs, claims, errata, cells and faults.
        text = page.evaluate("document.body.textContent")
        assert text.count(toys.EVIL) > texts and "{{ 7 * 7 }}" in text and "&lt;b&gt;" in text


def visible_results(page):
    """Keys of the artefacts that the search shows, in their order."""
    return [hit.get_attribute("data-key") for hit in page.locator("#hits .row").all()]


def test_page_from_disk(page):
    assert page.title() == "Toys of toy2026: everycell"
    image = page.locator("figure img")
    image.scroll_into_view_if_needed()
    # Not `wait_for_function`: the page's policy forbids evaluating text.
    expect(image).to_have_js_property("complete", True)
    assert image.evaluate("image => image.naturalWidth") > 100
    assert image.get_attribute("alt") == "Bars of the two runs"


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("table 1", "table_1"),
        ("Table 2", "table_2"),
        ("toy2026/figure_2", "figure_2"),
        ("toy2026_table_2", "table_2"),
        ("two runs", "table_1"),
        ("drawng", "figure_2"),
        ("n. toys bars", "figure_1"),
        ("Table 2 of the toy2026", "table_2"),
    ],
)
def test_search_finds_a_label_a_key_and_words_of_titles_first(overview, words, first):
    overview.fill("input[name=q]", words)
    assert visible_results(overview)[0] == f"toy2026/{first}"


def test_search_number_of_matches(overview):
    message = overview.locator("#search output")
    assert visible_results(overview) == [] and message.inner_text() == ""
    overview.fill("input[name=q]", "figure")
    assert message.inner_text() == "2 of 4 artefacts"
    overview.fill("input[name=q]", "zebra 9.9")
    assert visible_results(overview) == [] and message.inner_text().startswith("No matches.")
    assert not overview.locator("#hits").is_visible()


def test_filters_tier_state_verdict(overview):
    def choose(**filters):
        for name in ("tier", "state", "verdict"):
            overview.select_option(f"select[name={name}]", filters.get(name, ""))
        return [key.removeprefix("toy2026/") for key in visible_results(overview)]

    assert choose(state="surrogate") == ["table_1"]
    assert choose(tier="embedded", state="surrogate") == ["table_1"]
    assert choose(tier="released", state="surrogate") == []
    assert choose(tier="released", state="reproduced") == ["table_1", "figure_1"]
    assert choose(tier="released", state="reproduced", verdict="different") == ["table_1"]
    assert choose(tier="embedded", verdict="different") == []
    assert choose(verdict="not-run") == ["table_1", "table_2"]


def test_search_in_address_and_back_button(browser, overview):
    overview.fill("input[name=q]", "table")
    overview.select_option("select[name=tier]", "released")
    assert overview.url.endswith("#q=table&tier=released")
    assert visible_results(overview) == ["toy2026/table_1"]
    with watched(browser, overview.url) as other:
        assert visible_results(other) == ["toy2026/table_1"]
        assert other.locator("input[name=q]").input_value() == "table"
        expect(other.locator("#hits .row").first).to_be_in_viewport()
    overview.go_back()
    assert sorted(visible_results(overview)) == ["toy2026/table_1", "toy2026/table_2"]
    overview.click("button[type=reset]")
    expect(overview.locator("#hits")).to_be_hidden()
    assert "#" not in overview.url
    overview.go_back()
    expect(overview.locator("#hits .row")).to_have_count(2)


def test_search_in_address_special_characters(browser, overview_url):
    # An error of a script would fail in `watched`.
    with watched(browser, f"{overview_url}#q=50%") as page:
        assert page.locator("input[name=q]").input_value() == "50%"
        assert "No matches" in page.locator("output").inner_text()


def test_chapter_counts_filter_artefacts(overview):
    overview.locator(".matrix td.different a").click()
    assert visible_results(overview) == ["toy2026/table_1"]
    expect(overview.locator("#hits .row")).to_be_in_viewport()
    overview.locator("#hits .row a").click()
    assert overview.url.endswith("pages/toy2026_ch1.html#toy2026-table_1")


def test_search_on_chapter_page(page):
    page.fill("#find input", "duck")
    page.press("#find input", "Enter")
    page.wait_for_url("**/index.html#q=duck")
    assert visible_results(page) == ["toy2026/figure_2"]


def test_failure_link_reaches_cell(overview):
    overview.locator("#failures a", has_text="b / x / MAP").click()
    cell = overview.locator("td.different")
    expect(cell).to_be_in_viewport(ratio=1)
    assert overview.url.endswith("#" + cell.get_attribute("id"))


def test_link_opens_details(browser, url):
    with watched(browser, url) as page:
        needs = page.locator("#toy2026-table_2 .tiers")
        assert not needs.is_visible()
        page.locator(".side a", has_text="Table 2").click()
        expect(needs).to_be_visible()


def test_published_and_reproduced_side_by_side(page):
    unfold(page)
    equal, surrogate = page.locator("td.v.equal").first, page.locator("td.v.surrogate").first
    assert (equal.inner_text(), surrogate.inner_text()) == ("0.301 ✓", "0.312")
    page.check("#sides")
    assert equal.inner_text() == "0.301reproduced 0.3014 ✓"
    assert surrogate.inner_text() == "0.312published 0.301"


def test_bibtex_copied(page):
    page.locator("summary", has_text="BibTeX").click()
    page.locator(".bibtex").click()
    selected = page.evaluate("getSelection().toString()")
    assert selected.startswith("@phdthesis{toy2026,") and selected.rstrip().endswith("}")


def spoken(cell):
    return " ".join(cell.text_content().split())


def test_panel_of_cell(page):
    cell, panel = page.locator("td.different").first, page.locator("#cell")
    expect(panel).to_be_hidden()
    cell.click()
    text = " ".join(panel.inner_text().split())
    for part in ("b / x / MAP", "published 0.250", "reproduced 0.21", "different", "released",
                 "difference -0.04", "tolerance 0.001, one unit of the last digit",
                 "computed from data",
                 "in the paper § 1, p. 3 ff.", "published/table_1.csv"):  # fmt: skip
        assert part in text
    released = panel.get_by_role("link", name="input_data.csv").get_attribute("href")
    assert released == load_registry().url(toys.RELEASED)
    assert panel.get_by_role("link", name="hashes").get_attribute("href").endswith(".receipt.json")
    link = panel.locator("a", has_text=cell.get_attribute("id"))
    assert link.get_attribute("href") == f"{page.url}#{cell.get_attribute('id')}"
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    cell.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(cell).to_be_focused()
    unfold(page)
    page.locator("td.v.surrogate").first.click()
    text = " ".join(panel.inner_text().split())
    assert "published 0.301 on surrogate data 0.31234 verdict not compared" in text


def test_panel_opened_by_link(browser, url):
    with watched(browser, f"{url}#toy2026-table_1-released-1") as page:
        expect(page.locator("#toy2026-table_1-released-1")).to_be_in_viewport(ratio=1)
        assert "published 0.301" in " ".join(page.locator("#cell").inner_text().split())


def test_sort_by_header(page):
    table = page.locator("#toy2026-table_1 table.cells").first
    rows = table.locator("tbody tr")
    published, count = rows.all_inner_texts(), rows.count()
    header = table.locator("thead th", has_text="MAP").first

    def values():
        header.get_by_role("button").click()
        cells = [row.locator("td").first.get_attribute("data-p") for row in rows.all()]
        return [float(text) for text in cells if text]

    up = values()
    assert up == sorted(up) and header.get_attribute("aria-sort") == "ascending"
    assert table.locator("td.v[tabindex='0']").count() == 1
    keys = table.locator("thead th.key").count()
    assert [row.locator("th").count() for row in rows.all()] == [keys] * count
    down = values()
    assert down == up[::-1]
    values()
    assert rows.all_inner_texts() == published and header.get_attribute("aria-sort") is None


def test_keys_of_a_wide_table_stay_in_sight(page):
    page.set_viewport_size({"width": 390, "height": 800})
    box = page.locator("#toy2026-table_1 .scroll").first
    box.evaluate("box => { box.style.width = '200px'; dispatchEvent(new Event('resize')); }")
    expect(box).to_have_class("scroll wide")
    box.evaluate("box => { box.scrollLeft = 1000; }")
    # The key that distinguishes the rows, which is not the last one.
    key = box.locator("tbody tr").first.locator("th.fixed").first
    assert key.inner_text() == "a"
    assert key.bounding_box()["x"] >= box.bounding_box()["x"] - 1


def test_search_rows_columns_and_typos(overview):
    overview.keyboard.press("/")
    assert overview.evaluate("document.activeElement.name") == "q"
    overview.keyboard.type("MAP")
    assert "toy2026/table_1" in visible_results(overview)
    overview.fill("input[name=q]", "figrues")
    overview.locator("#search output a").click()
    assert "toy2026/figure_1" in visible_results(overview)


def after(cell):
    return cell.evaluate("cell => getComputedStyle(cell, '::after').content")


def test_keyboard_reaches_the_cells_and_shows_both_values(page):
    page.locator("#toy2026-table_1 h2 a").focus()
    for _ in range(9):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('td.v')"):
            break
    focused = page.locator("td.v:focus")
    assert focused.inner_text() == "0.301 ✓"
    assert "0.30142" in after(focused)
    page.keyboard.press("ArrowDown")
    assert spoken(page.locator("td.v:focus")) == "published 0.250, reproduced 0.210 ✗"
    assert "0.21" in after(page.locator("td.v:focus"))
    page.keyboard.press("ArrowRight")
    assert page.locator("td.v:focus").inner_text() == "M –"
    page.keyboard.press("ArrowUp")
    assert page.locator("td.v:focus").inner_text() == "S ✓"


def test_hover_reproduced_value(page):
    cell = page.locator("td.v.equal").first
    assert after(cell) == "none"
    cell.hover()
    assert "0.30142" in after(cell)
    unfold(page)
    surrogate = page.locator("td.v.surrogate").first
    surrogate.hover()
    for message in ("surrogate data: ", "0.31234", "published: 0.301; not compared: other data"):
        assert message in after(surrogate)
    marked = page.locator("td.v.within-tolerance").first
    aside = marked.locator(".aside").bounding_box()
    assert (aside["width"], aside["height"]) == (1, 1)  # only for those who cannot hover
    marked.hover()
    assert "0.5007; published marker: b<; reproduced marker: none" in after(marked)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_marks_and_contrast(browser, url, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.goto(url)
    grounds = set()
    for verdict, (mark, *_) in VERDICTS.items():
        for cell in page.locator(f"td.v.{verdict.replace(' ', '-')}").all():
            assert cell.inner_text().endswith(mark)
            ink, ground = cell.evaluate(
                "c => [getComputedStyle(c).color, getComputedStyle(c).backgroundColor]"
            )
            grounds.add(ground)
            assert contrast(ink, ground) >= 4.5
    assert len(grounds) == len(VERDICTS)
    page.close()


#: Colour of each text, and of the first ground below it that is not transparent.
COLOURS = """() => {
    document.querySelectorAll("details").forEach((box) => { box.open = true; });
    const texts = [...document.querySelectorAll("body *")].filter((element) =>
        !element.closest("svg, script") && [...element.childNodes].some((node) =>
            node.nodeType === 3 && node.textContent.trim()));
    const ground = (element) => {
        const colour = getComputedStyle(element).backgroundColor;
        return colour.startsWith("rgba") ? ground(element.parentElement) : colour;
    };
    const pairs = texts.map((text) => [getComputedStyle(text).color, ground(text)]);
    const field = document.querySelector("[type=search]");
    pairs.push([getComputedStyle(field, "::placeholder").color, ground(field)]);
    return [...new Set(pairs.map(String))];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrast(browser, url, overview_url, scheme):
    for address in (overview_url, url):
        page = browser.new_page(color_scheme=scheme)
        page.goto(address)
        pairs = [re.findall(r"rgb\([^)]*\)", pair) for pair in page.evaluate(COLOURS)]
        assert len(pairs) > 9
        assert [pair for pair in pairs if contrast(*pair) < 4.5] == []
        page.close()


def contrast(*colours):
    """Ratio of relative luminances, as in WCAG 2."""

    def luminance(colour):
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def test_points_contrast_on_a_dark_page():
    def rgb(colour):
        digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
        return f"rgb({', '.join(str(int(digits[at : at + 2], 16)) for at in (0, 2, 4))})"

    bars = [
        (tint.dark_bar or tint.bar)
        for name, tint in TINTS.items()
        if name in VERDICTS and name != "not run"
    ]
    assert min(contrast(rgb(bar), rgb(PAGE["ground"][1])) for bar in bars) >= 3


def test_phone_wide_table(browser, url, overview_url):
    for address, table, width in (
        (overview_url, ".scroll:has(.matrix)", 375),
        (url, "#toy2026-table_1 .scroll:has(.cells)", 280),
    ):
        page = browser.new_page(viewport={"width": width, "height": 700})
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        inner, outer = page.locator(table).first.evaluate(
            "box => [box.scrollWidth, box.clientWidth]"
        )
        assert inner > outer
        page.close()


def test_phone_wide_figure(browser, url):
    page = browser.new_page(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.goto(url)
    picture = page.locator("figure img").first
    picture.scroll_into_view_if_needed()
    draw = """async (image, width) => {
        image.src = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="90"/>`;
        await image.decode();
        return [image.clientWidth, image.parentElement.scrollWidth > image.parentElement.clientWidth];
    }"""  # noqa: E501
    assert picture.evaluate(draw, 1200) == [560, True]
    expect(picture.locator("xpath=..")).to_have_class("wide")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    width, scrolls = picture.evaluate(draw, 100)
    assert 100 <= width < 120 and not scrolls
    expect(picture.locator("xpath=..")).not_to_have_class("wide")
    # Ink of figures is dark, so they lie on white paper where the page is dark.
    ground = picture.evaluate("image => getComputedStyle(image).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    page.close()


def test_page_without_scripts(browser, url, overview_url):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(overview_url)
    assert not page.locator("#search").is_visible()
    assert page.locator(".row").count() == 4
    page.locator(".matrix th[scope=row] a").click()
    assert page.url == url
    assert [article.is_visible() for article in page.locator("article").all()] == [True] * 4
    assert not page.locator("#find").is_visible()
    assert spoken(page.locator("td.different")) == "published 0.250, reproduced 0.210 ✗"
    # The Tab key stops at cells that are different.
    assert page.locator("td.different").get_attribute("tabindex") == "0"
    context.close()


def test_permalink_of_a_folded_cell(browser, url):
    page = browser.new_page()
    page.goto(f"{url}#toy2026-table_1-embedded-1")
    expect(page.locator("#toy2026-table_1-embedded-1")).to_be_visible()
    expect(page.locator("#cell")).to_be_visible()
    page.close()


def test_print_fits_the_paper(page):
    """On A4 no table is wider than the paper, and marks are not written out."""
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    for table in page.locator("table").all():
        assert table.bounding_box()["width"] <= 718
    assert page.locator("td.v.within-tolerance .aside").bounding_box()["height"] < 5


def test_print_without_form_links_and_folded_parts(page):
    page.emulate_media(media="print")
    for name in ("#find", ".files", "article details:not([open], .folded)"):
        assert page.locator(name).count() > 0
        assert not any(one.is_visible() for one in page.locator(name).all())
    assert page.locator("#toy2026-table_1 table").first.is_visible()


def test_long_value_stays_in_its_cell(page):
    cell = page.locator("td.v.equal").first
    cell.evaluate("cell => cell.prepend('https://example.org/' + 'long-name/'.repeat(9))")
    assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth")


@pytest.mark.parametrize(
    ("side", "text"),
    [
        *(("right", number) for number in ("0.5", "-0.5 ± 0.1", "<0.001", "12 %")),
        *(("left", words) for words in ("Mistral 7B", "2 runs", "-")),
    ],
)
def test_published_numbers_align_right(browser, side, text):
    cell = page_environment().from_string(
        '{% from "macros.html.j2" import grid %}{{ grid(table, "a table") }}'
    )
    table = Grid([""], [("x",)], [("a",)], [("a",)], [[Cell(text)]])
    style = page_environment().get_template("page.css").render()
    page = browser.new_page()
    page.set_content(f"<style>{style}</style>{cell.render(table=table)}")
    alignment = page.locator("tbody td").evaluate("cell => getComputedStyle(cell).textAlign")
    page.close()
    assert alignment == side


def test_content_security_policy(browser, url):
    """As if some text had come through: its script, handler and pictures do nothing."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)

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
    assert page.evaluate("window.ran") is None and requests == []
    page.close()
    elsewhere.shutdown()
    elsewhere.server_close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_accessibility(browser, home, scheme):
    """Axe finds nothing, whatever its impact."""
    context = browser.new_context(bypass_csp=True, color_scheme=scheme)
    for path in (home / "index.html", *(home / "pages").glob("*.html")):
        page = context.new_page()
        page.goto(path.as_uri())
        if page.locator("td.v").count():
            page.locator("td.v[data-r]").first.click()
        violations = Axe().run(page).response["violations"]
        assert [(path.name, one["id"], one["nodes"][0]["html"]) for one in violations] == []
    context.close()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_panel_beside_its_cell(browser, url, size):
    page = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)))
    page.goto(url)
    unfold(page)
    for cell in page.locator("td.v[data-r]").all()[::5]:
        cell.scroll_into_view_if_needed()
        cell.click()
        one, other = cell.bounding_box(), page.locator("#cell").bounding_box()
        assert (
            other["x"] >= one["x"] + one["width"]
            or other["x"] + other["width"] <= one["x"]
            or other["y"] >= one["y"] + one["height"]
            or other["y"] + other["height"] <= one["y"]
        )
    page.close()
