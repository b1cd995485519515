// "Will it train?": what is asked, the verdict, and a card for each layout.

import {el} from "../dom.js";
import {formatQuantity, typeset} from "../quantity.js";
import {usual} from "./asking.js";
import {bandNumber, bars, costNumber, hourly, link, money, number, priceOf, priced} from "./cards.js";
import {drawn} from "./drawing.js";
import {Refusal, amount, chipsOf, chosen, nameOf, text} from "./typed.js";
import {batchWords, chipsWords, chunkWords, duration, grouped, layoutWords, pace, rounded, three} from "./words.js";

export const title = "The best layouts";
const MOST_SEQUENCES = 2 ** 30;
const RUN = 15e12; // tokens of a run of a model that names none

/** The questions of the form; throws a Refusal for what cannot be planned. */
export function asked(form, known) {
  const chips = chipsOf(form);
  const model = text(form, "model");
  const open = usual(known, model);
  const whole = known.models[model].tokens ?? RUN;
  const seq = amount(form, "seq", "token", {most: 2 ** 24}) ?? open.seq;
  const budget = amount(form, "tokens", "token", {whole: false}) ?? whole;
  suggest(form, whole, open.seq);
  const tokens = amount(form, "batch-tokens", "token") ?? open.tokens - open.tokens % seq;
  if (tokens % seq || tokens < seq || tokens / seq > MOST_SEQUENCES) {
    const near = 2 ** Math.max(0, Math.round(Math.log2(tokens / seq)));
    throw new Refusal("batch-tokens", `A batch of ${tokens.toLocaleString("en")} tokens is no whole number of sequences of ${seq.toLocaleString("en")}; use ${(near * seq).toLocaleString("en")}.`);
  }
  const price = amount(form, "price", "USD/s", {least: 0, whole: false});
  const common = {model, stack: text(form, "stack", "megatron-core"), dtype: text(form, "dtype", "bf16")};
  const lacking = chosen(form).find((chip) => known.chips[chip].lacks.includes(common.dtype));
  if (lacking) throw new Refusal("dtype", `${nameOf(form.elements.chip, lacking)} has no ${common.dtype} peak on record; train in bf16.`);
  return {questions: chosen(form).map((chip) => ({...common, chip, chips, seq, batch: tokens / seq})), price, budget};
}

/** Show what counts where nothing is typed, as one would type it. */
function suggest(form, tokens, seq) {
  const [size, letter] = tokens >= 1e12 ? [1e12, "T"] : [1e9, "B"];
  const shown = {seq: grouped(seq), tokens: `${Number((tokens / size).toPrecision(3))}${letter}`};
  for (const [name, words] of Object.entries(shown)) if (form.elements[name]) form.elements[name].placeholder = words;
}

/** The lines that answer the question. */
export function verdict(pair, pairs) {
  const {question, answer, name} = pair;
  const of = pairs.length > 1 ? `${name}: ` : "";
  const count = chipsWords(question.chips);
  if (!answer.tried) {
    return [el("p", {class: "fb-verdict fb-misfit"}, `${of}No layout exists for ${count}.`), el("p", {class: "fb-fine"}, "The heads, the layers or the sequences of the batch do not divide over that many chips; a power of two usually works.")];
  }
  if (!answer.layouts.length) {
    const from = answer.enough ? `It fits from ${grouped(answer.enough)} chips.` : "No number of these chips is enough.";
    return [el("p", {class: "fb-verdict fb-misfit"}, `${of}Does not fit on ${count}.`), el("p", {class: "fb-fine"}, `None of ${grouped(answer.tried)} layouts fits into ${formatQuantity(answer.room, "byte")} a chip. ${from}`)];
  }
  const [best] = answer.layouts;
  const step = `${rounded(best.seconds, "s")} a step, ${rounded(best.low, "s")} to ${rounded(best.high, "s")} (80 % band)`;
  return [
    el("p", {class: "fb-verdict fb-fit"}, `${of}Fits: ${step}.`),
    el("p", {class: "fb-fine"}, `The best of ${grouped(answer.tried)} layouts: ${typeset(layoutWords(best))}. ${run(pair, best)}`),
  ];
}

