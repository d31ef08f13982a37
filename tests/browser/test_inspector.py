"""The inspector in a real browser: what a reader clicks, types and sees."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import quire

playwright = pytest.importorskip("playwright.sync_api", reason="make test-web installs it")
expect = playwright.expect


ROOT = Path(__file__).parents[2]
RELAY = "#doc=docs/relay.md&s=packed&max_tokens=128"


def text_of(folder: Path, name: str) -> str:
    return (folder / "docs" / name).read_bytes().decode()


def bands(page: Any) -> int:
    return page.locator(".band").count()


def wait_for_bands(page: Any, number: int) -> None:
    expect(page.locator(".band")).to_have_count(number)


def wait_for_title(page: Any, title: str) -> None:
    expect(page.locator("h1")).to_have_text(title)


def wait_for_address(page: Any, part: str) -> None:
    expect(page).to_have_url(re.compile(re.escape(part)))


def wait_for_record(page: Any) -> dict[str, Any]:
    expect(page.locator(".record")).to_have_text(re.compile(r"^\{"))
    return json.loads(page.locator(".record").text_content())


def chosen(page: Any) -> int:
    return int(page.locator(".band.chosen .no").text_content().removeprefix("Chunk "))


def test_the_first_document_opens_with_its_chunks(open_page, folder) -> None:
    page = open_page("#doc=docs/relay.md")
    assert page.title() == "Relay · quire"
    assert page.locator("h1").inner_text() == "Relay"
    assert bands(page) == len(quire.chunk(text_of(folder, "relay.md"), path="relay.md"))
    lines = page.evaluate("[...document.querySelectorAll('.line')].map(line => line.textContent)")
    source = text_of(folder, "relay.md").splitlines()
    assert [line for line in lines if line] == [line for line in source if line]


def test_another_strategy_redraws_the_bands(open_page, folder) -> None:
    page = open_page(RELAY)
    for strategy in ("flow", "sections", "tree", "packed"):
        page.get_by_role("radio", name=strategy).check()
        wait_for_bands(page, len(quire.chunk(text_of(folder, "relay.md"), strategy, path="relay.md")))
        wait_for_address(page, f"s={strategy}")


@pytest.mark.parametrize("name", ["relay.md", "hostile.md", "guides/wide.md"])
@pytest.mark.parametrize("strategy", ["packed", "flow", "tree"])
def test_a_chunk_shows_its_text_and_record(open_page, folder, name, strategy) -> None:
    text = text_of(folder, name)
    options = {"packed": {"max_tokens": 64}, "flow": {"max_tokens": 64}, "tree": {}}[strategy]
    chunks = quire.chunk(text, strategy, path=name, **options)
    given = "".join(f"&{option}={value}" for option, value in options.items())
    page = open_page(f"#doc=docs/{name}&s={strategy}{given}")
    for index, chunk in enumerate(chunks):
        page.locator(".band").nth(index).locator(".label").click()
        expect(page.locator("#chunk h2")).to_have_text(re.compile(rf"^Chunk {index} "))
        assert page.locator(".embed").text_content() == chunk.embed_text
        assert wait_for_record(page) == chunk.to_dict()
        place = chunk.source_position
        drawn = page.locator(".band").nth(index).locator(".line").all_text_contents()
        assert drawn == text[place.char_start : place.char_end].splitlines()


def test_a_changed_option_redraws_the_bands_and_an_impossible_one_is_explained(open_page, folder) -> None:
    page = open_page(RELAY)
    text = text_of(folder, "relay.md")
    page.get_by_label("Cap", exact=True).fill("64")
    wait_for_bands(page, len(quire.chunk(text, path="relay.md", max_tokens=64)))
    expect(page.locator(".key.cap")).to_have_text("cap 64")
    assert "--max-tokens 64" in page.locator(".command code").inner_text()
    page.get_by_label("Cap", exact=True).fill("3")
    page.locator(".problem").wait_for()
    assert "at least 32" in page.locator(".problem").inner_text()
    page.get_by_label("Cap", exact=True).fill("1024")
    page.locator(".problem").wait_for(state="detached")
    page.get_by_role("slider", name="Cap").fill("70")
    wait_for_bands(page, len(quire.chunk(text, path="relay.md", max_tokens=70)))
    page.get_by_role("button", name="Back to the defaults").click()
    wait_for_bands(page, len(quire.chunk(text, path="relay.md")))


def test_the_laws_are_checked(open_page) -> None:
    page = open_page(RELAY)
    page.locator(".laws .ok").wait_for()
    assert "Nothing lost" in page.locator(".laws").inner_text()


def test_the_pointer_shows_what_a_chunk_is(open_page) -> None:
    page = open_page(RELAY)
    page.locator(".band").nth(1).scroll_into_view_if_needed()
    page.locator(".band").nth(1).hover(position={"x": 200, "y": 60})
    page.locator(".band").nth(1).hover(position={"x": 210, "y": 62})
    page.locator("#card:not([hidden])").wait_for()
    card = page.locator("#card").inner_text()
    assert "Relay › Configure" in card
    assert "123 of at most 128" in card
    assert "lines 23–32" in card
    assert "breadcrumb" in card


def test_a_finding_leads_to_its_line(open_page, folder) -> None:
    page = open_page("#doc=docs/guides/findings.md&s=sections")
    findings = quire.chunk(text_of(folder, "guides/findings.md"), "sections", path="findings.md").findings
    assert findings
    assert page.locator(".findings li").count() == len(findings)
    page.locator(".findings .jump").last.click()
    assert page.locator(".line.flash").get_attribute("data-n") == str(findings[-1].line)
    assert page.locator(".line.flash").evaluate("line => line.getBoundingClientRect().top") < 800
    expect(page.locator(".laws")).to_contain_text("Nothing lost, nothing altered.")  # a block is over the cap


def test_search_shows_hits_with_reasons_and_leads_to_the_words(open_page, folder) -> None:
    page = open_page(RELAY)
    page.keyboard.press("/")
    page.keyboard.type("how often is a hook sent")
    page.keyboard.press("Enter")
    page.locator(".hit").first.wait_for()
    first = page.locator(".hit").first
    assert first.locator("mark").count() > 0
    assert first.locator(".headings .result").count() == 1
    reasons = first.locator(".reasons").inner_text()
    assert "adds" in reasons
    assert "best score" in reasons
    first.locator("h2 a").click()
    page.locator(".line.flash").wait_for()
    assert page.locator(".band mark").count() > 0
    assert "hook" in {word.lower().rstrip("s") for word in page.locator("mark").all_text_contents()}
    page.go_back()
    page.locator(".hit").first.wait_for()


def test_two_strategies_side_by_side(open_page, folder) -> None:
    page = open_page(RELAY)
    page.get_by_role("button", name="Compare").click()
    page.locator(".row").first.wait_for()
    text = text_of(folder, "relay.md")
    sides = [quire.chunk(text, path="relay.md", max_tokens=128), quire.chunk(text, "flow", path="relay.md")]
    starts = [{chunk.source_position.char_start for chunk in chunks} for chunks in sides]
    summary = page.locator(".cuts").inner_text()
    assert f"{len(starts[0] - starts[1])} only in packed" in summary
    assert f"{len(starts[1] - starts[0])} only in flow" in summary
    assert page.locator(".row.only-a").count() == len(starts[0] - starts[1])
    assert page.locator(".rail .differs").count() == page.locator(".row.only-a, .row.only-b").count()
    page.get_by_role("radio", name="tree").check()
    wait_for_address(page, "b=tree")
    page.locator("button.rail[data-side='1']").last.click()
    expect(page.locator("#chunk h2")).to_contain_text("tree")
    page.keyboard.press("c")
    page.locator(".band").first.wait_for()


def test_pasted_and_dropped_markdown_is_cut(open_page) -> None:
    page = open_page(RELAY)
    text = "# Mine 🦊\n\nFirst.\n\n## Second\n\nMore.\n"
    page.get_by_role("button", name="Paste").click()
    page.locator("#pasted").fill(text)
    page.get_by_role("button", name="Cut it").click()
    wait_for_title(page, "Mine 🦊")
    page.wait_for_selector(".band .label")
    drop = """text => {
      const data = new DataTransfer();
      data.items.add(new File([text], 'dropped.md'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }));
    }"""
    dropped = "# Dropped\n\nText.\n\n# Again\n\nText.\n"
    page.evaluate(drop, dropped)
    wait_for_title(page, "Dropped")
    page.keyboard.press("4")
    wait_for_bands(page, len(quire.chunk(dropped, "tree", path="dropped.md")))


def test_an_address_brings_everything_back(open_page) -> None:
    page = open_page("#doc=docs/relay.md&s=flow&max_tokens=100&overlap_sentences=0&chunk=2")
    page.locator(".band.chosen").wait_for()
    assert chosen(page) == 2
    page.get_by_role("tab", name="Options").click()
    assert page.get_by_role("radio", name="flow").is_checked()
    assert page.get_by_label("Cap", exact=True).input_value() == "100"
    copied = page.url
    again = open_page(address=copied)
    again.locator(".band.chosen").wait_for()
    assert again.url == copied


def test_an_address_with_a_query_marks_its_words(open_page) -> None:
    page = open_page("#doc=docs/relay.md&q=receiver+timeout")
    expect(page.locator(".band mark").first).to_be_visible()
    assert page.get_by_role("link", name="Results for").is_visible()


def test_dark_and_light(open_page) -> None:
    paper = "getComputedStyle(document.body.parentElement).backgroundColor"
    light = open_page(RELAY, color_scheme="light")
    dark = open_page(RELAY, color_scheme="dark")
    colours = [light.evaluate(paper), dark.evaluate(paper)]
    assert colours[0] != colours[1]
    light.get_by_role("button", name="Dark or light").click()
    assert light.evaluate(paper) == colours[1]
    light.reload()
    light.wait_for_selector(".band .label")
    assert light.evaluate(paper) == colours[1]


def test_on_a_phone_one_pane_is_shown_and_nothing_is_cut_off(open_page) -> None:
    page = open_page(RELAY, viewport={"width": 375, "height": 700}, has_touch=True, is_mobile=True)
    wide = "document.documentElement.scrollWidth > 375 || document.querySelector('main').scrollWidth > document.querySelector('main').clientWidth"
    assert not page.evaluate(wide)
    panes = page.get_by_role("navigation", name="Panes")
    panes.get_by_role("button", name="Options").click()
    assert page.get_by_role("radio", name="flow").is_visible()
    assert not page.locator("main").is_visible()
    panes.get_by_role("button", name="Documents").click()
    page.get_by_role("link", name="hostile.md").click()
    wait_for_title(page, "title")
    page.wait_for_selector(".band .label")
    page.locator(".band .label").first.tap()
    page.locator("#chunk:not([hidden]) h2").wait_for()
    panes.get_by_role("button", name="Text").click()
    page.get_by_role("button", name="Compare").click()
    page.locator(".row").first.wait_for()
    assert not page.evaluate(wide)


def test_keyboard_only(open_page) -> None:
    page = open_page(RELAY)
    focused = "document.activeElement.textContent"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "Skip to the document"
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert chosen(page) == 1
    assert page.evaluate(focused) == "Chunk 1Relay › Configure+ breadcrumb123 tokens, lines 23–32"
    page.keyboard.press("Enter")
    assert page.locator("#chunk").is_visible()
    page.keyboard.press("k")
    assert chosen(page) == 0
    page.keyboard.press("Escape")
    assert page.locator("#options").is_visible()
    page.keyboard.press("3")
    wait_for_address(page, "s=sections")
    page.keyboard.press("f")
    page.keyboard.type("wide")
    page.get_by_role("link", name="docs/guides/wide.md").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_title(page, "Wide 🦊")
    page.keyboard.press("c")
    page.locator(".row").first.wait_for()
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    for _ in range(60):  # every control can be reached
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "o-tokenizer":
            break
    assert page.evaluate("document.activeElement.id") == "o-tokenizer"


def test_keys_work_at_once_after_a_dialog_is_closed(open_page) -> None:
    page = open_page(RELAY)
    page.keyboard.press("v")
    # Within one task: until the next frame, the focus is in the field of the closed dialog.
    is_open = page.evaluate("""() => {
      document.getElementById('paste-dialog').close();
      const key = new KeyboardEvent('keydown', { key: '?', bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(key);
      return document.getElementById('help-dialog').open && key.defaultPrevented;
    }""")
    assert is_open


def test_the_tree_opens_folders_and_marks_the_document(open_page) -> None:
    page = open_page("#doc=docs/guides/long.md")
    expect(page.locator("[aria-current=page]")).to_have_text("long.md")
    page.get_by_role("button", name="guides").click()
    assert not page.get_by_role("link", name="long.md").is_visible()
    page.get_by_role("link", name="relay.md").click()
    wait_for_title(page, "Relay")
    expect(page.locator("[aria-current=page]")).to_have_text("relay.md")


def test_odd_documents(open_page) -> None:
    page = open_page("#doc=docs/guides/empty.md", ready=".summary")
    expect(page.locator(".summary")).to_have_text("0 chunks, 0 tokens to embed")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".compared")).to_contain_text("0 chunks the same")
    page.get_by_role("link", name="blank.md").click()
    expect(page.locator(".meta")).to_contain_text("blank.md · 3 lines")
    page.get_by_role("link", name="odd").click()
    wait_for_title(page, "Odd")
    page.reload()
    wait_for_title(page, "Odd")
    expect(page.locator("[aria-current=page]")).to_have_text('odd "name" <i>&#%3f?.md')


def test_a_line_of_a_megabyte(open_page, folder) -> None:
    page = open_page("#doc=docs/guides/one-line.md")
    text = text_of(folder, "guides/one-line.md")
    wait_for_bands(page, len(quire.chunk(text, path="one-line.md")))
    page.get_by_role("radio", name="tree").check()
    wait_for_bands(page, 1)
    assert page.locator(".band .line").text_content() == text.rstrip()


def test_a_long_document_keeps_the_readers_place(open_page, folder) -> None:
    page = open_page("#doc=docs/guides/long.md&s=packed&max_tokens=1024")
    page.locator(".line", has_text="Part 30").scroll_into_view_if_needed()
    top = """async () => {
      for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);  // heights settle
      const edge = document.querySelector('main').getBoundingClientRect().top + 8;
      return [...document.querySelectorAll('.line')].find(line => line.getBoundingClientRect().bottom > edge).dataset.n;
    }"""
    before = int(page.evaluate(top))
    assert before > 20
    page.get_by_role("radio", name="tree").check()
    wait_for_bands(page, len(quire.chunk(text_of(folder, "guides/long.md"), "tree", path="long.md")))
    assert abs(int(page.evaluate(top)) - before) <= 1


def test_of_a_very_long_document_the_view_comes_first(open_page, folder) -> None:
    # ``expect`` describes the whole page at every try while its element is missing, which makes the browser lay out
    # all 2,500 chunks each time. So the elements are waited for first.
    page = open_page("#doc=docs/relay.md")
    held = []

    def is_whole(request: Any) -> bool:
        return request.url.endswith("api/cut") and "near" not in request.post_data_json

    page.route("**/api/cut", lambda route: held.append(route) if is_whole(route.request) else route.continue_())
    with page.expect_request(is_whole):
        page.evaluate("location.hash = '#doc=docs/guides/very-long.md&s=packed&max_tokens=64&line=5001'")
    page.locator(".line.flash").wait_for()
    expect(page.locator(".line.flash")).to_have_text("## Part 1250 🦊")
    expect(page.locator(".summary")).to_have_text("Counting …")
    text = text_of(folder, "guides/very-long.md")
    chunks = quire.chunk(text, path="guides/very-long.md", max_tokens=64)
    drawn = page.locator(".band").count()
    assert 10 < drawn < len(chunks) / 4
    band = page.locator(".band", has_text="Part 1250").first
    lines = band.locator(".line").all_text_contents()
    band.locator(".label").click()
    held.pop().continue_()
    wait_for_bands(page, len(chunks))
    assert page.locator(".band.chosen .line").all_text_contents() == lines
    assert wait_for_record(page) == chunks[chosen(page)].to_dict()
    expect(page.locator(".summary")).to_contain_text(f"{len(chunks):,} chunks")
    page.unroute("**/api/cut")
    page.keyboard.press("c")
    page.locator(".row").first.wait_for()
    page.locator(".cuts").wait_for()
    expect(page.locator(".cuts")).to_contain_text("only in flow")


def test_a_file_that_changes_is_read_again(open_page, folder) -> None:
    file = folder / "docs" / "guides" / "changing.md"
    file.write_text("# Before\n\nText.\n")
    page = open_page("#doc=docs/guides/long.md")
    page.reload()
    page.wait_for_selector(".band .label")
    page.evaluate("location.hash = '#doc=docs/guides/changing.md'")
    wait_for_title(page, "Before")
    file.write_text("# After\n\nText.\n")
    page.keyboard.press("4")
    wait_for_title(page, "After")
    file.unlink()


@pytest.mark.parametrize("place", ["#doc=docs/hostile.md", "#doc=docs/hostile.md&s=tree&b=flow", "#q=hurt+title"])
def test_a_hostile_document_is_only_text(open_page, folder, place) -> None:
    page = open_page(place, ready=".hit" if "q=" in place else ".line")
    page.wait_for_selector(".hit" if "q=" in place else ".band .label, .rail")
    for label in page.locator(".band .label, button.rail").all():
        label.click()
    assert page.evaluate("window.hurt") is None
    made = "document.querySelectorAll('main :is(img, script, iframe, style, base, link, form, svg, details[ontoggle]), main [onerror], main [onload]').length"
    assert page.evaluate(made) == 0
    if "q=" not in place:
        assert HOSTILE_LINE in page.locator("main").inner_text()


HOSTILE_LINE = "<script>window.hurt = 2</script>"


def test_an_exported_page_needs_no_server(open_page, folder, tmp_path) -> None:
    from quire.cli import main  # noqa: PLC0415

    page_file = tmp_path / "page.html"
    for name in ("relay.md", "hostile.md"):
        assert main(["web", "--export", str(page_file), str(folder / "docs" / name), "--max-tokens", "64"]) == 0
        page = open_page(address=page_file.as_uri())
        text = text_of(folder, name)
        chunks = quire.chunk(text, path=name, max_tokens=64)
        wait_for_bands(page, len(chunks))
        page.locator(".band .label").last.click()
        assert wait_for_record(page) == chunks[-1].to_dict()
        page.keyboard.press("Escape")
        page.get_by_role("radio", name="tree").check()
        wait_for_bands(page, len(quire.chunk(text, "tree", path=name)))
        page.locator(".laws .ok").wait_for()
        assert page.evaluate("window.hurt") is None


VIEWS = {
    "document": (RELAY, ".laws .ok"),
    "chunk": (f"{RELAY}&chunk=2", ".embed"),
    "comparison": (f"{RELAY}&b=flow", ".laws .ok"),
    "findings": ("#doc=docs/guides/findings.md&s=sections", ".findings .jump"),
    "search": ("#q=hook+receiver", ".hit"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("view", VIEWS)
def test_names_and_contrast(open_page, axe, view, scheme, width) -> None:
    place, ready = VIEWS[view]
    page = open_page(place, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True, ready="")
    page.wait_for_selector(ready, state="attached")
    assert violations(page, axe) == []
    if width == 375 and view != "search":
        page.locator(".panes [data-pane=panel]").click()
        assert violations(page, axe, without=("landmark-one-main", "page-has-heading-one")) == []  # main is hidden


def test_names_and_contrast_of_dialogs(open_page, axe) -> None:
    page = open_page(RELAY, bypass_csp=True)
    page.keyboard.press("v")
    page.locator("#paste-dialog").wait_for()
    assert violations(page, axe) == []
    page.keyboard.press("Escape")
    page.locator("#paste-dialog").wait_for(state="hidden")
    page.keyboard.press("?")
    page.locator("#help-dialog").wait_for()
    assert violations(page, axe) == []


def violations(page: Any, axe: str, without: tuple[str, ...] = ()) -> list[str]:
    """What axe-core finds, with the elements."""
    page.evaluate(f"() => {{ {axe} }}")
    rules = {name: {"enabled": False} for name in without}
    found = page.evaluate("rules => axe.run(document, { resultTypes: ['violations'], rules })", rules)["violations"]
    return [
        f"{each['id']}: {node['html'][:160]} {node['failureSummary'][:300]}" for each in found for node in each["nodes"]
    ]


def test_pictures_for_the_documentation(open_page, docs_server, tmp_path) -> None:
    """Taken each time; written to docs/images/ only if QUIRE_UPDATE_DOCS is set."""
    image = pytest.importorskip("PIL.Image")
    target = ROOT / "docs" / "images" if "QUIRE_UPDATE_DOCS" in os.environ else tmp_path
    target.mkdir(exist_ok=True)
    size = {"width": 1280, "height": 760}
    guide, address = "#doc=docs/strategies/guide.md&s=packed&max_tokens=128", docs_server.address
    light = open_page(f"{guide}&chunk=3", address=address, viewport=size)
    light.wait_for_selector(".embed")
    compared = f"{guide}&b=flow&b.max_tokens=128"
    dark = open_page(compared, address=address, viewport=size, color_scheme="dark", ready=".row")
    dark.wait_for_selector(".laws .ok", state="attached")
    dark.evaluate("document.querySelector('main').scrollTop = 380")
    for page, name in ((light, "inspector.png"), (dark, "inspector-compare.png")):
        picture = image.open(io.BytesIO(page.screenshot()))
        picture.convert("RGB").quantize(128).save(target / name, optimize=True)
        assert 10_000 < (target / name).stat().st_size < 100_000
