// Starts the forms of a page with what they need and nothing else: their formulas, and what these take of chips and models.

import {el} from "./dom.js";
import {makeForm} from "./form.js";
import {fill, unpacked} from "./packing.js";
import {useTables} from "./quantity.js";

const kept = new Map();

function get(name) {
  if (!kept.has(name)) {
    const found = fetch(new URL(`${name}.json`, import.meta.url)).then((answer) => answer.json());
    found.catch(() => kept.delete(name)); // so that it can be asked for again
    kept.set(name, found);
  }
  return kept.get(name);
}

export async function startForms(hosts) {
  dress();
  const specs = hosts.map((host) => JSON.parse(host.dataset.spec));
  const [common, values, made] = await Promise.all([
    get("data"), Promise.all(specs.map((spec) => lent(spec))), Promise.all(specs.map(({id}) => import(`./formulas/${id}.js`))),
  ]);
  useTables(common);
  const parts = await Promise.all(specs.map((spec, n) => functions(spec, made[n])));
  hosts.forEach((host, n) => makeForm(host, specs[n], {...common, ...values[n]}, parts[n]));
}

/**
 * What chips and models lend a form: names and the values of its example. `complete` fetches the values of all others, at once
 * where the address names a chip or a model; it gives null when they are there.
 */
async function lent({takes, id}) {
  if (!takes.includes("chip") && !takes.includes("model")) return {complete: () => null, isWhole: () => true};
  const values = unpacked(await get(`values/${id}`));
  let isWhole = false;
  const complete = () => (isWhole ? null : get(`values/${id}-rest`).then((rest) => {
    if (!isWhole) fill(values, unpacked(rest));
    isWhole = true;
  }));
  if (/[?&](chip|model)=/.test(location.search)) await complete();
  return {...values, complete, isWhole: () => isWhole};
}

/** The style of answers, where the page has not linked it. */
function dress() {
  if (document.querySelector('link[href*="flopbook/answer.css"]')) return;
  document.head.append(el("link", {rel: "stylesheet", href: new URL("answer.css", import.meta.url)}));
}

/** What the module of a calculator exports, by its role: the formula, the message of the first broken rule, what is left out, the largest batch that fits, steps in words and a drawing. */
async function functions({id}, made) {
  const name = id.replaceAll("-", "_");
  const draw = made[`${name}_drawing`];
  const drawing = draw ? new (await import("./drawing.js")).Drawing(id, draw) : null;
  return {compute: made[name], broken: made[`${name}_broken`], omitted: made[`${name}_omitted`], largest: made[`${name}_largest`], steps: made[`${name}_steps`], drawing};
}
