"""What a page says of one region: what happened, why, and the facts behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from scopt.remark_ids import known_ids
from scopt.tell.report.drawing import drawing_svg, notes, title
from scopt.tell.report.graph import graph_svg
from scopt.tell.report.source_page import decoded_name, place_html
from scopt.tell.results import RegionResult
from scopt.tell.view import Drawing, RegionView, TreeNode

_KINDS = {
    "flow": "the later one reads what the earlier one wrote",
    "anti": "the later one overwrites what the earlier one read",
    "output": "both write the same",
    "reduction": "updates that may change places",
}
_BADGES = {
    "parallel": "several threads share its iterations",
    "vector loop": "vector instructions compute several iterations at once",
}


def region_sections(number: int, region: RegionResult, name: str) -> Iterator[str]:
    """HTML about the number-th region of the file of that name."""
    where = place_html(region.location, name)
    yield f'<h2 id="region-{number}">Region {number}: <code>{_text(region.function)}</code>, {where}</h2>'
    yield from (_left_alone(region, name) if not region.transformed else _happened(region))
    assumed = [remark for remark in region.remarks if remark.kind == "analysis"]
    if assumed:
        known = known_ids()
        yield "<h3>What was assumed and found</h3><ul>"
        for remark in assumed:
            meaning = known[remark.id].meaning if remark.id in known else ""
            yield (
                f'<li>{_text(remark.message)} <span class="dim">{_text(meaning)}</span> '
                f'<span class="id">{_text(remark.id)}</span></li>'
            )
        yield "</ul>"
    if region.view is not None:
        yield from _facts(region.view)
    elif region.transformed:
        yield "<p>The facts behind it could not be gathered. Please report this with the input.</p>"


def _left_alone(region: RegionResult, name: str) -> Iterator[str]:
    """Why nothing was changed, and what to do about it."""
    known = known_ids()
    for remark in region.remarks:
        if remark.kind == "missed":
            meaning = f" {_text(known[remark.id].meaning)}" if remark.id in known else ""
            hint = f"<br><strong>What you can do:</strong> {_text(remark.hint)}." if remark.hint else ""
            place = place_html(remark.location, name)
            said = f"<strong>Left as it was,</strong> because of {place}: {_text(remark.message)}."
            yield f'<p class="verdict missed">{said}{meaning}{hint} <span class="id">{_text(remark.id)}</span></p>'


def _happened(region: RegionResult) -> Iterator[str]:
    """In words that need no other knowledge: what the loops got, and what they did not and why."""
    for remark in region.remarks:
        if remark.kind == "passed":
            yield f'<p class="verdict passed">{_text(remark.message)} <span class="id">{_text(remark.id)}</span></p>'
    lines = []
    for gain in region.gains:
        place = f"The loop over <code>{_text(gain.iterator)}</code> in line {gain.location.line}"
        if gain.got:
            ways = {
                "parallel": "runs on several threads",
                "vector": "computes several iterations at once with vector instructions",
            }
            lines.append(f"{place} {' and '.join(ways[what] for what in gain.got)}.")
        else:
            lines.append(f"{place} runs in one thread, one iteration after the other.")
    if region.view is not None:
        if not any("parallel" in gain.got for gain in region.gains):
            lines += [
                f"No outermost loop is parallel: {_text(node.title)} {_text(note)}."
                for node in region.view.before
                for note in _reasons(node)
            ]
        titles = [node.title for node in _all(region.view.after)]
        if any("tiles of" in text for text in titles):
            lines.append(
                "Its iterations run tile by tile, so that the data of a tile is "
                "still in the cache when it is used again."
            )
        if any(text.startswith("wavefront of") for text in titles):
            lines.append("Tiles run in wavefronts: those of one wavefront don't wait for each other.")
        if any(text.startswith("register tile") for text in titles):
            lines.append("Operands are packed, and small blocks of results stay in registers.")
        lines += [_text(line[0].upper() + line[1:]) + "." for line in region.view.regrouped]
    yield f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


def _reasons(node: TreeNode) -> tuple[str, ...]:
    """What the outermost dimension carries, and an example of two instances that it keeps in order."""
    return tuple(note for note in node.notes if note.startswith(("carries", "e.g.")))


def _facts(view: RegionView) -> Iterator[str]:
    yield "<h3>Statements</h3>"
    if view.parameters:
        yield f"<p>Parameters, whose values are not known: <code>{_text(', '.join(view.parameters))}</code>.</p>"
    rows = [(s.name, str(s.line), s.around, s.text) for s in view.statements]
    yield from _table(("", "Line", "Loops around it", "Text"), rows)
    yield f"<ul>{''.join(f'<li>{_text(line)}</li>' for line in view.arrays)}</ul>"
    yield "<h3>Dependences: what has to wait for what</h3>"
    if view.dependences:
        yield _key()
        if view.edges and view.statements:
            yield f'<div class="scroll">{graph_svg(view.statements, view.edges)}</div>'
        yield "<details><summary>As a list</summary>"
        rows5 = [
            (d.between, d.kinds, d.array, d.carried, d.distance.removeprefix("distance ")) for d in view.dependences
        ]
        yield from _table(
            ("From → to", "Kind", "Over", "Which loop has to stay in order for it", "Iterations in between, by loop"),
            rows5,
        )
        yield "</details>"
    else:
        yield "<p>None: all iterations are independent of each other.</p>"
    if view.reuse:
        yield f"<p>Uses of private cells may change places, but not overlap: {_text(', '.join(view.reuse))}.</p>"
    yield from _drawn(view.drawings)
    yield from _trees(view)
    if view.left_out:
        yield f"<p>Too large to be shown here: {_text('; '.join(view.left_out))}.</p>"


def _key() -> str:
    """What the edges' colours mean."""
    line = '<svg width="30" height="10" aria-hidden="true"><path d="M0,5 h30"/></svg>'
    kinds = "".join(f'<span class="edge {kind}">{line} {kind}: {text}</span> ' for kind, text in _KINDS.items())
    return f'<p class="key">{kinds}</p>'


