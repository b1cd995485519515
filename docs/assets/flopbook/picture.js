// The picture of a form: one output against one input around the present state, with a dot where the form stands.

import {said, waiting, worded} from "./answer.js";
import {choice, el, svg} from "./dom.js";
import {filesMenu} from "./downloads.js";
import {brief, label} from "./fields.js";
import {left} from "./notes.js";
import {readable} from "./pointing.js";
import {written} from "./quantity.js";
import {scale, thin, ticksIn} from "./scales.js";
import {around, strongest, sweep} from "./sweep.js";

const HEIGHT = 230;
const EDGE = {right: 18, top: 12, bottom: 26};
const LETTER = 6.6;
const DECADE = 10;

export class Picture {
  constructor(spec, prefix, compute) {
    Object.assign(this, {spec, compute, width: 0, marks: []});
    this.inputs = spec.inputs.filter((input) => !input.choices.length && !input.text);
    this.outputs = spec.outputs.filter((output) => !output.several);
    this.output = this.outputs.find(({name}) => name === spec.answer) ?? this.outputs[0]; // what the form answers in large type
    this.words = el("figcaption", {id: `${prefix}-trend`});
    this.frame = el("div", {class: "fb-frame"});
    this.plot = el("div", {class: "fb-plotted", tabindex: 0, role: "group", "aria-label": "Picture. Arrow keys read the values."}, this.frame);
    readable(this.plot, () => () => ({picture: this.frame.querySelector("svg"), found: this.marks}));
    this.pickers = el("div", {class: "fb-axes", role: "group", "aria-label": "What the picture shows", input: (event) => event.stopPropagation()});
    const menu = filesMenu({name: () => `${spec.id}-${this.output.name}`, picture: () => this.frame.querySelector("svg"), rows: () => this.rows()});
    this.box = el("figure", {class: "fb-figure fb-curve"}, this.words, el("div", {class: "fb-chart-head"}, this.pickers, menu), this.plot);
    new ResizeObserver(([entry]) => this.resized(entry.contentRect.width)).observe(this.frame);
    this.choices();
  }

  /** The two choices: what is drawn, and against what. */
  choices() {
    const {spec} = this;
    const pick = (kind, all) => (name) => {
      this[kind] = all.find((one) => one.name === name);
      this.chosen ||= kind === "input";
      this.draw();
    };
    const outputs = this.outputs.map((output) => [output.name, brief(output.meaning)]);
    const inputs = this.inputs.map(({name}) => [name, label(spec, name)]);
    const up = choice("Plot", outputs, this.output.name, pick("output", this.outputs));
    const across = choice("against", inputs, "", pick("input", this.inputs));
    this.select = across.querySelector("select");
    this.pickers.append(up, across);
  }

  show(state) {
    this.state = state;
    this.draw();
  }

  resized(width) {
    if (!width || width === this.width) return; // a hidden frame has none
    this.width = width;
    if (this.state) this.draw();
  }

  draw() {
    this.across();
    const points = this.state.result ? sweep(this.compute, this.state, this.input, this.output) : [];
    const drawn = points.filter(({y}) => y !== undefined);
    this.points = drawn;
    const nothing = this.nothing(drawn);
    this.plot.hidden = Boolean(nothing);
    if (nothing) return void (this.words.textContent = nothing);
    this.words.replaceChildren(...this.trend(drawn));
    this.width ||= this.frame.clientWidth; // later widths come from the observer, without a layout of their own
    if (this.width) this.frame.replaceChildren(this.svg(points, drawn));
  }

  /** What is drawn, as numbers in SI units below what they are. */
  rows() {
    const {input, output} = this;
    const head = [`${label(this.spec, input.name)} (${input.unit})`, `${brief(output.meaning)} (${output.unit})`];
    return [head, ...this.points.map(({x, y}) => [x, y])];
  }

  /** Unless somebody chose it, the input is the one on which the output depends most; it stays with the chip while there is something to draw. */
  across() {
    const {state, input} = this;
    const drawn = `${this.output.name} ${state.chip?.id}`;
    const fits = input && this.drawn === drawn && around(input, state.values[input.name]).length > 1;
    if (!state.result || this.chosen || fits) this.input ??= this.inputs[0];
    else [this.input, this.drawn] = [strongest(this.compute, state, this.inputs, this.output, this.spec.asks), drawn];
    this.select.value = this.input.name;
  }

  /** Why there is nothing to draw, in words; empty where there is. */
  nothing(drawn) {
    const {input, output, state: {result, resolved, values}} = this;
    if (!result) return "The picture comes with the answer.";
    const value = result[output.name];
    const open = left(output, resolved);
    if (open.length) return `No picture: ${brief(output.meaning)} has no value yet; ${waiting(this.spec, open)}.`;
    if (output.choices.length) return `No picture: ${brief(output.meaning)} is a word ("${value}"), not a number.`;
    if (!Number.isFinite(value)) return `No picture: ${brief(output.meaning)} has no finite value here (${said(output, value)}).`;
    const name = label(this.spec, input.name);
    if (!around(input, values[input.name]).length) return `No picture: "${name}" is ${values[input.name] === 0 ? "zero" : "empty"}; type a value for it.`;
    return drawn.length > 1 ? "" : `No picture: no other value of "${name}" is possible beside the rest.`;
  }

