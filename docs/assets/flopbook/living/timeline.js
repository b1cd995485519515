// Work on lanes over time: a bar for each piece, hollow where a lane waits, filled up to the moment that is shown.

import {svg} from "../dom.js";

const [LANE, GAP, HEAD, FOOT, LETTER] = [26, 5, 6, 24, 6.6];

/** A picture of lanes; a bar is {lane, start, end, text, kind}, and without a kind the lane waits. */
export function timeline(names, bars, end, width, said) {
  const left = Math.max(...names.map((name) => name.length)) * LETTER + 8;
  const scale = (width - left - 4) / end;
  const height = HEAD + names.length * (LANE + GAP) + FOOT;
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, class: "fb-svg fb-drawn", role: "img", "aria-label": said});
  names.forEach((name, lane) => root.append(svg("text", {x: left - 8, y: HEAD + lane * (LANE + GAP) + 17, "text-anchor": "end"}, name)));
  const filled = bars.map((bar) => {
    const place = {x: left + bar.start * scale, y: HEAD + bar.lane * (LANE + GAP), width: (bar.end - bar.start) * scale, height: LANE};
    const fits = bar.text.length * LETTER < place.width;
    const text = fits ? [svg("text", {class: bar.kind ? `fb-on${bar.kind.slice(1)}` : "fb-small", x: place.x + place.width / 2, y: place.y + 17, "text-anchor": "middle"}, bar.text)] : [];
    if (!bar.kind) {
      root.append(svg("rect", {class: "fb-waits", ...place}), ...text);
      return null;
    }
    const full = svg("rect", {class: `fb-${bar.kind}`, ...place});
    root.append(svg("rect", {class: `fb-${bar.kind} fb-later`, ...place}), full, ...text);
    return full;
  });
  const hand = svg("path", {class: "fb-hand"});
  const clock = svg("text", {y: height - 6, "text-anchor": "middle"});
  root.append(hand, clock);
  const at = (moment, words) => {
    bars.forEach((bar, n) => filled[n]?.setAttribute("width", Math.max(0, Math.min(moment, bar.end) - bar.start) * scale));
    const x = left + moment * scale;
    hand.setAttribute("d", `M${x} 0V${height - FOOT}`);
    const half = (words.length * LETTER) / 2;
    clock.setAttribute("x", Math.min(Math.max(x, half), width - half));
    clock.textContent = words;
  };
  return {picture: root, at};
}

/** The pieces of work as a table with a row of heads, in the order of their begin. */
export function table(names, bars, unit) {
  const row = ({lane, text, pass = "", start, end}) => [names[lane], `${pass}${text}` || "waits", start, end];
  return [["lane", "work", `start (${unit})`, `end (${unit})`], ...[...bars].sort((a, b) => a.start - b.start || a.lane - b.lane).map(row)];
}

/** The waits of a lane: what is between its bars, from the begin to the end of all. */
export function waits(lane, bars, end, text = "waits") {
  const found = [];
  let free = 0;
  for (const bar of bars.filter((one) => one.lane === lane).sort((a, b) => a.start - b.start)) {
    if (bar.start > free + end * 1e-6) found.push({lane, start: free, end: bar.start, text});
    free = bar.end;
  }
  if (end > free * (1 + 1e-6)) found.push({lane, start: free, end, text});
  return found;
}

export function moments(bars) {
  return [...new Set(bars.map(({end}) => end))].sort((a, b) => a - b);
}

export function seconds(value) {
  const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]].find(([least]) => value >= least) ?? [1e-9, "ns"];
  return `${Number((value / size).toPrecision(3))} ${unit}`;
}

export function percent(share) {
  return `${Math.round(100 * share)} %`;
}
