// What a figure can do with a script: values under the pointer and by arrow keys, PNG, and the code that embeds it.

import {copyText} from "./copy.js";
import {act, closing, save} from "./files.js";
import {readable} from "./pointing.js";

for (const figure of document.querySelectorAll(".fb-chart")) start(figure);

function start(figure) {
  const plot = figure.querySelector(".fb-plotted");
  if (plot.hasAttribute("tabindex")) readable(plot, () => read(figure, plot));
  fill(figure, figure.querySelector(".fb-menu ul"));
}

/** The picture of a figure that is shown, with its marks and their words; those of lines come from its file of values. */
async function read(figure, plot) {
  const file = figure.querySelector('.fb-menu a[href$=".csv"]');
  const rows = file ? parse(await (await fetch(file.href)).text()) : [];
  const pictures = [...plot.querySelectorAll("svg")].map((picture) => ({picture, found: marks(picture, rows)}));
  return () => pictures.find(({picture}) => picture.getBoundingClientRect().width);
}

/** Rows of a file of values: what each point is called. */
function parse(text) {
  return text.trim().split("\n").slice(1).map((line) => {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => (quoted ?? plain).replaceAll('""', '"'));
    return {series: cells[0], words: cells[3]};
  });
}

function marks(picture, rows) {
  const found = [];
  for (const title of picture.querySelectorAll(":scope * > title")) {
    const box = title.parentElement.getBBox();
    const at = title.parentElement.getCTM();
    const origin = picture.getCTM().inverse().multiply(at);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    found.push({x: origin.a * x + origin.c * y + origin.e, y: origin.b * x + origin.d * y + origin.f, words: title.textContent, series: ""});
    title.remove(); // our words take the place of the browser's
  }
  for (const [series, points] of lines(picture, rows)) found.push(...points.map((point) => ({...point, series})));
  return found.sort((one, other) => one.x - other.x || one.y - other.y);
}

/** The lines of a picture with the rows that they were drawn from, in order. */
function* lines(picture, rows) {
  let next = 0;
  for (const line of picture.querySelectorAll("[class^=fb-line], .fb-roof")) {
    const points = (line.getAttribute("points") ?? "").trim().split(/\s+/).map((pair) => pair.split(",").map(Number));
    const first = rows.findIndex((row, place) => place >= next && run(rows, place) === points.length);
    if (points.length < 3 || first < 0) continue;
    next = first + points.length;
    const name = rows[first].series;
    yield [name || `line ${first}`, points.map(([x, y], n) => ({x, y, words: [name, rows[first + n].words].filter(Boolean).join(": ")}))];
  }
}

/** How many rows from here on are of one series. */
function run(rows, place) {
  if (place > 0 && rows[place - 1].series === rows[place].series) return 0;
  let end = place;
  while (end < rows.length && rows[end].series === rows[place].series) end++;
  return end - place;
}

/** The part of a menu that needs a script. */
function fill(figure, list) {
  if (!list) return;
  const file = list.querySelector('a[href$=".svg"]').href;
  const address = `${location.href.split("#")[0]}#${figure.id}`;
  const title = figure.querySelector(".fb-says").textContent;
  const button = (words, done) => act(words, done, "Not allowed here");
  const code = `<figure><a href="${address}"><img src="${file}" alt="${title.replaceAll('"', "&quot;")}"></a></figure>`;
  // The file follows the reader's system; its PNG follows the page, whose scheme may be another.
  const medium = () => (document.body.dataset.mdColorScheme === "slate" ? "all" : "not all");
  const drawn = async () => (await (await fetch(file)).text()).replace("(prefers-color-scheme:dark)", medium());
  const pixels = async (text) => (await import("./filetexts.js")).png(text);
  list.children[0].after(button("Picture as PNG", async () => save(await pixels(await drawn()), "image/png", `${figure.id}.png`)));
  list.append(button("Copy link", () => copyText(address)), button("Copy code to embed", () => copyText(code)));
  closing(list.parentElement);
}
