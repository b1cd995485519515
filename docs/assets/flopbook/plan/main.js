// The page of the planner: it plans while one types, and the address keeps what was asked.

import {el, say} from "../dom.js";
import {formatQuantity, parseQuantity, useTables} from "../quantity.js";
import {record, usual} from "./asking.js";
import {planned} from "./client.js";
import {layoutCard, verdict} from "./showing.js";

const MOST_CHIPS = 2 ** 20;
const MOST_SEQUENCES = 2 ** 30;
const PAUSE = 120; // ms without a keystroke before a search begins
const units = fetch(new URL("../data.json", import.meta.url)).then((answer) => answer.json()).then(useTables);

/** Something typed that cannot be asked; `field` is where. */
class Refusal extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

function amount(form, name, unit, {least = 1, most = Infinity, whole = true} = {}) {
  const text = form.elements[name].value.trim().replaceAll(",", "");
  if (!text) return null;
  let value;
  try {
    value = parseQuantity(text, unit);
  } catch (error) {
    throw new Refusal(name, `${labelOf(form, name)}: ${error.message}.`);
  }
  if ((whole && !Number.isInteger(value)) || value < least || value > most) {
    const bound = Number.isFinite(most) ? ` from ${least.toLocaleString("en")} to ${most.toLocaleString("en")}` : ` of at least ${least}`;
    throw new Refusal(name, `${labelOf(form, name)}: type a ${whole ? "whole " : ""}number${bound}.`);
  }
  return value;
}

function labelOf(form, name) {
  return form.elements[name].labels[0].querySelector("span").textContent.trim();
}

/** The question of the form; throws a Refusal for what cannot be planned. */
function asked(form, known) {
  const chips = amount(form, "chips", "1", {most: MOST_CHIPS});
  if (chips === null) throw new Refusal("chips", "Type a number of chips.");
  const open = usual(known, form.elements.model.value);
  const seq = amount(form, "seq", "token", {most: 2 ** 24}) ?? open.seq;
  form.elements.seq.placeholder = open.seq.toLocaleString("en");
  const tokens = amount(form, "batch-tokens", "token") ?? open.tokens - open.tokens % seq;
  if (tokens % seq || tokens < seq || tokens / seq > MOST_SEQUENCES) {
    const near = 2 ** Math.max(0, Math.round(Math.log2(tokens / seq)));
    throw new Refusal("batch-tokens", `Tokens of a step: ${tokens.toLocaleString("en")} is no multiple of sequences of ${seq.toLocaleString("en")}; use ${(near * seq).toLocaleString("en")}.`);
  }
  const price = amount(form, "price", "USD/s", {least: 0, whole: false});
  const budget = amount(form, "tokens", "token", {least: 1, whole: false});
  const {model, stack, dtype} = form.elements;
  const names = [form.elements.chip.value, form.elements.other.value].filter(Boolean);
  return {
    questions: [...new Set(names)].map((chip) => ({model: model.value, chip, stack: stack.value, dtype: dtype.value, chips, seq, batch: tokens / seq})),
    price,
    budget,
  };
}

export function startPlanner(host) {
  const form = host.querySelector("form");
  const status = host.querySelector(".fb-said");
  const shown = host.querySelector(".fb-plan-layouts");
  const fresh = new Map([...new FormData(form)]);
  const lost = fill(form, new URLSearchParams(location.search));
  let timer = 0;
  let latest = 0;
  const update = async () => {
    keep(form, fresh);
    const mine = ++latest;
    for (const field of form.elements) field.removeAttribute("aria-invalid");
    try {
      await units;
      const question = asked(form, await record());
      host.setAttribute("aria-busy", "true");
      const answers = [];
      for (const one of question.questions) answers.push(await planned(one));
      if (mine !== latest || answers.includes(null)) return;
      show(question, answers);
    } catch (error) {
      if (mine !== latest) return;
      if (error.field) form.elements[error.field].setAttribute("aria-invalid", "true");
      status.replaceChildren(el("p", {class: "fb-verdict"}, error.message));
      shown.replaceChildren();
    }
    host.removeAttribute("aria-busy");
  };
  const show = ({questions, price, budget}, answers) => {
    const names = Object.fromEntries([...form.elements.chip.options].map((one) => [one.value, one.textContent]));
    const pairs = questions.map((question, n) => ({question, answer: answers[n], name: names[question.chip], price, budget}));
    const notes = lost.splice(0).map((words) => el("p", {class: "fb-fine"}, words));
    status.replaceChildren(...notes, ...pairs.flatMap((pair) => verdict(pair, pairs)));
    shown.replaceChildren(...pairs.flatMap((pair) => [
      pair.answer.layouts.length ? el("h2", {}, pairs.length > 1 ? `The best layouts on ${pair.name}` : "The best layouts") : null,
      el("div", {class: "fb-cards"}, ...pair.answer.layouts.map((layout, n) => layoutCard(pair, layout, n))),
    ].filter(Boolean)));
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE);
  });
  update();
}

/** Put an address into the form; returns what of it the form does not have. */
function fill(form, query) {
  const lost = [];
  for (const [name, value] of query) {
    const field = form.elements[name];
    if (!field?.name) continue;
    if (field.tagName !== "SELECT") field.value = value.slice(0, 40);
    else if ([...field.options].some((option) => option.value === value)) field.value = value;
    else lost.push(`The address asks for ${name} "${value.slice(0, 40)}", which is not on the list; here is ${field.selectedOptions[0].textContent}.`);
  }
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
