// Starts what a page has: sortable tables, tips, terms, anchors, copyable blocks, the state of reading, calculators.
// Without JavaScript all content is still there.

import {startShell} from "./shell.js";
import {startTips} from "./tips.js";

// The other generator's theme has a script of its own, and an embedded part has no frame.
if (document.querySelector(".md-header") && !document.querySelector('script[src*="/bundle."]')) startShell();
startTips();
// What only some pages need comes where it is used.
const has = (selector) => document.querySelector(selector);
const [sorted, copied] = ["table.fb-sort", "pre.fb-bibtex, .highlight > pre"].map((selector) => [...document.querySelectorAll(selector)]);
if (sorted.length) import("./table.js").then(({sortable}) => sorted.forEach(sortable));
if (copied.length) import("./copy.js").then(({copyable}) => copied.forEach(copyable));
if (has(".fb-maths[id], .fb-exercise[id], .fb-figure[id]:not(.fb-chart)")) import("./anchors.js").then(({startAnchors}) => startAnchors());
if (has(".fb-place, #chapters ~ ol")) import("./reading.js").then(({startReading}) => startReading());
if (has(".fb-alive")) import("./living/main.js");
if (has(".fb-chart")) import("./chart.js");
if (has(".fb-lost")) import("./lost.js").then(({startLost}) => startLost(document.querySelector(".fb-lost")));
if (has("article details")) import("./print.js").then(({startPrint}) => startPrint());

// What terms mean comes with the first of them that is pointed at. A touch shows it; only the next one follows the link.
if (document.querySelector("a.fb-term")) {
  let module = null;
  let ready = false;
  let pointer = "";
  const begin = async (event) => {
    const term = event.target.closest?.("a.fb-term");
    if (!term || ready) return;
    pointer = event.pointerType || pointer;
    const held = event.type === "click" && pointer === "touch";
    if (held) event.preventDefault();
    module ??= import("./terms.js");
    const {startTerms, show} = await module;
    if (!ready) startTerms(pointer);
    ready = true;
    if (held || (pointer !== "touch" && term.matches(":hover, :focus"))) show(term);
  };
  for (const kind of ["pointerover", "focusin", "click"]) document.addEventListener(kind, begin);
}

// What scrolls sideways can be scrolled by keyboard; what fits is no stop on the way.
const sizes = new ResizeObserver((changes) => {
  for (const {target: box} of changes) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
});
for (const box of document.querySelectorAll(".fb-maths, .md-typeset__scrollwrap")) sizes.observe(box);

function fragment() {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // somebody's broken link
  }
}

// A link to a reference or claim inside of closed blocks opens them.
function openTarget() {
  const target = document.getElementById(fragment());
  let closed = target?.closest("details:not([open])");
  if (!closed) return;
  for (; closed; closed = target.closest("details:not([open])")) closed.open = true;
  target.scrollIntoView();
}
openTarget();
addEventListener("hashchange", openTarget);

const glossary = document.querySelector(".fb-glossary");
if (glossary) (await import("./glossary.js")).startFilter(glossary);

const sheet = document.querySelector(".fb-sheet");
if (sheet) {
  const {button, el} = await import("./dom.js");
  sheet.before(el("p", {class: "fb-buttons"}, button("Print", () => print())));
}

// The form of a calculator's page is made at once, one inside of a text when a reader asks for it or a link sets it.
const forms = [...document.querySelectorAll(".fb-calculator")];
const make = async (hosts) => (await import("./start.js")).startForms(hosts);
const waits = (host) => host.hasAttribute("data-waits") && !(forms.length === 1 && /[?&](?!h=)/.test(location.search));
const waiting = forms.filter(waits);
if (waiting.length < forms.length) make(forms.filter((host) => !waits(host)));
if (waiting.length) {
  const {button, el} = await import("./dom.js");
  for (const host of waiting) host.append(el("p", {class: "fb-buttons"}, button("Change the numbers", () => make([host]))));
}
