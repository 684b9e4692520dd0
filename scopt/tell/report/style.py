"""The page's style sheet: light and dark by the reader's setting, nothing fetched from anywhere."""

STYLE = """\
:root { color-scheme: light dark;
  --paper: #fff; --ink: #1c2430; --dim: #677184; --rule: #d8dde6; --panel: #f5f7fa; --link: #1756b0;
  --good: #14713d; --goodback: #e3f4e9; --bad: #a03a10; --badback: #fcebe2;
  --note: #275a92; --noteback: #e6effa; --changed: #f1f7ff;
  --flow: #1756b0; --anti: #b4470d; --output: #7a3b9e; --reduction: #14713d;
  --t0: #dbe9fb; --t1: #fdeed8; --t2: #e2f3e3; --t3: #f4e3f3; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14181f; --ink: #dde3ec; --dim: #8f9bae; --rule: #333c4a; --panel: #1c222c; --link: #7fb2f5;
  --good: #6fd39a; --goodback: #16301f; --bad: #f2a070; --badback: #3a2015;
  --note: #8fbcf0; --noteback: #182a40; --changed: #18222f;
  --flow: #7fb2f5; --anti: #f2a070; --output: #cf9bea; --reduction: #6fd39a;
  --t0: #1f3350; --t1: #473420; --t2: #1e3b25; --t3: #402744; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1500px; padding: 1rem 1.5rem 4rem;
  background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
h3 { font-size: 1.05rem; }
a { color: var(--link); }
code, pre, svg text { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px; }
.dim, .id { color: var(--dim); }
.id { font-size: 11px; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid var(--rule); }
th { font-weight: 600; color: var(--dim); font-size: 0.85rem; }
.scroll { overflow-x: auto; }
.verdict { border-left: 4px solid var(--rule); padding: 0.3rem 0.8rem; margin: 0.5rem 0; background: var(--panel); }
.verdict.passed { border-color: var(--good); background: var(--goodback); }
.verdict.missed { border-color: var(--bad); background: var(--badback); }
.badge { display: inline-block; border-radius: 0.6rem; padding: 0 0.5rem; font-size: 0.8rem;
  background: var(--noteback); color: var(--note); }
.badge.good { background: var(--goodback); color: var(--good); }
.badge.plain { background: var(--panel); color: var(--dim); }
.code { border: 1px solid var(--rule); overflow-x: auto; }
.row { display: grid; grid-template-columns: minmax(30rem, 1fr) minmax(30rem, 1fr); }
.row pre { margin: 0; overflow-x: auto; line-height: 1.4; }
.row pre + pre { border-left: 1px solid var(--rule); }
.row.changed { background: var(--changed); }
.heads { position: sticky; top: 0; background: var(--panel); border-bottom: 1px solid var(--rule); font-weight: 600; }
.heads div { padding: 0.3rem 1rem; }
.l::before { content: attr(data-n); display: inline-block; width: 3.5em; padding-right: 1em; text-align: right;
  color: var(--dim); user-select: none; }
.l:target { background: var(--noteback); }
.fold { margin: 0; color: var(--dim); background: var(--panel); }
.fold > summary, p.fold { padding: 0 1rem; cursor: pointer; font-size: 0.85rem; }
.fold .row { background: var(--paper); color: var(--ink); }
.remark { display: block; margin: 1px 0 4px 4.5em; padding: 2px 8px; white-space: normal; max-width: 70ch;
  border-left: 3px solid var(--note); background: var(--noteback); font: 13px/1.4 system-ui, sans-serif; }
.remark.passed { border-color: var(--good); background: var(--goodback); }
.remark.missed { border-color: var(--bad); background: var(--badback); }
.hint { display: block; }
.hint::before { content: "→ "; }
.c { color: var(--dim); font-style: italic; }
.k { color: var(--output); }
.s { color: var(--good); }
.n { color: var(--anti); }
.p { color: var(--note); }
.tree, .tree ul { list-style: none; padding-left: 1.2rem; border-left: 1px solid var(--rule); margin: 0; }
.tree li { margin: 0.15rem 0; }
.tree .note { color: var(--dim); font-size: 0.85rem; display: block; padding-left: 1rem; }
.panels { display: flex; flex-wrap: wrap; gap: 2rem; }
.panels > * { flex: 1 1 30rem; min-width: 0; }
figure { margin: 0.5rem 0; flex: 0 1 auto !important; }
figcaption { font-size: 0.85rem; color: var(--dim); max-width: 34rem; }
svg { max-width: none; }
svg text { fill: var(--ink); }
svg .tick, svg .line { fill: var(--dim); font-size: 11px; }
svg .axis { font-size: 12px; }
svg circle { fill: var(--ink); }
.edge path { fill: none; stroke-width: 1.3; }
.edge text { font-size: 11px; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
.edge.flow path { stroke: var(--flow); }
.edge.flow polygon { fill: var(--flow); }
.edge.flow text { fill: var(--flow); }
.edge.indirect path { stroke: var(--flow); stroke-width: 0.8; opacity: 0.7; }
.edge.indirect polygon { fill: var(--flow); opacity: 0.7; }
.edge.anti path { stroke: var(--anti); stroke-dasharray: 5 3; }
.edge.anti polygon { fill: var(--anti); }
.edge.anti text { fill: var(--anti); }
.edge.output path { stroke: var(--output); stroke-dasharray: 2 3; }
.edge.output polygon { fill: var(--output); }
.edge.output text { fill: var(--output); }
.edge.reduction path { stroke: var(--reduction); stroke-dasharray: 8 3; }
.edge.reduction polygon { fill: var(--reduction); }
.edge.reduction text { fill: var(--reduction); }
.statement rect { fill: var(--panel); stroke: var(--dim); }
.statement .name { font-weight: 600; }
.statement text { font-size: 12px; }
.tile.t0 { fill: var(--t0); }
.tile.t1 { fill: var(--t1); }
.tile.t2 { fill: var(--t2); }
.tile.t3 { fill: var(--t3); }
.border { stroke: var(--ink); stroke-width: 1.5; fill: none; }
svg .wave { font-size: 17px; font-weight: 700; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
.key span { white-space: nowrap; margin-right: 1.2rem; }
@media print { .row { grid-template-columns: 1fr 1fr; } }
"""
