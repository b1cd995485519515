// What a calculator draws of its own answer: anew for each answer and for each width.

import {el} from "./dom.js";
import {filesMenu} from "./downloads.js";
import {readable} from "./pointing.js";

export class Drawing {
  /** `draw` gives {words, picture, marks, rows} for the values of a form and a width; a table of its own has no rows. */
  constructor(name, draw) {
    Object.assign(this, {draw, width: 0, marks: [], rows: null});
    this.words = el("figcaption");
    this.frame = el("div", {class: "fb-frame"});
    this.plot = el("div", {class: "fb-plotted"}, this.frame);
    const picture = () => this.frame.querySelector("svg");
    this.menu = filesMenu({name: () => name, picture, rows: () => this.rows});
    this.head = el("div", {class: "fb-chart-head"}, el("span", {class: "fb-axes"}));
    this.box = el("figure", {class: "fb-figure fb-curve"}, this.words, this.head, this.plot);
    readable(this.plot, () => () => ({picture: picture(), found: this.marks}));
    new ResizeObserver(([entry]) => this.resized(entry.contentRect.width)).observe(this.box);
  }

  /** Draw the answer for some values; nothing where there is none. */
  show(values) {
    this.values = values;
    this.box.hidden = !values;
    this.width ||= this.box.clientWidth;
    if (!values || !this.width) return;
    const {words, picture, marks, rows} = this.draw(values, this.width);
    Object.assign(this, {marks, rows});
    if (rows) this.head.append(this.menu);
    else this.menu.remove();
    this.words.replaceChildren(...words);
    this.frame.replaceChildren(...picture);
    // What has no marks to read is no stop on the way.
    if (marks.length) this.attributes({tabindex: 0, role: "group", "aria-label": "Picture. Arrow keys read the values."});
  }

  attributes(named) {
    for (const [name, value] of Object.entries(named)) this.plot.setAttribute(name, value);
  }

  resized(width) {
    if (!width || width === this.width) return; // a hidden figure has none
    this.width = width;
    if (this.values) this.show(this.values);
  }
}
