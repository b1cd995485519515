// Files of a picture that a script draws: SVG, PNG and its values as CSV, in the menu that every figure of the site has.

import {el} from "./dom.js";
import {act, closing, png, save} from "./files.js";

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "opacity", "paint-order", "text-anchor"];

const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/; // the same as in Python

/** A menu; `picture` gives the drawn SVG or null, `rows` the values with a row of heads, `name` that of the files. */
export function filesMenu({name, picture, rows}) {
  const button = (words, file) => act(words, file, "Nothing is drawn yet");
  const drawn = () => picture() && standalone(picture());
  const menu = el("details", {class: "fb-menu"}, el("summary", {"aria-label": "Files of this picture"}), el("ul", {},
    button("Picture as SVG", () => save(drawn(), "image/svg+xml", `${name()}.svg`)),
    button("Picture as PNG", async () => save(await png(drawn()), "image/png", `${name()}.png`)),
    button("Values as CSV", () => save(picture() && csv(rows()), "text/csv", `${name()}.csv`))));
  return closing(menu);
}

/** A picture as a file of its own: with its colours and letters, on the paper of the page. */
export function standalone(picture) {
  const made = picture.cloneNode(true);
  const [from, to] = [picture, made].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((one, n) => {
    const look = getComputedStyle(one);
    to[n].setAttribute("style", LOOKS.map((name) => `${name}:${look.getPropertyValue(name)}`).join(";"));
    to[n].removeAttribute("class");
  });
  const [, , width, height] = picture.getAttribute("viewBox").split(" ");
  const paper = getComputedStyle(document.body).backgroundColor;
  const sheet = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({width, height, style: `fill:${paper}`})) sheet.setAttribute(name, value);
  made.prepend(sheet);
  for (const [name, value] of Object.entries({width, height})) made.setAttribute(name, value);
  return new XMLSerializer().serializeToString(made);
}

/** Rows as CSV; what has a comma or a quote inside stands between quotes. A text that a spreadsheet would run stays a text. */
export function csv(rows) {
  const safe = (value) => (typeof value === "string" && FORMULA.test(value) ? `'${value}` : value);
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const cell = (value) => quoted(safe(value));
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
