// "Will it train?" asks the planner, "Will it serve?" the formula of its calculator.
// What this needs comes when the reader first touches a form.

import {formatQuantity, useTables} from "../quantity.js";
import {neutral} from "../link.js";
import {record, usual} from "../plan/asking.js";
import {planned} from "../plan/client.js";
import {duration, grouped, layoutWords, rounded as shortly, three} from "../plan/words.js";
import {resolve} from "../values.js";

const MOST_CHIPS = 65536;
const WIDEST = 64; // tensor-parallel chips that serving tries
const FORMATS = ["bf16", "fp8"];
let loaded = null;

async function load(address) {
  const get = (name) => fetch(new URL(`../${name}.json`, import.meta.url)).then((answer) => answer.json());
  const record = await (await fetch(address)).json();
  const names = Object.keys(record.specs);
  const [common, values, made] = await Promise.all([
    get("data"), Promise.all(names.map((name) => get(`values/${name}`))), Promise.all(names.map((name) => import(`../formulas/${name}.js`))),
  ]);
  useTables(common);
  const functions = Object.fromEntries(names.map((name, n) => [name, made[n]]));
  return {...record, data: Object.assign({}, common, ...values), functions};
}

export function startAsk(form) {
  const said = form.querySelector(".fb-said");
  let latest = 0;
  const update = async () => {
    const mine = ++latest;
    form.setAttribute("aria-busy", "true");
    loaded ??= load(form.dataset.json);
    const known = await loaded;
    const [count] = form.querySelectorAll("input:not([type=hidden])");
    const chips = Number(count.value.trim().replaceAll(",", ""));
    const asked = {model: form.elements.model.value, chip: form.elements.chip.value, chips};
    const valid = Number.isInteger(chips) && chips >= 1 && chips <= MOST_CHIPS;
    count.setAttribute("aria-invalid", !valid);
    const answer = valid ? await {train, serve}[form.dataset.ask](known, asked) : {verdict: known.words.count};
    if (mine !== latest) return;
    form.removeAttribute("aria-busy");
    if (answer) show(said, answer);
  };
  form.addEventListener("focusin", () => { loaded ??= load(form.dataset.json); }, {once: true});
  form.addEventListener("input", update);
}

function show(said, {verdict, layout = "", pace = "", fits}) {
  const lines = [[verdict, `fb-verdict ${fits === undefined ? "" : fits ? "fb-fit" : "fb-misfit"}`], [layout, "fb-fine"], [pace, "fb-fine"]];
  said.replaceChildren(...lines.filter(([text]) => text).map(([text, kind]) => {
    const line = document.createElement("p");
    line.className = kind;
    line.textContent = text;
    return line;
  }));
}

/** The result of a calculator for some given texts, or what keeps it from one. */
function compute(known, name, given) {
  const spec = known.specs[name];
  const fields = new Map([...spec.takes, ...spec.inputs.map((input) => input.name)].map((one) => [one, {}]));
  const entries = {chip: known.data.chips, model: known.data.models};
  const form = {
    spec,
    data: known.data,
    fields,
    text: (field) => given[field] ?? neutral(spec, field),
    picked: (field) => entries[field]?.find(({id}) => id === given[field]),
  };
  const values = {};
  for (const input of spec.inputs) {
    const found = resolve(input, form);
    if (found.error) return {problem: `${input.meaning}: ${found.error}`};
    values[input.name] = found.value;
  }
  const made = known.functions[name];
  const stem = name.replaceAll("-", "_");
  const problem = made[`${stem}_broken`](values);
  return problem ? {problem} : {result: made[stem](values), values};
}

function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** Tokens of a sequence: as many as asked for, but no more than the model was made for. */
function tokens(known, model, most) {
  return Math.min(most, known.data.models.find(({id}) => id === model)?.context?.value ?? most);
}
const rounded = (rate) => grouped(Number(rate.toPrecision(2)));

/** The best of all layouts, as the page of the planner finds it. */
async function train({words}, asked) {
  const known = await record();
  const {seq, tokens} = usual(known, asked.model);
  const answer = await planned({...asked, stack: "megatron-core", dtype: "bf16", seq, batch: tokens / seq});
  if (!answer) return null;
  const count = `${grouped(asked.chips)} ${asked.chips === 1 ? "chip" : "chips"}`;
  const [best] = answer.layouts;
  if (!best) {
    const enough = answer.enough ? fill(words.from, {chips: grouped(answer.enough)}) : words.never;
    return {verdict: fill(answer.tried ? words.too_many : words.none, {count}), layout: answer.tried ? enough : "", fits: false};
  }
  const times = {step: shortly(best.seconds, "s"), low: shortly(best.low, "s"), high: shortly(best.high, "s")};
  return {
    verdict: fill(words.fits, {used: three(best.bytes, "byte"), memory: three(answer.room, "byte")}),
    layout: fill(words.plan, {layout: layoutWords(best), ...times}),
    pace: pace(words, known.models[asked.model].tokens, best.seconds, tokens),
    fits: true,
  };
}

/** How long the tokens of a model take, where their number is on file. */
function pace(words, whole, seconds, tokens) {
  return whole ? fill(words.time, {time: duration(Math.ceil(whole / tokens) * seconds), tokens: formatQuantity(whole, "token")}) : "";
}

/** In the widest format that fits, else what it lacks. */
function serve(known, asked) {
  const {words} = known;
  const tried = FORMATS.map((dtype) => grouping(known, asked, dtype));
  const found = tried.find(({result}) => result);
  if (found) return served(known, asked, found);
  const {problem, least} = tried.at(-1).least ? tried.at(-1) : tried[0];
  if (!least) return {verdict: fill(words.open, {problem})};
  const from = Number.isFinite(least.fewest) ? fill(words.from, {chips: grouped(least.fewest)}) : "";
  return {verdict: fill(words.misfit, least), layout: from, fits: false};
}

/** The group of chips that holds the model: a node or all chips, narrower only where these do not divide it. */
function grouping(known, {model, chip, chips}, dtype) {
  const seq = String(tokens(known, model, known.context));
  let problem = "";
  let least = null;
  for (let tp = 1; tp <= Math.min(chips, WIDEST); tp *= 2) {
    const whole = chips <= 8 && tp * 2 > chips ? chips : tp;
    const answer = compute(known, "serving", {model, chip, dtype, seq, tp: String(whole)});
    problem ||= answer.problem ?? "";
    if (!answer.result) continue;
    const {result} = answer;
    least = {used: formatQuantity(result.chip_bytes, "byte"), over: formatQuantity(-result.free, "byte"), fewest: result.fewest_chips};
    const wide = whole >= Math.min(8, chips) || chips % (whole * 2);
    if (result.batch_fits >= 1 && wide) return {result, tp: whole, copies: Math.floor(chips / whole), dtype};
  }
  return {problem, least};
}

function served(known, {model}, {result, tp, copies, dtype}) {
  const {words} = known;
  const seq = grouped(tokens(known, model, known.context));
  return {
    verdict: fill(words.serves, {batch: grouped(Math.floor(result.batch_fits * copies)), format: dtype}),
    layout: fill(words.group, {tp, copies: copies > 1 ? fill(words.copies, {count: grouped(copies)}) : "", seq}),
    pace: fill(words.pace, {total: rounded(result.tokens_per_s * copies), each: rounded(1 / result.seconds)}),
    fits: true,
  };
}
