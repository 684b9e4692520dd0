"""One self-contained page about one file: no network, no scripts, the same bytes for the same input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from scopt.diagnostics import Remark
from scopt.remark_ids import known_ids
from scopt.tell.report.region_page import region_sections
from scopt.tell.report.source_page import decoded_name, place_html, side_by_side
from scopt.tell.report.style import STYLE
from scopt.tell.results import RegionResult, Result
from scopt.tell.wording import some
from scopt.version import __version__

# Regions that are shown in detail; the rest are in the table.
MAX_REGIONS = 40

_INTRODUCTION = """\
<p>scopt looks for loops in which it is known, before the program runs, which iteration reads and writes which array
elements. From that it computes which iterations have to wait for which others (<em>dependences</em>), and puts the
iterations into another order that keeps all of these: in <em>tiles</em>, so that data is used again while it is in the
cache; in <em>parallel</em> loops for several threads; and with an innermost loop for <em>vector</em> instructions. The
results stay the same. Where it isn't sure, it leaves the loop alone, and says why.</p>
"""


def page(source: bytes, result: Result, name: str) -> bytes:
    """The page in UTF-8. source: the input; result: of `optimize`, with `Options.report`;
    name: the file's, as the user gave it."""
    shown = escape(decoded_name(name))
    regions = _in_order(result.regions)
    body = [
        f"<h1>{shown}</h1>",
        f"<p>{escape(_summary(result))}</p>",
        _INTRODUCTION,
        *_overview(regions),
        *_elsewhere(result, name),
        '<h2 id="source">Before and after</h2>',
        (
            "<p>The file on the left, what scopt made of it on the right. Coloured rows differ; "
            "everything else is the same, byte for byte.</p>"
        ),
        '<div class="code"><div class="row heads"><div>Source</div><div>Result</div></div>',
        *side_by_side(source, result.text, result.pieces, _by_line(result.remarks, name), _anchors(result, name)),
        "</div>",
    ]
    for number, region in enumerate(regions[:MAX_REGIONS], 1):
        body += region_sections(number, region, name)
    if len(regions) > MAX_REGIONS:
        body.append(f"<p>{len(regions) - MAX_REGIONS} more regions are only listed above.</p>")
    body.append(f'<p class="dim">Written by scopt {__version__}.</p>')
    head = (
        f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{shown} – scopt</title>\n<style>\n{STYLE}</style>"
    )
    text = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n'
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )
    return text.encode("utf-8", "replace")


def _in_order(regions: Iterable[RegionResult]) -> list[RegionResult]:
    return sorted(regions, key=lambda region: region.location)


def _summary(result: Result) -> str:
    done = sum(region.transformed for region in result.regions)
    if not result.regions:
        return "No region was found: nothing was changed."
    return f"{some(len(result.regions), 'region')} found: {done} transformed, {len(result.regions) - done} left alone."


def _overview(regions: Sequence[RegionResult]) -> Iterator[str]:
    if not regions:
        return
    yield '<div class="scroll"><table><tr><th>Region</th><th>Function</th><th>Line</th><th>What became of it</th></tr>'
    for number, region in enumerate(regions, 1):
        link = f'<a href="#region-{number}">{number}</a>' if number <= MAX_REGIONS else str(number)
        line = f'<a href="#line-{region.location.line}">{region.location.line}</a>'
        said = [r for r in region.remarks if r.kind == ("passed" if region.transformed else "missed")]
        text = "; ".join(escape(decoded_name(remark.message)) for remark in said) or "left as it was"
        look, what = ("good", "transformed") if region.transformed else ("plain", "left alone")
        badge = f'<span class="badge {look}">{what}</span>'
        function = f"<code>{escape(decoded_name(region.function))}</code>"
        yield f"<tr><td>{link}</td><td>{function}</td><td>{line}</td><td>{badge} {text}</td></tr>"
    yield "</table></div>"


def _elsewhere(result: Result, name: str) -> Iterator[str]:
    """Remarks on what is no region."""
    told = {remark for region in result.regions for remark in region.remarks}
    others = [remark for remark in result.remarks if remark not in told]
    if not others:
        return
    yield "<h2>Loops that are in no region</h2>"
    yield '<div class="scroll"><table><tr><th>Place</th><th>What stood in the way</th><th>What to do</th></tr>'
    known = known_ids()
    for remark in others:
        place = place_html(remark.location, name)
        meaning = known[remark.id].meaning if remark.id in known else ""
        about = f'{escape(decoded_name(remark.message))}<br><span class="dim">{escape(meaning)}</span>'
        about += f' <span class="id">{escape(remark.id)}</span>'
        yield f"<tr><td>{place}</td><td>{about}</td><td>{escape(remark.hint)}</td></tr>"
    yield "</table></div>"


def _by_line(remarks: Iterable[Remark], name: str) -> dict[int, list[Remark]]:
    """Those about the page's own file."""
    found: dict[int, list[Remark]] = {}
    for remark in (one for one in remarks if one.location.file == name):
        found.setdefault(remark.location.line, []).append(remark)
    return found


def _anchors(result: Result, name: str) -> dict[int, str]:
    """Ids of the lines that something links to."""
    places = (*(region.location for region in result.regions), *(remark.location for remark in result.remarks))
    return {place.line: f"line-{place.line}" for place in places if place.file == name}
