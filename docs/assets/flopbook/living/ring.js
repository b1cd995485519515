// An all-reduce on a ring: sums travel round once until each block is whole on one chip, then the whole blocks travel round.

import {svg} from "../dom.js";
import {collective} from "../formulas/collective.js";
import {seconds} from "./timeline.js";

const [HEAD, ROW, FOOT] = [22, 26, 8];
const WHOLE = 1e-9; // of a step, which rounding may lack of a whole one
const amount = (power) => { const bytes = 10 ** power; const n = Math.floor(power / 3); return `${Math.round(bytes / 1000 ** n)} ${["B", "kB", "MB", "GB", "TB"][n]}`; };

export function scene({inputs}) {
  return {
    begin: 0.4, // at the end all blocks look alike; here some are summed, and some on their way
    controls: [
      {name: "chips", label: "Chips", min: 2, max: 8, step: 1, value: 4, say: String},
      {name: "size", label: "Bytes of the array", min: 3, max: 10, step: 0.25, value: 8, say: amount},
      {name: "link", label: "Link, one way", min: 10, max: 900, step: 10, value: Math.round(inputs.link_bandwidth / 1e9), say: (gb) => `${gb} GB/s`},
    ],
    run({chips, size, link}, width) {
      const answer = collective({...inputs, op: "all-reduce", chips, bytes: 10 ** size, link_bandwidth: link * 1e9});
      const end = answer.seconds;
      const count = 2 * (chips - 1);
      const waiting = answer.latency_seconds / end;
      const bound = waiting > 0.5 ? `${Math.round(100 * waiting)} % of it is waiting for hops, which more bandwidth does not shorten.` : "Bytes set the time: another chip adds steps, and each carries less.";
      const line = inputs.links_per_axis > 1 && chips % inputs.ring_side > 0;
      const open = line ? ` ${chips} chips are a line: only multiples of ${inputs.ring_side} close the ring on this torus. The way back takes the other direction of the links, and bytes take twice as long.` : "";
      const words = `${count} steps, ${seconds(end)} in all. ${bound}${open}`;
      const {picture, show} = board(chips, width, words);
      const step = (now) => Math.min((now / end) * count, count);
      const moment = (now) => `step ${Math.min(Math.floor(step(now)) + 1, count)} of ${count}, ${seconds(now)}`;
      const steps = Array.from({length: count}, (_, n) => ((n + 1) * end) / count);
      const rows = (now) => sums(chips, Math.floor(step(now) + WHOLE));
      return {picture, end, words, steps, rows, at: (now) => show(step(now), moment(now)), moment};
    },
  };
}

/** How many chips' values each chip has of each block after so many whole steps, as a table with a row of heads. */
function sums(chips, steps) {
  const each = Array.from({length: chips}, (_, n) => n);
  return [["chip", "block", "values summed"], ...each.flatMap((chip) => each.map((block) => [chip, block, terms(chip, block, steps, chips)]))];
}

/** Terms of the sum that a chip has of a block after so many whole steps. */
export function terms(chip, block, steps, chips) {
  const turn = (number) => ((number % chips) + chips) % chips;
  const summed = Math.min(steps, chips - 1);
  const back = turn(chip - block - 1); // the steps of the sum after which this chip got the block, less one
  const own = back + 1 <= summed && back < chips - 1 ? back + 2 : 1;
  const rounds = steps - (chips - 1);
  if (rounds > 0 && turn(chip - (block - 1)) <= rounds) return chips;
  return own;
}

function board(chips, width, said) {
  const cell = Math.min((width - 56) / chips, 140);
  const left = 52;
  const height = HEAD + ROW * chips + FOOT + 18;
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, class: "fb-svg fb-drawn", role: "img", "aria-label": said});
  const cells = [];
  for (let chip = 0; chip < chips; chip++) {
    root.append(svg("text", {x: left + (chip + 0.5) * cell, y: 14, "text-anchor": "middle"}, `chip ${chip}`));
    for (let block = 0; block < chips; block++) {
      const place = {x: left + chip * cell + 2, y: HEAD + block * ROW, width: cell - 4, height: ROW - 4};
      const fill = svg("rect", {class: "fb-c5", ...place});
      const text = svg("text", {x: place.x + place.width / 2, y: place.y + 15, "text-anchor": "middle"});
      root.append(fill, text);
      cells.push({chip, block, fill, text, place});
    }
  }
  for (let block = 0; block < chips; block++) root.append(svg("text", {x: left - 6, y: HEAD + block * ROW + 15, "text-anchor": "end"}, `block ${block}`));
  const clock = svg("text", {class: "fb-small", x: left, y: height - 4});
  const sent = Array.from({length: chips}, () => svg("circle", {class: "fb-sent", r: 6}));
  root.append(...sent, clock);
  const show = (progress, words) => {
    const whole = Math.floor(progress + WHOLE);
    for (const {chip, block, fill, text} of cells) {
      const count = terms(chip, block, whole, chips);
      fill.setAttribute("class", count === chips ? "fb-c0" : count > 1 ? "fb-c1" : "fb-c5");
      text.setAttribute("class", count === chips ? "fb-on0" : "fb-on1");
      text.textContent = count === chips ? "all" : `${count}`;
    }
    sent.forEach((dot, chip) => travel(dot, chip, progress, whole, {chips, cell, left}));
    clock.textContent = words;
  };
  return {picture: root, show};
}

/** What a chip has on its way to the next one: a dot between their columns. */
function travel(dot, chip, progress, whole, {chips, cell, left}) {
  const share = progress - whole;
  dot.setAttribute("visibility", share > 0.01 && whole < 2 * (chips - 1) ? "visible" : "hidden");
  const block = (((chip - whole + (whole >= chips - 1 ? chips : 0)) % chips) + chips) % chips;
  const to = chip === chips - 1 ? -1 : chip; // the last one sends round to the first
  const x = chip === chips - 1 ? (chip + 0.5) * (1 - share) + 0.5 * share : to + 0.5 + share;
  dot.setAttribute("cx", left + x * cell);
  dot.setAttribute("cy", HEAD + block * ROW + ROW / 2 - 2);
}
