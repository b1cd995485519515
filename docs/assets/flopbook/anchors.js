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
  const latex = box.querySelector("math")?.dataset.latex;
  const copy = button("LaTeX", async () => {
    copy.textContent = (await copyText(latex)) ? "Copied" : "Not allowed here";
    setTimeout(() => { copy.textContent = "LaTeX"; }, 3000);
  }, {title: "Copy this formula as LaTeX"});
  return el("div", {class: "fb-tools"}, latex ? copy : null, link);
}
