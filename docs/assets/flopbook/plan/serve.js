// "Will it serve?": what is asked, the verdict, and a card for each way to serve.

import {el} from "../dom.js";
import {formatQuantity, typeset} from "../quantity.js";
import {bandNumber, bars, costNumber, hourly, link, money, number, priceOf, priced} from "./cards.js";
import {drawn} from "./drawing.js";
import {amount, chipsOf, chosen, limit, text} from "./typed.js";
import {chipsWords, grouped, many, pace, rounded, servingWords, three} from "./words.js";

export const title = "The best layouts";
const MOST_TOKENS = 2 ** 24;
const MILLION = 1e6;

/** The questions of the form; throws a Refusal for what cannot be planned. */
export function asked(form, {serving: {usual}}) {
  const chips = chipsOf(form);
  const length = (name) => amount(form, name, "token", {most: MOST_TOKENS}) ?? usual[name];
  const common = {
    model: text(form, "model"), dtype: text(form, "dtype", "bf16"), chips, prompt: length("prompt"), answer: length("answer"),
    first: limit(form, "max-first-token"), each: limit(form, "max-per-token"),
  };
  return {questions: chosen(form).map((chip) => ({...common, chip})), price: amount(form, "price", "USD/s", {least: 0, whole: false})};
}

/** The lines that answer the question. */
export function verdict(pair, pairs) {
  const {question, answer, name} = pair;
  const of = pairs.length > 1 ? `${name}: ` : "";
  const count = chipsWords(question.chips);
  const [best] = answer.layouts;
  if (best) {
    const rate = `${pace(best.tokens_per_s, 3)}, ${many(best.low)} to ${many(best.high)} (80 % band)`;
    return [el("p", {class: "fb-verdict fb-fit"}, `${of}Fits: ${rate}.`), el("p", {class: "fb-fine"}, `${meaning(pair, best)}${cost(pair, best)}`)];
  }
  if (answer.holds) {
    const told = "No layout of these chips meets the limits on time. Allow more time, or add chips.";
    return [el("p", {class: "fb-verdict fb-misfit"}, `${of}Fits on ${count}, but too slow.`), el("p", {class: "fb-fine"}, told)];
  }
  const format = answer.narrower ? `In ${answer.narrower} it fits. ` : "";
  const from = answer.enough ? `In ${question.dtype} it fits from ${grouped(answer.enough)} chips.` : "No number of these chips is enough.";
  return [
    el("p", {class: "fb-verdict fb-misfit"}, `${of}Does not fit on ${count} in ${question.dtype}.`),
    el("p", {class: "fb-fine"}, `A chip has ${three(answer.room, "byte")} for weights and KV cache. ${format}${from}`),
  ];
}

function meaning({answer}, best) {
  const readers = best.batch * best.replicas;
  const [alone, overall] = [1 / best.per_token, best.tokens_per_s / readers].map((rate) => pace(rate));
  // While prompts of others are read nobody gets tokens, so that all get less than one would.
  const waits = overall === alone ? "" : `, and ${overall} over all, waits for prompts included`;
  const each = `each gets ${alone} after ${rounded(best.first_token, "s")}${waits}`;
  return `The best of ${grouped(answer.tried)} layouts: ${typeset(servingWords(best))}. ${grouped(readers)} conversations at once; ${each}.`;
}

function cost(pair, best) {
  const price = priceOf(pair);
  return price ? ` ${money(costOf(pair, best, price))} a million tokens ${priced(price)}.` : "";
}

const costOf = ({question}, {tokens_per_s}, {rate}) => MILLION * question.chips * rate / tokens_per_s;

