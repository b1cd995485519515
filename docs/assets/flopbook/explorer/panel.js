// What panels of filters are made of: folded lists of boxes, fields, and the buttons beside them.

import {button, check, el} from "../dom.js";

/** A folded list of boxes; none ticked means all. Options are [value, text] or [value, text, depth in a tree]. */
export class Facet {
  constructor(name, label, options, change) {
    Object.assign(this, {name, label, options});
    this.said = el("span", {class: "fb-chosen"});
    this.boxes = new Map();
    const list = el("div", {class: "fb-options", role: "group", "aria-label": label});
    for (const [value, text, depth = 0] of options) {
      const box = check(text, false, () => change({[name]: this.chosen()}), {value});
      if (depth) box.classList.add(`fb-depth-${depth}`);
      this.boxes.set(value, box.querySelector("input"));
      list.append(box);
    }
    this.fold = el("details", {class: "fb-facet"}, el("summary", {}, this.said), list);
    this.fold.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.fold.open) return;
      this.fold.open = false;
      this.fold.querySelector("summary").focus();
    });
    document.addEventListener("pointerdown", (event) => {
      if (this.fold.open && !this.fold.contains(event.target)) this.fold.open = false;
    });
    this.root = el("div", {class: "fb-choice"}, el("span", {"aria-hidden": "true"}, label), this.fold);
  }

  chosen() {
    return [...this.boxes].filter(([, box]) => box.checked).map(([value]) => value);
  }

  show(state) {
    const chosen = state[this.name];
    for (const [value, box] of this.boxes) box.checked = chosen.includes(value);
    const texts = this.options.filter(([value]) => chosen.includes(value)).map(([, text]) => text);
    const text = texts.length > 2 ? `${texts.length} of ${this.options.length}` : texts.join(", ") || "all";
    this.said.replaceChildren(el("span", {class: "fb-hidden"}, `${this.label}: `), text);
  }
}

/** The field in which words are looked for. Its name in links is not q, which the search of the whole site reads. */
export function finder(placeholder, change) {
  return el("input", {
    type: "search", autocomplete: "off", placeholder, input: (event) => change({find: event.target.value}, true),
  });
}

export function numberField(name, change, attributes) {
  return el("input", {
    type: "number", inputmode: "numeric", min: 0, ...attributes, input: (event) => change({[name]: event.target.value}, true),
  });
}

/** Two fields of years: their elements by name, and what holds both. */
export function years(change) {
  const from = numberField("from", change, {placeholder: "from", "aria-label": "Year from"});
  const to = numberField("to", change, {placeholder: "to", "aria-label": "Year to"});
  const root = el("fieldset", {class: "fb-choice fb-years"}, el("legend", {}, "Year"), from, " ", to);
  return {from, to, root};
}

export function inYears(year, {from, to}) {
  if (!from && !to) return true;
  return year !== null && (!from || year >= Number(from)) && (!to || year < Number(to) + 1);
}

/** Fields and boxes show what the state says. */
export function showFields(controls, state) {
  for (const [name, control] of Object.entries(controls)) {
    if (control.type === "checkbox") control.checked = state[name];
    else if (control.value !== state[name]) control.value = state[name];
  }
}

/** A button that says for a moment what it did. */
export function telling(text, act, attributes) {
  const one = button(text, async () => {
    one.textContent = await act();
    setTimeout(() => { one.textContent = text; }, 3000);
  }, attributes);
  return one;
}

export function linkButton() {
  return telling("Copy link", async () => ((await (await import("../copy.js")).copyText(location.href)) ? "Copied" : "Copy the address of this page"));
}

/** On a narrow screen the filters are folded, so that what they filter is in view. */
export function foldButton(bar) {
  const fold = button("Filters", () => fold.setAttribute("aria-expanded", bar.classList.toggle("fb-unfolded")), {class: "fb-button fb-fold", "aria-expanded": "false"});
  return fold;
}

/** Whether one of these parts of the state filters anything. */
export function filtered(state, normal, names) {
  return names.some((name) => String(state[name]) !== String(normal[name]));
}

/** The parts of the state that filter nothing. */
export function cleared(normal, names) {
  return Object.fromEntries(names.map((name) => [name, normal[name]]));
}
