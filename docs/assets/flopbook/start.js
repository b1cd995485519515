// Starts the forms of a page with what they need and nothing else: their formulas, and what these take of chips and models.

import {el} from "./dom.js";
import {makeForm} from "./form.js";
import {unpacked} from "./packing.js";
import {useTables} from "./quantity.js";

const kept = new Map();

function get(name) {
  if (!kept.has(name)) kept.set(name, fetch(new URL(`${name}.json`, import.meta.url)).then((answer) => answer.json()));
  return kept.get(name);
}

export async function startForms(hosts) {
  dress();
  const specs = hosts.map((host) => JSON.parse(host.dataset.spec));
  const lent = ({takes, id}) => (takes.includes("chip") || takes.includes("model") ? get(`values/${id}`).then(unpacked) : {});
  const [common, values, made] = await Promise.all([
    get("data"), Promise.all(specs.map(lent)), Promise.all(specs.map(({id}) => import(`./formulas/${id}.js`))),
  ]);
  useTables(common);
  hosts.forEach((host, n) => makeForm(host, specs[n], {...common, ...values[n]}, functions(specs[n], made[n])));
}

/** The style of answers, where the page has not linked it. */
function dress() {
  if (document.querySelector('link[href*="flopbook/answer.css"]')) return;
  document.head.append(el("link", {rel: "stylesheet", href: new URL("answer.css", import.meta.url)}));
}

/** What the module of a calculator exports, by its role: the formula, the message of the first broken rule, and what is left out. */
function functions({id}, made) {
  const name = id.replaceAll("-", "_");
  return {compute: made[name], broken: made[`${name}_broken`], omitted: made[`${name}_omitted`]};
}
