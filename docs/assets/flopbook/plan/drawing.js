// A layout as a picture: the stages of one replica, on each stage the chips that share its layers, behind it the replicas.

import {svg} from "../dom.js";
import {grouped} from "./words.js";

const MOST_STAGES = 8;
const MOST_SIDE = 8;
const WIDTH = 320;
const STAGE_TOP = 26;
const HEIGHT = 128;

/** Stages that are drawn: all, or the first and last with a gap between. */
function shown(stages) {
  if (stages <= MOST_STAGES) return Array.from({length: stages}, (_, n) => n + 1);
  return [1, 2, 3, null, stages - 1, stages];
}

/** `told` comes before the number of replicas. */
export function drawn({tp, pp, cp, ep, dp}, words, told = "") {
  const stages = shown(pp);
  const picture = svg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words, class: "fb-plan-picture"});
  const copies = Math.min(dp, 3);
  const shift = 5;
  const wide = WIDTH - 2 - shift * (copies - 1);
  const tall = HEIGHT - STAGE_TOP - 20 - shift * (copies - 1);
  for (let copy = copies - 1; copy >= 0; copy--) {
    picture.append(svg("rect", {x: 1 + shift * copy, y: STAGE_TOP + shift * (copies - 1 - copy), width: wide, height: tall, rx: 4, class: "fb-plan-replica"}));
  }
  const top = STAGE_TOP + shift * (copies - 1);
  const each = (wide - 8) / stages.length;
  stages.forEach((stage, n) => {
    const left = 5 + n * each;
    if (stage === null) picture.append(svg("text", {x: left + each / 2, y: top + tall / 2 + 4, "text-anchor": "middle", class: "fb-plan-label"}, "…"));
    else picture.append(...stageOf(left, top + 4, each - 4, tall - 8, tp, cp));
  });
  const chips = tp * cp;
  const inside = pp > 1 ? `${grouped(pp)} stages of ${grouped(chips)} ${chips === 1 ? "chip" : "chips"}` : `${grouped(chips)} ${chips === 1 ? "chip" : "chips"} share all layers`;
  const behind = dp > 1 ? `${grouped(dp)} replicas` : "one replica";
  picture.append(
    svg("text", {x: 1, y: 14, class: "fb-plan-label"}, told + behind + (ep > 1 ? `, experts over ${grouped(ep)}` : "")),
    svg("text", {x: 1, y: HEIGHT - 5, class: "fb-plan-label"}, inside),
  );
  return picture;
}

/** A stage: columns are ranks of tensor parallelism, rows those of context parallelism or, in serving, of attention. */
function stageOf(left, top, width, height, tp, cp) {
  const columns = Math.min(tp, MOST_SIDE);
  const rows = Math.min(cp, MOST_SIDE);
  const side = Math.min(width / columns, height / rows);
  const x0 = left + (width - side * columns) / 2;
  const y0 = top + (height - side * rows) / 2;
  const cells = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const gap = Math.min(1.5, side / 6);
      cells.push(svg("rect", {x: x0 + column * side + gap, y: y0 + row * side + gap, width: side - 2 * gap, height: side - 2 * gap, rx: Math.min(2, side / 6), class: `fb-plan-chip fb-plan-row${row % 2}`}));
    }
  }
  return [svg("rect", {x: left, y: top, width, height, rx: 3, class: "fb-plan-stage"}), ...cells];
}
