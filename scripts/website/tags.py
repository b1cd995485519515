"""Tags and their attributes as a browser reads them.

After the states of the tokenizer in https://html.spec.whatwg.org/multipage/parsing.html: what is
space, where a value begins and ends, and which of two attributes of one name counts. A reader that
differs from it, if only on a no-break space, lets a handler hide in the value of another attribute.
"""

from __future__ import annotations

import html
import re

_SPACE = r"\t\n\f\r "
# A quotation mark counts where a value begins, and nowhere else; one that is missing takes all.
_VALUE = rf"\"[^\"]*(?:\"|\Z)|'[^']*(?:'|\Z)|[^{_SPACE}>\"'][^{_SPACE}>]*"
_NAME = rf"=[^{_SPACE}/>=]*|[^{_SPACE}/>=]+"
_BEFORE = rf"[{_SPACE}]*=[{_SPACE}]*"
# What stands in a tag behind its name, for a pattern of tags.
INSIDE = rf"(?:[{_SPACE}/]|(?:{_NAME})(?:{_BEFORE}(?:(?:{_VALUE})|(?=>)))?)*+"
TAG = re.compile(rf"<([a-zA-Z][^{_SPACE}/>]*)({INSIDE})(>)?")
_ATTRIBUTE = re.compile(rf"({_NAME})(?:{_BEFORE}(?:({_VALUE})|(?=>|\Z)))?")


def attributes_of(inside: str) -> dict[str, str]:
    """Name -> value of the attributes of a tag, the first of each name.

    >>> attributes_of(" a=1 b='2 3' A=4 c=d\\"e=f g")
    {'a': '1', 'b': '2 3', 'c': 'd"e=f', 'g': ''}
    """
    attributes: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(inside):
        bare = value[1:-1] if value[:1] in ('"', "'") else value
        attributes.setdefault(name.lower(), html.unescape(bare) if "&" in bare else bare)
    return attributes
