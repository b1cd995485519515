// The page of a planner: it plans while one types, and the address keeps what was asked. What is asked
// and how it is shown is of a kind: train.js or serve.js.

import {el} from "../dom.js";
import {lacking} from "../strangers.js";
import {labelOf, nameOf} from "./typed.js";
import {asker} from "./asker.js";

export function startPlanner(host) {
  const form = host.querySelector("form");
  const status = host.querySelector(".fb-said");
  const shown = host.querySelector(".fb-plan-layouts");
  const fresh = new Map([...new FormData(form)]);
  const lost = fill(form, new URLSearchParams(location.search));
  const show = (kind, pairs) => {
    const notes = lost.splice(0).map((words) => el("p", {class: "fb-fine"}, words));
    if (kind) status.replaceChildren(...notes, ...pairs.flatMap((pair) => kind.verdict(pair, pairs)));
    else status.prepend(...notes); // before the words that say what cannot be planned
    shown.replaceChildren(...pairs.flatMap((pair) => [
      pair.answer.layouts.length ? el("h2", {}, pairs.length > 1 ? `${kind.title} on ${pair.name}` : kind.title) : null,
      el("div", {class: "fb-cards"}, ...pair.answer.layouts.map((layout, n) => kind.card(pair, layout, n))),
    ].filter(Boolean)));
  };
  const ask = asker(host.dataset.ask, {host, form, status}, show);
  // At once: of what is typed during a search only the last is asked.
  const update = () => {
    keep(form, fresh);
    ask();
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", update);
  update();
}

/** The option of a choice that a text names, by its value or by the product without its vendor. */
function optionOf({options}, text) {
  const wanted = text.toLowerCase();
  return [...options].find(({value}) => value.toLowerCase() === wanted || (wanted && value.split("/")[1] === wanted));
}

/** Put an address into the form; returns what of it the form does not have. */
function fill(form, query) {
  const lost = [];
  for (const [name, value] of query) {
    const field = form.elements.namedItem(name);
    if (!field?.name) continue;
    const option = field.tagName === "SELECT" && optionOf(field, value);
    if (option) field.value = option.value;
    else if (field.tagName !== "SELECT") field.value = value.slice(0, 40);
    else lost.push(`This link asks for ${labelOf(form, name).toLowerCase()} "${value.slice(0, 40)}", which is not on the list; here is ${nameOf(field)}.`);
  }
  const strange = lacking([], query, (name) => form.elements.namedItem(name)?.name, "page");
  if (strange) lost.push(strange);
  const details = form.querySelector("details");
  details.open = [...details.querySelectorAll("[name]")].some(({name}) => query.has(name));
  return lost;
}

/** Keep in the address what differs from the form as it came, and always what is asked about. */
function keep(form, fresh) {
  const url = new URL(location.href);
  for (const [name, value] of new FormData(form)) {
    if (["model", "chip", "chips"].includes(name) || value !== fresh.get(name)) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  history.replaceState(null, "", url);
}

for (const host of document.querySelectorAll(".fb-planner")) startPlanner(host);
