// The box that checks a number: it answers while one types, and keeps what was typed in the address.

import {el, say} from "../dom.js";
import {useTables} from "../quantity.js";
import {lookIn} from "./facts.js";
import {judge, ofAnybody} from "./judging.js";
import {read} from "./reading.js";

const WAITING = "The answer appears here while you type, with the evidence. Try one of the examples below.";
const folder = new URL("../", import.meta.url);
const root = new URL("../../", folder);

/** What the box needs: units, words, names and facts; fetched once, when somebody types. */
let fetched;
function tables() {
  const get = (name) => fetch(new URL(name, folder)).then((answer) => answer.json());
  fetched ??= Promise.all([get("data.json"), get("check.json")]).then(([units, record]) => {
    useTables(units);
    return {...record, look: lookIn(record)};
  });
  return fetched;
}

/** What the command says of a text: {findings} or {problem}. */
export async function checked(text) {
  const {words, names, look, sources, chips} = await tables();
  try {
    return {sources, findings: read(text, words, names).map((statement) => judge(statement, words, look))};
  } catch (error) {
    if (!error.reason) throw error;
    if (error.statements.length) return {problem: ofAnybody(error.statements, words, look, chips)};
    return {problem: error.message};
  }
}

export function startCheck(host) {
  const input = el("input", {id: "fb-check-text", type: "text", autocomplete: "off", spellcheck: "false", maxlength: "500", placeholder: "H100 1,979 TFLOPS"});
  const answer = el("div", {class: "fb-check-answer", role: "status", "aria-live": "polite"});
  let asked = 0;
  const update = async () => {
    const mine = ++asked;
    const text = input.value;
    const url = new URL(location.href);
    if (text) url.searchParams.set("text", text);
    else url.searchParams.delete("text");
    history.replaceState(null, "", url);
    const result = text.trim() ? await checked(text) : {};
    if (mine === asked) show(answer, result);
  };
  input.addEventListener("input", update);
  const form = el("form", {class: "fb-form", novalidate: true, submit: (event) => event.preventDefault()},
    el("div", {class: "fb-field"}, el("label", {for: input.id}, "A chip and a number with its unit"), input), answer);
  host.replaceChildren(form);
  for (const link of document.querySelectorAll("a.fb-check-try")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      input.value = link.textContent;
      input.focus();
      update();
    });
  }
  input.value = (new URLSearchParams(location.search).get("text") ?? "").slice(0, 500);
  update();
}

function show(host, {findings = [], problem = "", sources}) {
  if (!problem && !findings.length) {
    host.replaceChildren(el("p", {class: "fb-fine"}, WAITING));
    return;
  }
  if (problem) {
    host.replaceChildren(el("p", {class: "fb-open"}, `${problem[0].toUpperCase()}${problem.slice(1)}${problem.endsWith("?") ? "" : "."}`));
    return;
  }
  host.replaceChildren(...findings.map((finding) => found(finding, sources)));
}

function found({holds, chip, says, evidence}, places) {
  const [first, ...more] = says;
  const at = first.indexOf(": ") + 2;
  const name = el("a", {href: new URL(`accelerators/${chip}/`, root)}, first.slice(0, at - 2));
  const keys = [...new Set(evidence.map(({source}) => source))].filter((key) => Object.hasOwn(places, key));
  const sources = keys.flatMap((key, n) => [n ? ", " : "Published by: ", el("a", {href: new URL(places[key][1], root)}, places[key][0])]);
  return el("div", {class: holds ? "fb-check-found fb-check-holds" : "fb-check-found"},
    el("p", {class: "fb-check-main"}, el("strong", {}, holds ? "Holds. " : "Does not hold as written. "), name, `: ${first.slice(at)}.`),
    more.length ? el("ul", {}, ...more.map((text) => el("li", {}, `${text[0].toUpperCase()}${text.slice(1)}.`))) : null,
    sources.length ? el("p", {class: "fb-check-sources"}, ...sources) : null);
}

for (const host of document.querySelectorAll(".fb-check-number")) startCheck(host);
