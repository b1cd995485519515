// What a file of a picture holds: the picture by itself, its pixels, and its values as CSV.

import {el, svg} from "./dom.js";

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "opacity", "paint-order", "text-anchor"];
const SHARP = 2; // pixels of a PNG for each of the picture
const [EDGE, KEY, LETTER] = [12, 20, 0.55]; // pixels, the last of each pixel of the size of letters
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/; // these two are the same as in Python
const PARTED = /([;\t\n])(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** A picture as a file of its own, on the paper of the page: its finding and its legend above it, what else is said of it below. */
export function standalone(picture) {
  const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  const {title, legend, said, source} = around(picture);
  const {color, fontFamily, backgroundColor} = getComputedStyle(document.body);
  const parts = [];
  let top = EDGE;
  const write = (text, size, weight = 400) => {
    for (const line of lines(text, (width - 2 * EDGE) / (size * LETTER))) {
      top += size * 1.35;
      parts.push(svg("text", {x: EDGE, y: top, style: `font:${weight} ${size}px ${fontFamily};fill:${color}`}, line));
    }
  };
  const keep = (drawn, size, x) => {
    for (const [name, value] of Object.entries({...size, x, y: top})) drawn.setAttribute(name, value);
    parts.push(drawn);
  };
  write(title, 15, 700);
  top += EDGE / 2;
  let x = EDGE;
  for (const entry of legend) {
    const [mark, name] = [entry.querySelector("svg"), entry.textContent.trim()];
    const room = KEY + name.length * 11 * LETTER + EDGE;
    if (x > EDGE && x + room > width) [x, top] = [EDGE, top + KEY];
    if (mark) keep(dressed(mark), {width: KEY - 6, height: KEY - 6}, x);
    parts.push(svg("text", {x: x + (mark ? KEY : 0), y: top + 11, style: `font:11px ${fontFamily};fill:${color}`}, name));
    x += room;
  }
  if (legend.length) top += KEY;
  keep(dressed(picture), {width, height}, 0);
  top += height;
  for (const text of [said, source, "flopbook, CC-BY-4.0"]) write(text, 11);
  const size = {width, height: Math.ceil(top + EDGE)};
  const sheet = svg("rect", {...size, style: `fill:${backgroundColor}`});
  return new XMLSerializer().serializeToString(svg("svg", {...size, viewBox: `0 0 ${size.width} ${size.height}`}, sheet, ...parts));
}

/** What stands around a picture in the page, as texts, and the entries of its legend. */
function around(picture) {
  const host = picture.closest(".fb-curve, .fb-alive, [data-view]");
  const text = (kinds) => host?.querySelector(kinds)?.textContent.trim() ?? "";
  const title = text(".fb-says, figcaption b");
  return {
    title,
    legend: [...(host?.querySelectorAll(".fb-legend li") ?? [])],
    said: text(".fb-told, .fb-count") || text("figcaption").replace(title, "").trim(),
    source: text(".fb-from").replace(/\s*#$/, "") || `Source: ${location.origin}${location.pathname}`,
  };
}

/** A copy of a drawing that has its colours and letters in itself. */
function dressed(drawing) {
  const made = drawing.cloneNode(true);
  const [from, to] = [drawing, made].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((one, n) => {
    const look = getComputedStyle(one);
    to[n].setAttribute("style", LOOKS.map((name) => `${name}:${look.getPropertyValue(name)}`).join(";"));
    to[n].removeAttribute("class");
  });
  return made;
}

/** A text in lines of so many letters at most, broken at spaces. */
function lines(text, most) {
  const found = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const joined = found.length ? `${found.at(-1)} ${word}` : word;
    if (found.length && joined.length <= most) found[found.length - 1] = joined;
    else found.push(word);
  }
  return found;
}

/** The PNG of an SVG, as a blob; null without one. */
export async function png(text) {
  if (!text) return null;
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const sheet = el("canvas", {width: image.width * SHARP, height: image.height * SHARP});
  sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
  return new Promise((ready) => { sheet.toBlob(ready, "image/png"); });
}

/** Rows as CSV; what has a comma or a quote inside stands between quotes. A text that a spreadsheet would run stays a text. */
export function csv(rows) {
  const safe = (value) => (typeof value === "string" ? `${FORMULA.test(value) ? "'" : ""}${value.replaceAll(PARTED, "$1 ")}` : value);
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const cell = (value) => quoted(safe(value));
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