  /** A point in words. */
  at({x, y}) {
    return `${worded(this.spec, this.output, y)} at ${written(x, this.input.unit)}`;
  }

  /** The finding of the picture, from one end to the other, and below it the present state. */
  trend(drawn) {
    const {input, output, state} = this;
    const ends = [drawn[0], drawn.at(-1)];
    const [from, to] = ends.map(({y}) => worded(this.spec, output, y));
    const [first, last] = ends.map(({x}) => written(x, input.unit));
    const here = this.at({x: state.values[input.name], y: state.result[output.name]});
    return [
      el("b", {}, `${brief(output.meaning)}: ${course(drawn, from, to)}`),
      ` “${label(this.spec, input.name)}” from ${first} to ${last}. Now ${here}.`,
    ];
  }

  svg(points, drawn) {
    const {input, output, state} = this;
    const ys = drawn.map(({y}) => y);
    const labels = (values, words) => values.map((value) => [value, words(value)]);
    const y = scale(upright(ys), [HEIGHT - EDGE.bottom, EDGE.top], wide(ys));
    const up = labels(ticksIn(y, output.unit, 5), (value) => worded(this.spec, output, value)).filter(([value]) => value >= y.low);
    const edge = Math.max(...up.map(([, text]) => text.length)) * LETTER + 10;
    const xs = drawn.map((point) => point.x);
    const x = scale([xs[0], xs.at(-1)], [edge, this.width - EDGE.right], wide(xs));
    const round = ticksIn(x, input.unit, 7).filter((value) => !input.whole || Number.isInteger(value));
    const across = labels(round, (value) => written(value, input.unit));
    this.marks = drawn.map((point) => ({x: x.at(point.x), y: y.at(point.y), words: this.at(point), series: ""}));
    const root = svg("svg", {viewBox: `0 0 ${this.width} ${HEIGHT}`, class: "fb-svg", role: "img", "aria-labelledby": this.words.id});
    root.append(...level(thin(up, 6), y, [edge, this.width - EDGE.right]), ...upTo(across, x, [EDGE.top, HEIGHT - EDGE.bottom]));
    root.append(svg("path", {class: "fb-roof", d: line(points, x, y, input.whole)}));
    if (input.whole && drawn.length <= 24) root.append(...drawn.map((point) => dot(point, x, y, 2.5, "fb-step")));
    root.append(dot({x: state.values[input.name], y: state.result[output.name]}, x, y, 5, "fb-ridge"));
    return root;
  }
}

/** How a row of points goes, from one end in words to the other. */
function course(drawn, from, to) {
  const steps = drawn.slice(1).map(({y}, n) => Math.sign(y - drawn[n].y));
  const [up, down] = [steps.includes(1), steps.includes(-1)];
  if (up && down) return `from ${from} to ${to}, up and down between`;
  if (!up && !down) return `${from} throughout`;
  return `from ${from} ${up ? "up" : "down"} to ${to}`;
}

/** True where values span more than a decade, and so need a logarithmic axis. */
function wide(values) {
  const low = Math.min(...values);
  return low > 0 && Math.max(...values) / low > DECADE;
}

function upright(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (wide(values)) return [low / 1.15, high * 1.15];
  return [Math.min(0, low * 1.08), Math.max(0, high * 1.08) || 1];
}

/** The curve; it breaks where there is no value, but whole numbers that a rule forbids are passed over. */
function line(points, x, y, whole) {
  let pen = "M";
  let path = "";
  for (const point of points) {
    if (point.y === undefined) {
      if (!whole) pen = "M";
      continue;
    }
    path += `${pen}${x.at(point.x)} ${y.at(point.y)}`;
    pen = "L";
  }
  return path;
}

function dot(point, x, y, r, kind) {
  return svg("circle", {class: kind, cx: x.at(point.x), cy: y.at(point.y), r});
}

/** Lines across the picture at round values of the upright axis. */
function level(values, y, [from, to]) {
  return values.flatMap(([value, text]) => [
    svg("path", {class: "fb-grid", d: `M${from} ${y.at(value)}H${to}`}),
    svg("text", {x: from - 6, y: y.at(value) + 4, "text-anchor": "end"}, text),
  ]);
}

/** Lines up the picture at round values of the level axis, with labels as far as they do not touch. */
function upTo(values, x, [top, bottom]) {
  let free = -Infinity;
  return values.flatMap(([value, text]) => {
    const half = (text.length * LETTER) / 2;
    const place = Math.min(x.at(value), x.end + 14 - half);
    const fits = place - half > free;
    if (fits) free = place + half + 8;
    const mark = fits ? [svg("text", {x: place, y: bottom + 17, "text-anchor": "middle"}, text)] : [];
    return [svg("path", {class: "fb-grid", d: `M${x.at(value)} ${top}V${bottom}`}), ...mark];
  });
}