/** Time and cost of the whole run, where a number of tokens was typed. */
function run(pair, best) {
  const {question, budget} = pair;
  const steps = Math.ceil(budget / (question.batch * question.seq));
  const price = priceOf(pair);
  const cost = price ? `, ${money(steps * best.seconds * question.chips * price.rate)} ${priced(price)}` : "";
  return `${formatQuantity(budget, "token")} take ${duration(steps * best.seconds)} without failures${cost}.`;
}

/** One layout: picture, degrees, and its numbers. */
export function card(pair, layout, place) {
  const {question, answer} = pair;
  const words = layoutWords(layout);
  const tokens = question.batch * question.seq;
  return el("section", {class: "fb-card fb-plan-card"},
    el("div", {class: "fb-plan-head"},
      el("h3", {}, `${place + 1}. ${typeset(words)}`),
      drawn(layout, words),
      el("p", {class: "fb-fine"}, [batchWords(layout), chunkWords(layout)].filter(Boolean).join(". "))),
    el("div", {},
      number("Step time", three(layout.seconds, "s"), [
        bars(layout.parts, "s", layout.seconds, answer.words.time),
        el("p", {}, "Each part is its work divided by the rate that measured runs reach. ", link("planning/", "How a plan is made"), ". In a terminal:"),
        el("pre", {}, el("code", {}, command(question, layout))),
      ]),
      bandNumber("step time", `${three(layout.low, "s")} to ${three(layout.high, "s")}`, answer.band),
      number("Memory", `${three(layout.bytes, "byte")} of ${three(answer.room, "byte")}`, [
        bars(layout.held, "byte", layout.bytes, answer.words.memory),
        el("p", {}, link(`calculators/memory/${query(question, layout, answer.options)}`, "How this adds up, step by step, in the memory calculator"), "."),
      ]),
      number("MFU", `${(100 * layout.mfu).toPrecision(3)} %`, [
        el("p", {}, `${grouped(tokens)} tokens × ${formatQuantity(answer.flop, "FLOP/token")} ÷ (${formatQuantity(layout.seconds, "s")} × ${grouped(question.chips)} × ${formatQuantity(answer.peak, "FLOP/s")}). The peak is that of the format without sparsity.`),
      ]),
      number("Throughput", pace(tokens / layout.seconds, 3), [
        el("p", {}, `${grouped(tokens)} tokens ÷ ${formatQuantity(layout.seconds, "s")}; ${pace(tokens / layout.seconds / question.chips)} on each chip.`),
      ]),
      costNumber(priceOf(pair), (price) => ({
        value: `${money(1e9 * layout.seconds * question.chips * price.rate / tokens)} a billion tokens`,
        sum: `${formatQuantity(layout.seconds, "s")} × ${grouped(question.chips)} chips × ${hourly(price)} ÷ ${grouped(tokens)} tokens`,
      }))),
  );
}

/** The command that gives the same number. */
function command(question, layout) {
  const degrees = ["tp", "pp", "cp", "ep", "dp", "virtual", "zero", "hsdp"].filter((name) => layout[name] > 1 || name === "zero" || name === "dp").map((name) => `--${name} ${layout[name]}`);
  return [
    `flopbook predict --model ${question.model} --chip ${question.chip.split("/").pop()} --chips ${question.chips}`,
    `--batch-tokens ${question.batch * question.seq} --seq ${question.seq} --dtype ${question.dtype} --stack ${question.stack}`,
    `${degrees.join(" ")} --micro-batch ${layout.micro_batch} --recompute ${layout.recompute}`,
  ].join(" \\\n  ");
}

/** The state of the memory calculator with the inputs of a layout. */
function query(question, layout, options) {
  const state = {
    model: question.model, chip: question.chip, seq: question.seq, dtype: question.dtype, ...options,
    tp: layout.tp, pp: layout.pp, cp: layout.cp, ep: layout.ep, dp: layout.dp, zero: layout.zero, hsdp: layout.hsdp, schedule: layout.schedule,
    virtual: layout.virtual, micro_batch: layout.micro_batch, microbatches: layout.microbatches, recompute: layout.recompute,
  };
  return `?${new URLSearchParams(Object.entries(state).map(([name, value]) => [name.replaceAll("_", "-"), value]))}`;
}
