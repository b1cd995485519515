// Any two quantities against each other: logarithmic or linear, with frontier, labels, tips, links; arrow keys walk the points.

import {check, choice, el, svg} from "../dom.js";
import {filesMenu} from "../downloads.js";
import {nothing} from "./list.js";
import {Room, frontier, range, scale, thin, ticks} from "../scales.js";

const HEIGHT = 460;
const REACH = 9;
const MOST_NAMED = 5;
const EDGE = {left: 104, right: 16, top: 14, bottom: 44};

export class Scatter {
  constructor(section, model, change) {
    Object.assign(this, {section, model, change});
    this.row = el("div", {class: "fb-row"});
    this.said = el("p", {class: "fb-count", role: "status"});
    this.tip = el("div", {class: "fb-source fb-pop", hidden: true, "aria-hidden": "true"});
    this.figure = el("figure", {class: "fb-figure fb-scatter"});
    this.legend = el("ul", {class: "fb-legend"});
    this.keys = keys(model);
    this.title = el("p", {class: "fb-says"});
    const menu = filesMenu({name: () => `${this.state.y}-${this.state.x}`.replaceAll(":", "-"), picture: () => this.figure.querySelector("svg"), rows: () => this.rows()});
    const head = el("div", {class: "fb-chart-head"}, this.title, menu);
    section.replaceChildren(el("h2", {class: "fb-hidden"}, "Scatter"), this.row, head, this.legend, this.figure, this.said, this.tip);
    new ResizeObserver(([entry]) => this.resized(entry.contentRect.width)).observe(this.figure);
  }

  show(state, entries) {
    Object.assign(this, {state, entries});
    this.controls(state);
    if (this.figure.clientWidth) this.draw();
  }

  resized(width) {
    if (this.state && width && Math.abs(width - this.width) > 1) this.draw();
    else if (this.state && width && !this.width) this.draw();
  }

  controls(state) {
    const {model, change} = this;
    const axis = (name) => choice(`${name === "x" ? "Horizontal" : "Vertical"} axis`, model.options(state), state[name],
      (value) => change({[name]: value}, false, `[data-axis=${name}]`), {"data-axis": name});
    const box = (name, text) => check(text, state[name], (value) => change({[name]: value}, false, `[data-box=${name}]`), {"data-box": name});
    this.row.replaceChildren(axis("x"), box("xlog", "logarithmic"), axis("y"), box("ylog", "logarithmic"),
      box("frontier", "frontier"), box("labels", "labels"));
  }

  /** Entries that have both values, with their places. */
  points() {
    const {model, state} = this;
    const found = [];
    for (const entry of this.entries) {
      const x = model.cell(entry, state.x, state);
      const y = model.cell(entry, state.y, state);
      if (x && y) found.push({entry, cells: [x, y], x: x.value, y: y.value, marks: [...new Set([...x.marks, ...y.marks])]});
    }
    return found;
  }

  draw() {
    const {model, state} = this;
    this.width = this.figure.clientWidth;
    this.quantities = ["x", "y"].map((axis) => model.quantity(state[axis], state));
    const points = this.points();
    const absent = this.entries.length - points.length;
    this.said.textContent = `${points.length} of ${this.entries.length} drawn${absent ? `; ${absent} lack a value` : ""}. `
      + "Every value of the picture is in the table too. Hollow: estimated or reported. " + `Source: the claims on file, read until ${model.data.as_of}.`;
    this.title.textContent = points.length ? this.finding(points) : "";
    if (!points.length) {
      this.legend.replaceChildren();
      this.figure.replaceChildren(el("p", {class: "fb-nothing"}, absent ? "No entry that passes the filters has both values." : nothing(this.state)));
      return;
    }
    const frame = [EDGE.left, EDGE.top, this.width - EDGE.right, HEIGHT - EDGE.bottom];
    const [x, y] = this.scales(points, frame);
    for (const point of points) Object.assign(point, {px: x.at(point.x), py: y.at(point.y)});
    points.sort((a, b) => a.px - b.px);
    this.drawn = points;
    const groups = new Set(points.map(({entry}) => String(entry.group)));
    this.legend.replaceChildren(...[...this.keys].filter(([group]) => groups.has(group)).map(([, key]) => key));
    const best = frontier(points, this.quantities.map(({better}) => better));
    this.figure.replaceChildren(this.picture(points, best, frame, [x, y]));
    if (state.frontier) this.said.textContent += ` Frontier, which no entry beats on both: ${best.map(({entry}) => entry.short).join(", ")}.`;
  }

