// How the planner says a layout and its numbers; `scripts/website/pages/planner_words.py` says the same at build time.

import {formatQuantity} from "../quantity.js";

export const grouped = (number) => number.toLocaleString("en");
export const rounded = (value, unit) => formatQuantity(Number(value.toPrecision(2)), unit);
export const three = (value, unit) => formatQuantity(Number(value.toPrecision(3)), unit);

/** A number of chips: "1 chip", "1,024 chips". */
export const chipsWords = (count) => `${grouped(count)} ${count === 1 ? "chip" : "chips"}`;

/** A number of tokens with so many digits, without its unit: "99,200", "3.96 million". */
export const many = (value, digits = 2) => formatQuantity(Number(value.toPrecision(digits)), "token").replace(/ tokens?$/, "");
/** Tokens a second with so many digits. */
export const pace = (value, digits = 2) => `${many(value, digits)} tokens/s`;

const UNITS = [[365 * 86400, "years"], [86400, "days"], [3600, "hours"]];

/** A time with two digits, from two hours on in hours, days or years. */
export function duration(seconds) {
  const found = UNITS.find(([size]) => seconds >= 2 * size);
  return found ? `${grouped(Number((seconds / found[0]).toPrecision(2)))} ${found[1]}` : rounded(seconds, "s");
}

/** A layout in the words of practitioners: "TP 4, PP 4 with 10 chunks, CP 2, DP 16 with ZeRO-1". */
export function layoutWords({tp, pp, cp, ep, dp, virtual, zero, hsdp}) {
  const words = [];
  const inGroups = hsdp > 1 ? ` in ${grouped(hsdp)} groups` : "";
  const sharding = zero === 3 ? `FSDP (ZeRO-3)${inGroups}` : `ZeRO-${zero}${inGroups}`;
  if (tp > 1) words.push(`TP ${tp}`);
  if (pp > 1) words.push(virtual > 1 ? `PP ${pp} with ${virtual} chunks` : `PP ${pp}`);
  if (cp > 1) words.push(`CP ${cp}`);
  if (ep > 1) words.push(`EP ${ep}`);
  if (dp > 1) words.push(`DP ${grouped(dp)}${zero ? ` with ${sharding}` : ""}`);
  else if (zero) words.push(sharding);
  return words.join(", ") || "one chip";
}

const NEAR = 1.05; // times the step of the best number of chunks

/** Other numbers of chunks that are nearly as fast: "With 4 or 10 chunks at most 0.7 % longer"; nothing where there are none. */
export function chunkWords({virtual, seconds, chunks}) {
  const near = [...chunks].filter(([count, step]) => count !== virtual && step <= NEAR * seconds).sort(([a], [b]) => a - b);
  if (!near.length) return "";
  const counts = near.map(([count]) => count);
  const last = counts.pop();
  const listed = counts.length ? `${counts.join(", ")} or ${last}` : `${last}`;
  const most = 100 * (Math.max(...near.map(([, step]) => step)) / seconds - 1);
  return `With ${listed} ${listed === "1" ? "chunk" : "chunks"} ${counts.length ? "at most " : ""}${most.toFixed(1)} % longer`;
}

/** Micro-batches and recomputation of a layout. */
export function batchWords({micro_batch, microbatches, recompute}) {
  const sequences = micro_batch === 1 ? "1 sequence" : `${grouped(micro_batch)} sequences`;
  const count = microbatches === 1 ? "1 micro-batch" : `${grouped(microbatches)} micro-batches`;
  const again = recompute === "none" ? "no recomputation" : `${recompute} recomputation`;
  return `${count} of ${sequences}, ${again}`;
}

/** The chips of a replica: "one chip", "TP 4, PP 2". Experts on all ranks of a stage are EP. */
export function replicaWords({tp, pp, dp, ep}) {
  const words = [];
  if (tp > 1) words.push(`TP ${tp}`);
  if (pp > 1) words.push(`PP ${pp}`);
  if (dp > 1) words.push(`DP attention ${dp}`);
  if (ep > 1) words.push(`EP ${ep}`);
  return words.join(", ") || "one chip";
}

function replicasWords(count, division) {
  return count === 1 ? `one replica: ${replicaWords(division)}` : `${grouped(count)} replicas of ${replicaWords(division)}`;
}

/** A way to serve: "2 replicas of TP 4", or both pools. */
export function servingWords(layout) {
  if (!layout.prefill) return replicasWords(layout.replicas, layout);
  return `prompts on ${replicasWords(layout.prefill_replicas, layout.prefill)}; answers on ${replicasWords(layout.replicas, layout)}`;
}
