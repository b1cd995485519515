"""A small built site.

Two chapters, the page that opens the handbook, a glossary, and a page of references.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

from scripts.website.book.document import Facts
from scripts.website.book.making import joined
from scripts.website.book.parts import BookPart

CHAPTERS = ["handbook/one/", "handbook/two/"]
KNOWN = Facts(
    title="flopbook: the handbook",
    subtitle="A reference & more",
    author="The contributors",
    rights="CC-BY-4.0",
    version="1.2.3",
    read=date(2026, 11, 21),
)
LINK = '<a class="headerlink" href="#{0}" title="Permanent link to this section">#</a>'
SVG = (
    '<figure class="fb-figure fb-chart fb-has-slim" id="fig-x"><div class="fb-chart-head">'
    '<p class="fb-says">What it says</p><details class="fb-menu"><summary></summary><ul><li>'
    '<a href="../../assets/figures/x.py.txt">Code of this figure</a></li></ul></details></div>'
    '<div class="fb-plotted" tabindex="0" role="group" aria-label="X"><div class="fb-wide">'
    '<svg viewBox="0 0 640 200" role="img" class="fb-svg fb-drawn" aria-labelledby="fig-x-t">'
    '<title id="fig-x-t">X</title>'
    '<rect class="fb-c0" x="1" y="1" width="9" height="9"/><rect class="fb-hollow" x="1" y="1" '
    'width="9" height="9"/>'
    '<text class="fb-on0" x="2" y="8">a</text></svg></div><div class="fb-slim"><svg></svg></div>'
    "</div><figcaption>What it shows.</figcaption></figure>"
)
MATHS = '<math display="{0}" alttext="a"><mi>a</mi></math>'
FORM = (
    '<div class="fb-calculator" data-calculator="min-batch" data-spec="{}"><p>Example: '
    "<code>flopbook min-batch</code> "
    "gives 295 tokens.</p><noscript><p>needs JavaScript</p></noscript></div>"
)
ONE = f"""<h1 id="one">One{LINK.format("one")}</h1>
<p class="fb-note fb-place">Chapter 1 of 2 · <a href="#exercises">2 exercises</a></p>
<p>After this see <a href="../two/">the next</a>, <a href="../two/#ends">its end</a>,
<a href="#exercises">below</a>,
<a href="../../accelerators/a/b/" class="fb-num">3 TB/s</a>,
<a href="https://x.example/?a=1&amp;b=2">out</a> and
<a href="../../references/topic/#zeta2020last" class="fb-cite">Zeta 2020</a>.</p>
<div class="fb-maths">{MATHS.format("block")}</div>
<p>{SVG}</p>
<table><thead>
<tr><th><span class="fb-hidden">a</span>{MATHS.format("inline")}</th><th>B</th></tr></thead>
<tbody><tr><td>1</td><td>2<br>3</td></tr></tbody></table>
{FORM}
<details class="example"><summary>Watch it move</summary>
<svg viewBox="0 0 9 9"><g class="fb-slide" style="--fb-dx:1px">
<path d=""/></g></svg></details>
<details class="note"><summary>More</summary>
<p>Opened.</p></details>
<h2 id="exercises">Exercises{LINK.format("exercises")}</h2>
<p><strong class="fb-exercise" id="exercise-1">Exercise 1</strong>
<span class="fb-badge">easy</span> How?</p>
<details class="success"><summary>Answer</summary>
<p>So, by <a href="../../references/topic/#alpha2019first">a work</a>.</p></details>
<p><strong class="fb-exercise" id="exercise-2">Exercise 2</strong>
<span class="fb-badge">hard</span> Why?</p>
<details class="success"><summary>Answer</summary>
<p>Because.</p></details>
<h2 id="key-points">Key points{LINK.format("key-points")}</h2><ul><li>a &lt; b &amp; c</li></ul>
<details><summary>BibTeX of this chapter</summary>
<pre class="fb-bibtex" tabindex="0"><code>@misc&#123;x&#125;</code></pre></details>
"""
TWO = f"""<h1 id="two">Two &amp; "three"{LINK.format("two")}</h1>
<p>As <a href="../one/#exercise-2">asked</a>, and
<a href="../../references/topic/#zeta2020last" class="fb-cite">Zeta 2020</a>,
<a href="../../glossary/#bit">bit</a>, <a href="../../claims/#x">a claim</a>,
<a href="mailto:a@x.example">mail</a>.</p>
<h2 id="exercises">Exercises{LINK.format("exercises")}</h2><p>None.</p>
<h2 id="ends">Where it ends{LINK.format("ends")}</h2><pre><code>x = 1</code></pre>
"""
INDEX = f"""<h1 id="handbook">Handbook{LINK.format("handbook")}</h1>
<p>For readers.</p>
<!-- book -->
<h2 id="chapters">Chapters</h2><ol><li><a href="one/">One</a></li></ol><p>More to come.</p>
<h2 id="how">How to read it</h2>
<p>In order, from <a href="one/">the first</a>.</p>"""
GLOSSARY = (
    '<h1 id="glossary">Glossary</h1><dl><dt id="bit">bit</dt>'
    '<dd>Less than a <a href="../data/">byte</a>.</dd></dl>'
)
WORK = (
    '<article class="fb-ref" id="{0}"><p><a class="fb-perma" href="./#{0}" aria-label="Permanent '
    'link">#</a> '
    '<strong><a href="https://doi.example/{0}">{1}</a></strong> <span '
    'class="fb-badge">paper</span><br>'
    "A. Author, 2020.</p><p>What it shows.</p>"
    "<details><summary>BibTeX</summary><pre "
    "class='fb-bibtex'><code>x</code></pre></details></article>"
)
REFERENCES = "<h1>Topic</h1>" + "".join(
    WORK.format(key, title)
    for key, title in (
        ("zeta2020last", "The last"),
        ("alpha2019first", "The first"),
        ("beta2018not", "Never cited"),
    )
)
PAGES = {
    "handbook/": INDEX,
    "handbook/one/": ONE,
    "handbook/two/": TWO,
    "glossary/": GLOSSARY,
    "references/topic/": REFERENCES,
}


def write(site: Path, page: str, article: str) -> None:
    """Put one page into a built site, framed as the theme does."""
    path = site / page / "index.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "<!doctype html><html><head><title>T</title></head><body><nav>menu</nav><article "
        'class="md-content__inner '
        f'md-typeset">{article}</article><footer>foot</footer></body></html>',
        encoding="utf-8",
    )


def bound(site: Path, address: str = "") -> list[BookPart]:
    """The parts of the small book, ready to be written."""
    return joined(site, CHAPTERS, address)
