// "Will it train?" and "Will it serve?": layouts are tried in the order of the data, with the formulas of the calculators.
// What this needs comes when the reader first touches a form.

import {formatQuantity, useTables} from "../quantity.js";
import {neutral} from "../link.js";
import {resolve} from "../values.js";

const MOST_CHIPS = 65536;
const WIDEST = 64; // tensor-parallel chips that serving tries
const FORMATS = ["bf16", "fp8"];
let loaded = null;

async function load(address) {
  const get = (name) => fetch(new URL(`../${name}.json`, import.meta.url)).then((answer) => answer.json());
  const record = await (await fetch(address)).json();
  const names = Object.keys(record.specs);
  const [common, chips, models, ...made] = await Promise.all([
    get("data"), get("chips"), get("models"), ...names.map((name) => import(`../formulas/${name}.js`)),
  ]);
  useTables(common);
  const functions = Object.fromEntries(names.map((name, n) => [name, made[n]]));
  return {...record, data: {...common, chips, models}, functions};
}

export function startAsk(form) {
  const said = form.querySelector(".fb-said");
  const update = async () => {
    loaded ??= load(form.dataset.json);
    const known = await loaded;
    const [count] = form.querySelectorAll("input:not([type=hidden])");
    const chips = Number(count.value.trim().replaceAll(",", ""));
    const asked = {model: form.elements.model.value, chip: form.elements.chip.value, chips};
    const valid = Number.isInteger(chips) && chips >= 1 && chips <= MOST_CHIPS;
    count.setAttribute("aria-invalid", !valid);
    show(said, valid ? {train, serve}[form.dataset.ask](known, asked) : {verdict: known.words.count});
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

const grouped = (number) => number.toLocaleString("en");
/** Tokens of a sequence: as many as asked for, but no more than the model was made for. */
function tokens(known, model, most) {
  return Math.min(most, known.data.models.find(({id}) => id === model)?.context?.value ?? most);
}
const rounded = (rate) => grouped(Number(rate.toPrecision(2)));

/** A time with two digits in the largest unit of which it has two or more. */
function duration({durations}, seconds) {
  const [size, name] = durations.find(([one, words]) => seconds >= 2 * one || words === "seconds");
  return `${grouped(Number((seconds / size).toPrecision(2)))} ${name}`;
}

/** The first layout that fits, else the one that needs least; null where none can be computed. */
function laidOut(known, {model, chip, chips}) {
  let best = null;
  let problem = "";
  for (const layout of known.layouts) {
    if (chips % layout.tp) continue;
    const given = {model, chip, seq: String(tokens(known, model, known.seq)), zero: "3", tp: String(layout.tp), dp: String(chips / layout.tp), recompute: layout.recompute};
    if (layout.tp > 1) given.sequence_parallel = "yes";
    const answer = compute(known, "memory", given);
    problem ||= answer.problem ?? "";
    if (!answer.result) continue;
    const found = {layout, total: answer.result.total, free: answer.result.free};
    if (found.free >= 0) return found;
    if (!best || found.free > best.free) best = found;
  }
  return best ?? {problem};
}

function train(known, asked) {
  const {words} = known;
  const found = laidOut(known, asked);
  if (found.problem) return {verdict: fill(words.open, {problem: found.problem})};
  const {layout, total, free} = found;
  const sizes = {used: formatQuantity(total, "byte"), memory: formatQuantity(total + free, "byte"), over: formatQuantity(-free, "byte")};
  if (free < 0) return {verdict: fill(words.misfit, sizes), layout: enough(known, asked), fits: false};
  const sharding = asked.chips === 1
    ? fill(words.one, {recompute: layout.recompute})
    : fill(layout.words, {chips: grouped(asked.chips), copies: grouped(asked.chips / layout.tp)});
  const batch = fill(words.batch, {seq: grouped(tokens(known, asked.model, known.seq))});
  return {verdict: fill(words.fits, sizes), layout: `${sharding}; ${batch}`, pace: time(known, asked), fits: true};
}

/** From how many chips on it fits, in powers of two. */
function enough(known, asked) {
  for (let chips = 2 ** Math.ceil(Math.log2(asked.chips + 1)); chips <= MOST_CHIPS; chips *= 2) {
    if (laidOut(known, {...asked, chips}).free >= 0) return fill(known.words.from, {chips: grouped(chips)});
  }
  return known.words.never;
}

function time(known, {model, chip, chips}) {
  const given = {model, chip, chips: String(chips), mfu: String(known.mfu), seq: String(tokens(known, model, known.seq))};
  const {result, values, problem} = compute(known, "training-time", given);
  if (problem) return "";
  return fill(known.words.time, {
    time: duration(known, result.seconds), tokens: formatQuantity(values.tokens, "token"), mfu: Math.round(100 * known.mfu),
  });
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
