// What a figure can do with a script: values under the pointer and by arrow keys, PNG, and the code that embeds it.

import {copyText} from "./copy.js";
import {el, svg} from "./dom.js";
import {act, closing, png, save} from "./files.js";

const NEAR = 40; // pixels of the picture from the pointer to a mark

for (const figure of document.querySelectorAll(".fb-chart")) start(figure);

function start(figure) {
  const plot = figure.querySelector(".fb-plotted");
  let reader = null;
  const begin = async () => { reader ??= read(figure, plot); return reader; };
  plot.addEventListener("pointermove", async (event) => (await begin()).point(event));
  plot.addEventListener("pointerleave", async () => (await reader)?.hide());
  plot.addEventListener("blur", async () => (await reader)?.hide());
  plot.addEventListener("keydown", async (event) => {
    if (!/^(Arrow|Home|End|Escape)/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    (await begin()).key(event.key);
  });
  fill(figure, figure.querySelector(".fb-menu ul"));
}

/** The marks of a figure with their words; those of lines come from its file of values. */
async function read(figure, plot) {
  const file = figure.querySelector('.fb-menu a[href$=".csv"]');
  const rows = file ? parse(await (await fetch(file.href)).text()) : [];
  const pictures = new Map([...plot.querySelectorAll("svg")].map((picture) => [picture, marks(picture, rows)]));
  const tip = el("div", {class: "fb-source fb-meaning", role: "status"});
  tip.style.visibility = "hidden";
  plot.append(tip);
  return new Reader(plot, pictures, tip);
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

class Reader {
  constructor(plot, pictures, tip) {
    Object.assign(this, {plot, pictures, tip, at: null});
  }

  /** The picture that is shown, with its marks. */
  get shown() {
    for (const [picture, found] of this.pictures) if (picture.getBoundingClientRect().width) return {picture, found};
    return {picture: null, found: []};
  }

  point({clientX, clientY}) {
    const {picture, found} = this.shown;
    if (!picture) return;
    const from = picture.getScreenCTM().inverse();
    const x = from.a * clientX + from.e;
    const y = from.d * clientY + from.f;
    const far = (mark) => Math.hypot(mark.x - x, mark.y - y);
    const nearest = found.reduce((best, mark) => (best && far(best) <= far(mark) ? best : mark), null);
    if (nearest && far(nearest) < NEAR) this.show(nearest);
    else this.hide();
  }

  key(key) {
    const {found} = this.shown;
    if (key === "Escape" || !found.length) return this.hide();
    const here = found.find((mark) => mark.words === this.at?.words && mark.series === this.at.series);
    const row = found.filter((mark) => mark.series === (here ?? found[0]).series);
    const names = [...new Set(found.map((mark) => mark.series))];
    const place = here ? row.indexOf(here) : -1;
    const turn = (step) => {
      const other = found.filter(({series}) => series === names[(names.indexOf(row[0].series) + step + names.length) % names.length]);
      const near = (mark) => Math.abs(mark.x - (here?.x ?? 0));
      return other.reduce((best, mark) => (near(mark) < near(best) ? mark : best));
    };
    const next = {
      ArrowRight: () => row[Math.min(place + 1, row.length - 1)], ArrowLeft: () => row[Math.max(place - 1, 0)],
      ArrowUp: () => turn(1), ArrowDown: () => turn(-1), Home: () => row[0], End: () => row.at(-1),
    }[key];
    this.show(next());
  }

  show(mark) {
    const {picture} = this.shown;
    this.at = mark;
    this.ring ??= svg("circle", {class: "fb-stroke", r: 7});
    this.ring.setAttribute("cx", mark.x);
    this.ring.setAttribute("cy", mark.y);
    picture.append(this.ring);
    this.tip.textContent = mark.words;
    this.tip.style.visibility = "visible";
    const {a, d, e, f} = picture.getScreenCTM();
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(4, Math.min(a * mark.x + e - width / 2, innerWidth - width - 4))}px`;
    this.tip.style.top = `${d * mark.y + f + 14}px`;
  }

  hide() {
    this.tip.style.visibility = "hidden";
    this.ring?.remove();
    this.at = null;
  }
}

/** The part of a menu that needs a script. */
function fill(figure, list) {
  if (!list) return;
  const file = list.querySelector('a[href$=".svg"]').href;
  const address = `${location.href.split("#")[0]}#${figure.id}`;
  const title = figure.querySelector(".fb-says").textContent;
  const button = (words, done) => act(words, done, "Not allowed here");
  const code = `<figure><a href="${address}"><img src="${file}" alt="${title.replaceAll('"', "&quot;")}"></a></figure>`;
  const drawn = async () => (await fetch(file)).text();
  list.children[0].after(button("Picture as PNG", async () => save(await png(await drawn()), "image/png", `${figure.id}.png`)));
  list.append(button("Copy link", () => copyText(address)), button("Copy code to embed", () => copyText(code)));
  closing(list.parentElement);
}