/** One way to serve: picture, division, and its numbers. */
export function card(pair, layout, place) {
  const {question, answer} = pair;
  const words = servingWords(layout);
  const share = Math.round(100 * answer.used);
  return el("section", {class: "fb-card fb-plan-card"},
    el("div", {class: "fb-plan-head"},
      el("h3", {}, `${place + 1}. ${words[0].toUpperCase()}${typeset(words.slice(1))}`),
      ...pictures(layout, words),
      el("p", {class: "fb-fine"}, `${grouped(layout.batch)} ${layout.batch === 1 ? "sequence" : "sequences"} at once on each ${layout.prefill ? "decode " : ""}replica`)),
    el("div", {},
      number("Throughput", pace(layout.tokens_per_s, 3), [
        ...rate(question, layout),
        el("p", {}, `${pace(layout.tokens_per_s / question.chips)} on each chip. Tokens are those of answers. `, link("planning/#serving", "How a plan is made"), ". In a terminal:"),
        el("pre", {}, el("code", {}, command(question, layout))),
      ]),
      bandNumber("throughput", `${many(layout.low)} to ${pace(layout.high)}`, answer.band),
      number("Time to first token", three(layout.first_token, "s"), [
        bars(layout.first, "s", layout.first_token, answer.words.time),
        el("p", {}, `One prompt of ${grouped(question.prompt)} tokens with no queue before it.`),
      ]),
      number("Time per token", three(layout.per_token, "s"), [
        bars(layout.token, "s", layout.per_token, answer.words.time),
        el("p", {}, `Each reader gets ${pace(1 / layout.per_token)}. Reading the weights overlaps in part with multiplying by them: both take longer than the longer of the two, and less than their sum.`),
      ]),
      number("Memory", `${three(layout.bytes, "byte")} of ${three(answer.room, "byte")}`, [
        bars(layout.held, "byte", layout.bytes, answer.words.memory),
        el("p", {}, `On each ${layout.prefill ? "decode " : ""}chip, once all answers are complete. Engines set aside ${share} % of ${formatQuantity(answer.memory, "byte")} for weights and cache.`),
      ]),
      costNumber(priceOf(pair), (price) => ({
        value: `${money(costOf(pair, layout, price))} a million tokens`,
        sum: `${grouped(question.chips)} chips × ${hourly(price)} ÷ ${pace(layout.tokens_per_s, 4)}`,
      }))),
  );
}

/** Ranks of attention are drawn as rows; where prompts have a pool of their own, it has a picture. */
function pictures(layout, words) {
  const one = (division, replicas, told) => drawn({...division, cp: division.dp, dp: replicas}, words, told);
  if (!layout.prefill) return [one(layout, layout.replicas, "")];
  return [one(layout.prefill, layout.prefill_replicas, "prompts: "), one(layout, layout.replicas, "answers: ")];
}

/** Where the throughput comes from. */
function rate(question, layout) {
  const {prompt, answer} = question;
  const sequences = `${grouped(layout.replicas)} × ${grouped(layout.batch)} sequences`;
  const step = formatQuantity(layout.per_token + layout.scheduling, "s");
  const scheduled = `A step takes ${formatQuantity(layout.per_token, "s")} plus ${formatQuantity(layout.scheduling, "s")} of scheduling and sampling.`;
  if (!layout.prefill) {
    const whole = `${sequences} × ${grouped(answer)} tokens ÷ (${formatQuantity(layout.reading, "s")} + ${grouped(answer)} × ${step}).`;
    return [el("p", {}, whole), el("p", {}, `In brackets: the prefill of ${grouped(layout.batch)} prompts of ${grouped(prompt)} tokens, then a step for each token of the answer. ${scheduled}`)];
  }
  const reads = `Prompts: ${grouped(layout.prefill_replicas)} × ${formatQuantity(layout.prompts_per_s, "1")} a second × ${grouped(answer)} tokens of each answer.`;
  return [el("p", {}, `The smaller of two rates. ${reads} Answers: ${sequences} ÷ ${step}.`), el("p", {}, scheduled)];
}

/** The command that gives the same number. */
function command(question, layout) {
  const {model, chip, chips, dtype, prompt, answer, first, each} = question;
  const limits = [["max-first-token", first], ["max-per-token", each]].filter(([, most]) => Number.isFinite(most)).map(([name, most]) => `--${name} ${Number((1e3 * most).toPrecision(6))}ms`);
  const degrees = ["tp", "pp", "dp", "ep"].filter((name) => name === "tp" || layout[name] > 1);
  const fixed = layout.prefill ? ["--pools two"] : ["--pools one", ...degrees.map((name) => `--${name} ${layout[name]}`), `--batch ${layout.batch}`];
  return [
    `flopbook plan --serve --model ${model} --chip ${chip.split("/").pop()} --chips ${chips}`,
    `--dtype ${dtype} --prompt ${prompt} --answer ${answer} ${fixed.join(" ")}`,
    ...(limits.length ? [limits.join(" ")] : []),
  ].join(" \\\n  ");
}
