// Asks while one types: what a form of the planner says goes to the worker, and only the last answer is shown.

import {useTables} from "../quantity.js";
import {el} from "../dom.js";
import {record} from "./asking.js";
import {planned} from "./client.js";

let units;

/**
 * The function that asks what `form` says now, "train" or "serve", and hands `show` an answer for each chip:
 * {kind, pairs}. `host` is busy meanwhile; what cannot be asked is said in `status`.
 */
export function asker(ask, {host, form, status}, show) {
  const kind = import(`./${ask}.js`);
  units ??= fetch(new URL("../data.json", import.meta.url)).then((answer) => answer.json()).then(useTables);
  const names = Object.fromEntries([...form.elements.chip.options].map((one) => [one.value, one.textContent]));
  let latest = 0;
  return async () => {
    const mine = ++latest;
    for (const field of form.elements) field.removeAttribute("aria-invalid");
    try {
      const [found, known] = await Promise.all([kind, record(), units]);
      const {questions, ...more} = found.asked(form, known);
      host.setAttribute("aria-busy", "true");
      const answers = [];
      for (const one of questions) answers.push(await planned(ask, one));
      if (mine !== latest || answers.includes(null)) return;
      show(found, questions.map((question, n) => ({question, answer: answers[n], name: names[question.chip], ...more})));
    } catch (error) {
      if (mine !== latest) return;
      if (error.field) form.elements[error.field].setAttribute("aria-invalid", "true");
      status.replaceChildren(el("p", {class: "fb-verdict"}, error.message));
      show(null, []);
    }
    host.removeAttribute("aria-busy");
  };
}