def _drawn(drawings: Sequence[Drawing]) -> Iterator[str]:
    if not drawings:
        return
    yield "<h3>Iterations</h3>"
    yield (
        "<p>A dot is an iteration, an arrow leads to one that has to wait for it. The "
        "original loops run through the dots as one reads: line by line, from left to "
        "right. Parameters have small values here, chosen for these drawings.</p>"
    )
    yield '<div class="panels">'
    for drawing in drawings:
        said = " ".join(_text(sentence) for sentence in (f"{title(drawing)}.", *notes(drawing)))
        yield f'<figure><div class="scroll">{drawing_svg(drawing)}</div><figcaption>{said}</figcaption></figure>'
    yield "</div>"


def _trees(view: RegionView) -> Iterator[str]:
    if not (view.before or view.after):
        return
    yield "<h3>The order of execution</h3>"
    yield (
        "<p>Loops, each inside of the one that it is indented below. Left: what the scheduler computed from the "
        "dependences. Right: what became of it, with tiles, parallel and vector loops; this is what is written.</p>"
    )
    yield '<div class="panels">'
    yield f"<div><h4>Before tiling</h4>{_tree(view.before) or '<p>not shown</p>'}</div>"
    yield f"<div><h4>In the result</h4>{_tree(view.after) or '<p>not shown</p>'}</div></div>"


def _tree(nodes: Sequence[TreeNode]) -> str:
    if not nodes:
        return ""
    return f'<ul class="tree">{"".join(_node(node) for node in nodes)}</ul>'


def _node(node: TreeNode) -> str:
    badges = "".join(
        f' <span class="badge {_look(text)}" title="{_text(_BADGES.get(text, ""))}">{_text(text)}</span>'
        for text in node.badges
    )
    said = "".join(f'<span class="note">{_text(note)}</span>' for note in node.notes)
    return f"<li><code>{_text(node.title)}</code>{badges}{said}{_tree(node.children)}</li>"


def _look(badge: str) -> str:
    return "good" if badge.startswith(("parallel", "vector")) else "plain"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f'<div class="scroll"><table><tr>{"".join(f"<th>{_text(head)}</th>" for head in heads)}</tr>'
    for row in rows:
        yield f"<tr>{''.join(f'<td><code>{_text(cell)}</code></td>' for cell in row)}</tr>"
    yield "</table></div>"


def _all(nodes: Sequence[TreeNode]) -> Iterator[TreeNode]:
    for node in nodes:
        yield node
        yield from _all(node.children)


def _text(text: str) -> str:
    return escape(decoded_name(text))
