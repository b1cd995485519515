"""What the search reads of a page: its sections, in words."""

from __future__ import annotations

from scripts.website.build.search_sections import Section, sections

PAGE = """
<h1 id="rings">Rings<a class="headerlink" href="#rings" title="Permanent link">#</a></h1>
<p>Each chip sends <b>half</b>a block, x<sub>1</sub> &lt; 2.</p>
<pre><code>ring --chips 8</code></pre>
<div class="box"><h2 id="cost">What <code>--chips</code> costs</h2>
<table><tr><td>317</td><td>GB</td></tr></table></div>
<script>let hidden = "secret";</script><!-- a note -->
<p>after</p>
"""


def test_a_page_is_its_first_heading_and_a_section_for_each_other() -> None:
    assert sections(PAGE) == [
        Section("", "Rings", "Each chip sends halfa block, x1 &lt; 2."),
        Section("cost", "What --chips costs", "317 GB after"),
    ]


def test_words_before_the_first_heading_are_the_page() -> None:
    assert sections('<p>Before</p><h1 id="a">A</h1>b') == [
        Section("", "", "Before"),
        Section("a", "A", "b"),
    ]


def test_a_page_without_headings_has_one_section() -> None:
    assert sections("") == [Section("", "", "")]
    assert sections("<p>Only <em>words</em></p>") == [Section("", "", "Only words")]


def test_text_stays_escaped() -> None:
    """What the page shows as text stays text where the search shows it."""
    (page,) = sections('<h1 id="a">A &lt;b&gt;</h1>&#60;script&gt; &quot;x_y&quot;')
    assert page == Section("", "A &lt;b&gt;", '&lt;script&gt; "x_y"')
