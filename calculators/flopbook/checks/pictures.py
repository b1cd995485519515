"""What makes a file a PNG picture, and nothing else beside it.

A browser shows a file as what its server calls it, and some look at its first bytes instead. So a
picture is one from its first byte to its last: every part has its sum, and nothing follows the end.
"""

from __future__ import annotations

import zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_FRAME = 12  # bytes of a part beside its content: length, kind, sum


def picture_fault(content: bytes) -> str:
    """Why a file is no whole PNG picture; empty for one that is."""
    if not content.startswith(_SIGNATURE):
        return "no PNG picture"
    place, kinds = len(_SIGNATURE), list[bytes]()
    while kinds[-1:] != [b"IEND"]:
        # A length that the file ends in makes a part that is too short, whatever it says.
        size = _FRAME + int.from_bytes(content[place : place + 4], "big")
        part = content[place : place + size]
        if len(part) < size or zlib.crc32(part[4:-4]) != int.from_bytes(part[-4:], "big"):
            return f"a PNG picture that is broken at byte {place:,}"
        kinds.append(part[4:8])
        place += len(part)
    if kinds[0] != b"IHDR":
        return "a PNG picture without a header"
    return "" if place == len(content) else f"{len(content) - place:,} bytes behind a PNG picture"
