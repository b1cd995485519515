// Makes what is wider than the page smaller, and returns what is wider still: [what it is, by how many pixels].
() => {
  const limit = document.body.getBoundingClientRect().right;
  const least = 6 * 96 / 72; // 6 points: what can still be read
  const room = (box) => box.parentElement.getBoundingClientRect().width;
  const needed = (box) => Math.max(box.scrollWidth, box.getBoundingClientRect().width);
  for (const box of document.querySelectorAll("table, pre, math[display=block]")) {
    for (let turn = 0; turn < 8 && needed(box) > room(box) + 0.5; turn++) {
      const size = parseFloat(getComputedStyle(box).fontSize);
      const smaller = Math.max(least, size * Math.min(0.97, room(box) / needed(box)));
      if (smaller >= size) break;
      box.style.fontSize = `${smaller}px`;
    }
    if (box.localName === "table" && needed(box) > room(box) + 0.5) box.style.overflowWrap = "anywhere";
  }
  const wide = [];
  for (const box of document.body.querySelectorAll("*")) {
    const over = box.getBoundingClientRect().right - limit;
    // Lines of a program wrap; the spaces at which they do hang over the edge and are not seen.
    if (over > 1 && !box.closest("svg *, pre *")) wide.push([`${box.closest("section, nav")?.id} ${box.localName}: ${box.textContent.trim().slice(0, 60)}`, over]);
  }
  return wide;
}
