// Terms of the glossary say what they mean: on hover, on focus, and at the first touch, which does not follow the link yet.
// One box serves all of them. It stays while the pointer is on the term or on the box, and Escape closes it.

import {place} from "./tips.js";

const LINGER = 300; // milliseconds in which the pointer may travel from the term to the box
const box = document.createElement("span");
Object.assign(box, {id: "fb-meaning", className: "fb-source fb-meaning", hidden: true});
box.setAttribute("role", "tooltip");

let meanings = null;
let open = null;
let leaving = 0;

function load() {
  meanings ??= fetch(new URL("glossary.json", import.meta.url)).then((answer) => (answer.ok ? answer.json() : {}));
  return meanings;
}

/** Say what a term means, beside it. */
export async function show(term) {
  clearTimeout(leaving);
  if (open === term) return;
  hide();
  open = term;
  const found = (await load().catch(() => ({})))[term.hash.slice(1)];
  if (!found || open !== term) return;
  box.replaceChildren(Object.assign(document.createElement("strong"), {textContent: found[0]}), `: ${found[1]}`);
  box.hidden = false;
  (term.closest("article") ?? document.body).append(box); // in a cell that sticks, the next row would lie above it
  term.setAttribute("aria-describedby", box.id);
  place(term, box);
}

function hide() {
  clearTimeout(leaving);
  open?.removeAttribute("aria-describedby");
  box.hidden = true;
  open = null;
}

const termAt = (event) => event.target.closest?.("a.fb-term");

/** Listen to all terms of the page; `pointer` is what kind of pointer was used last. */
export function startTerms(pointer) {
  for (const term of document.querySelectorAll("a.fb-term[title]")) term.removeAttribute("title"); // ours says more
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const term = termAt(event);
    if (term) show(term);
    else if (open && box.contains(event.target)) clearTimeout(leaving);
  });
  document.addEventListener("pointerout", (event) => {
    const left = event.pointerType === "mouse" && open && (termAt(event) || box.contains(event.target));
    if (left && open !== document.activeElement) {
      clearTimeout(leaving);
      leaving = setTimeout(hide, LINGER);
    }
  });
  document.addEventListener("focusin", (event) => termAt(event) && pointer !== "touch" && show(termAt(event)));
  document.addEventListener("focusout", (event) => termAt(event) === open && hide());
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("pointerdown", (event) => {
    pointer = event.pointerType;
    if (open && event.target !== open && !box.contains(event.target)) hide();
  });
  document.addEventListener("click", (event) => {
    const term = termAt(event);
    if (!term || (event.pointerType || pointer) !== "touch" || (open === term && !box.hidden)) return;
    event.preventDefault();
    show(term);
  });
  const moved = () => open && !box.hidden && place(open, box);
  addEventListener("scroll", moved, {capture: true, passive: true});
  addEventListener("resize", moved);
}