  /** What is drawn, as numbers in SI units below what they are. */
  rows() {
    const {model, state} = this;
    const heads = this.quantities.map(({label, unit}) => `${label} (${unit})`);
    const from = (entry, axis) => model.cell(entry, state[axis], state)?.source ?? "computed";
    return [["product", ...heads, "marks", "source of x", "source of y"],
      ...this.drawn.map(({entry, x, y, marks}) => [entry.name, x, y, marks.join("; "), from(entry, "x"), from(entry, "y")])];
  }

  /** The finding: from which to which value the products go. */
  finding(points) {
    const [, up] = this.quantities;
    const ordered = [...points].sort((a, b) => a.y - b.y);
    const said = ({entry, cells}) => `${this.model.cellWords(up, cells[1])} (${entry.short})`;
    return `${axisLabel(up, this.state.y)}: from ${said(ordered[0])} to ${said(ordered.at(-1))}`;
  }

  scales(points, [left, top, right, bottom]) {
    const {state} = this;
    return ["x", "y"].map((axis, n) => {
      const years = this.quantities[n].unit === "year";
      const log = state[`${axis}log`] && !years;
      return scale(range(points.map((point) => point[axis]), log, years), n ? [bottom, top] : [left, right], log);
    });
  }

  picture(points, best, frame, scales) {
    const {state} = this;
    const [x, y] = this.quantities;
    const name = `${axisLabel(y, state.y)} against ${axisLabel(x, state.x)}, ${points.length} entries`;
    const root = svg("svg", {viewBox: `0 0 ${this.width} ${HEIGHT}`, class: "fb-svg", role: "group", "aria-label": name});
    root.append(...this.axes(frame, scales));
    if (state.frontier) root.append(svg("path", {class: "fb-fit", d: steps(best)}));
    points.forEach((point, n) => root.append(this.mark(point, n === 0)));
    if (state.labels) root.append(...this.labels(points, best, frame));
    root.addEventListener("keydown", (event) => walk(event, root));
    return root;
  }

