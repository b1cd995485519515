// Links to what has an anchor but no heading: exercises, formulas and figures without a menu; a formula can also be copied as LaTeX.

import {copyText} from "./copy.js";
import {button, el} from "./dom.js";

const KINDS = [["figure.fb-figure[id]:not(.fb-chart) > figcaption", "figure"], [".fb-exercise[id] + .fb-badge", "exercise"], [".fb-maths[id]", "formula"]];

export function startAnchors() {
  for (const [selector, kind] of KINDS) {
    for (const place of document.querySelectorAll(selector)) {
      const {id} = kind === "figure" ? place.parentElement : kind === "exercise" ? place.previousElementSibling : place;
      const link = el("a", {class: "headerlink", href: `#${id}`, title: `Permanent link to this ${kind}`}, "#");
      if (kind === "exercise") place.after(" ", link);
      else if (kind === "figure") (place.querySelector(".fb-from") ?? place).append(" ", link);
      else place.after(tools(place, link));
    }
  }
}

/** Beside the formula and not in it: what scrolls with it would be out of reach. */
function tools(box, link) {
  const copy = button("LaTeX", async () => {
    copy.textContent = (await copyText(await latexOf(box).catch(() => ""))) ? "Copied" : "Not allowed here";
    setTimeout(() => { copy.textContent = "LaTeX"; }, 3000);
  }, {title: "Copy this formula as LaTeX"});
  // Some browsers let a page write to the clipboard only at once after a click: what it takes is there by then.
  for (const kind of ["pointerenter", "focus"]) copy.addEventListener(kind, () => formulas().catch(() => {}), {once: true});
  return el("div", {class: "fb-tools"}, copy, link);
}

let found = null;

/** The LaTeX of all formulas of the page in their order, from the page as Markdown. */
function formulas() {
  found ??= fetch(document.querySelector('link[type="text/markdown"]').href)
    .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(answer.statusText))))
    .then((text) => text.split("$$").filter((_, n) => n % 2).map((latex) => latex.trim()))
    .catch((error) => { found = null; throw error; });
  return found;
}

async function latexOf(box) {
  return (await formulas())[[...document.querySelectorAll(".fb-maths[id]")].indexOf(box)];
}
