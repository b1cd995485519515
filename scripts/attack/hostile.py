"""Texts that have broken programs before, and chance mixtures of them."""

from __future__ import annotations

import random

# Each of these calls `attacked()` where it runs: a page that counts the calls knows.
SCRIPTS = (
    "<script>attacked()</script>",
    "<\\/title><\\script>attacked()<\\/script>",
    "</title><script>attacked()</script>",
    '"><img src=x onerror=attacked()>',
    "' onmouseover='attacked()",
    "<svg onload=attacked()>",
    "<iframe srcdoc='<script>parent.attacked()</script>'></iframe>",
    "[x](javascript:attacked())",
    "![x](x){onerror=attacked()}",
    "<a href='java\tscript:attacked()'>x</a>",
    "--><script>attacked()</script>",
    "]]><script>attacked()</script>",
    "</textarea><script>attacked()</script>",
    "</script><script>attacked()</script>",
    "{{ attacked() }}{% attacked() %}",
    "&lt;script&gt;attacked()&lt;/script&gt;",
    "&#60;script&#62;attacked()",
    "`<script>attacked()</script>`",
    "$</math><script>attacked()</script>$",
    "<!--><script>attacked()</script>",
    "x' autofocus onfocus=attacked() '",
    "<![CDATA[<script>attacked()</script>]]>",
    "]]&gt;]]><script>attacked()</script>",
    '<!ENTITY x SYSTEM "file:///etc/passwd">&x;',
    "&amp;lt;script&amp;gt;attacked()&amp;lt;/script&amp;gt;",
    "%3Cscript%3Eattacked()%3C/script%3E",
    "[x](data:text/html,<script>attacked()</script>)",
    "[x](java&Tab;script:attacked())",
    "[x](&#106;avascript:attacked())",
    "<javascript:attacked()>",
    '[x](x "a" onclick="attacked()")',
    "![x](data:image/svg+xml,<svg onload=attacked()>)",
    "<style>@import 'javascript:attacked()'</style>",
    '<math><mglyph><svg><mtext><style><path id="</style><img onerror=attacked() src=x>">',
    '<a xlink:href="javascript:attacked()">x</a>',
    "$\\href{javascript:attacked()}{x}$ \\input/etc/passwd \\write18 attacked",
    '!!! note "<script>attacked()</script>"',
    "{{ cycler.__init__.__globals__ }}{% include '/etc/passwd' %}",
    '<noscript><p title="</noscript><img src=x onerror=attacked()>">',
    "</desc></text></svg><script>attacked()</script>",
    "<meta http-equiv=refresh content='0;url=javascript:attacked()'>",
    '--8<-- "/etc/passwd"',
)
_PIECES = (
    *SCRIPTS,
    *"\\\"'`<>&|:#-{}[]()!*_~^$=%@,?\n\r\t \x00\x07\x1b\x7f\x85\u2028\u2029\ufeff",
    "\n---\n",
    "...\n",
    ": ",
    " #",
    "\\x41",
    "\\",
    "\u202e",
    "\u2066",
    "\u200b",
    "\U0001f600",
    "é",
    "H100 SXM",
    "a",
)
_MOST_PIECES = 8


def text_of(rng: random.Random) -> str:
    """A text of some pieces that mean something to one reader or another."""
    return "".join(rng.choices(_PIECES, k=rng.randint(1, _MOST_PIECES)))