  axes([left, top, right, bottom], [x, y]) {
    const {model, state} = this;
    const [qx, qy] = this.quantities;
    const most = Math.max(2, Math.floor((right - left) / 90));
    const parts = [];
    for (const value of thin(ticks(x, most), most)) {
      parts.push(svg("path", {class: "fb-grid", d: `M${x.at(value)} ${top}V${bottom}`}));
      parts.push(svg("text", {class: "fb-tick", x: x.at(value), y: bottom + 16, "text-anchor": "middle"}, model.words(qx, value)));
    }
    for (const value of ticks(y)) {
      parts.push(svg("path", {class: "fb-grid", d: `M${left} ${y.at(value)}H${right}`}));
      parts.push(svg("text", {class: "fb-tick", x: left - 6, y: y.at(value) + 4, "text-anchor": "end"}, model.words(qy, value)));
    }
    parts.push(svg("text", {class: "fb-axis", x: (left + right) / 2, y: HEIGHT - 6, "text-anchor": "middle"}, axisLabel(qx, state.x)));
    parts.push(svg("text", {class: "fb-axis", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle"}, axisLabel(qy, state.y)));
    return parts;
  }

  mark(point, first) {
    const {entry} = point;
    const text = this.words(point);
    const hollow = point.marks.some((mark) => this.model.data.loud.includes(mark)) ? " fb-hollow" : "";
    const picked = this.state.compare.includes(entry.id) ? " fb-picked" : "";
    const show = () => this.open(this.under(point), point);
    return svg("a", {
      href: `${entry.id}/`, class: `fb-v${entry.group}${hollow}${picked}`, "aria-label": text, tabindex: first ? 0 : -1, "data-id": entry.id,
      pointerenter: show, focus: show, pointerleave: () => this.leave(), blur: () => this.close(),
    }, svg("path", {transform: `translate(${point.px} ${point.py})`, d: this.model.data.shapes[entry.group]}),
    svg("circle", {class: "fb-hit", cx: point.px, cy: point.py, r: 9}));
  }

  /** What the pointer covers: the point, and every other that lies under it. */
  under(point) {
    const near = this.drawn.filter((other) => other !== point && Math.hypot(other.px - point.px, other.py - point.py) < REACH);
    const more = near.slice(0, MOST_NAMED).map((other) => this.words(other));
    const rest = near.length > MOST_NAMED ? [`and ${near.length - MOST_NAMED} more`] : [];
    return [this.words(point), ...more, ...rest].join("; ; ");
  }

  words({entry, cells, marks}) {
    const values = this.quantities.map((quantity, n) => `${quantity.label} ${this.model.cellWords(quantity, cells[n])}`);
    return [entry.name, ...values.reverse(), ...marks].join("; ");
  }

  labels(points, best, frame) {
    const room = new Room([frame[0], 0, frame[2] + EDGE.right, frame[3]], points);
    const chosen = points.filter(({entry}) => this.state.compare.includes(entry.id));
    const found = [];
    for (const point of new Set([...chosen, ...[...best].reverse(), ...points])) {
      const place = room.place(point.entry.short, point);
      if (place) found.push(svg("text", {class: "fb-label", ...place}, point.entry.short));
    }
    return found;
  }

  open(text, {px, py}) {
    const box = this.figure.getBoundingClientRect();
    this.tip.textContent = text.split("; ").join("\n");
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(8, Math.min(box.left + px + 12, innerWidth - width - 8))}px`;
    this.tip.style.top = `${box.top + py + 14}px`;
  }

  /** A pointer that goes, also because the page scrolled below it, leaves the words of the point with the focus. */
  leave() {
    const focused = this.figure.querySelector("a:focus")?.dataset.id;
    const point = focused && this.drawn.find(({entry}) => entry.id === focused);
    if (point) this.open(this.under(point), point);
    else this.close();
  }

  close() {
    this.tip.hidden = true;
  }
}

function axisLabel({label}, id) {
  return id === "peak" || id.startsWith("peak:") ? `Peak, ${label}` : label;
}

function steps(points) {
  return points.map(({px, py}, n) => `${n ? "L" : "M"}${px} ${py}`).join("");
}

/** Arrow keys, Home and End move from point to point, from left to right. */
function walk(event, root) {
  const marks = [...root.querySelectorAll("a")];
  const now = marks.indexOf(document.activeElement);
  const to = {ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1, Home: 0, End: marks.length - 1}[event.key];
  if (to === undefined || now < 0) return;
  event.preventDefault();
  const next = marks[Math.max(0, Math.min(to, marks.length - 1))];
  marks[now].setAttribute("tabindex", -1);
  next.setAttribute("tabindex", 0);
  next.focus();
}

/** What the mark of each vendor looks like, by the group that it stands for. */
function keys({data}) {
  return new Map(Object.entries(data.legend).map(([group, name]) => [group, el("li", {class: `fb-v${group}`},
    svg("svg", {viewBox: "-6 -6 12 12", width: 12, height: 12, "aria-hidden": "true"}, svg("path", {d: data.shapes[group]})), ` ${name}`)]));
}
