// From values to places in the picture: scales, round ticks, a frontier, and labels that keep clear of each other.

const LETTER = 6.3;
const LINE = 13;

/** A logarithmic or linear scale from [low, high] to [start, end]. */
export function scale([low, high], [start, end], log) {
  const share = log
    ? (value) => Math.log(value / low) / Math.log(high / low)
    : (value) => (value - low) / (high - low);
  return {low, high, start, end, log, at: (value) => Math.round((start + share(value) * (end - start)) * 10) / 10};
}

/** The range of values with a margin; years end at whole years, linear axes begin at zero. */
export function range(values, log, years) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (years) return [Math.floor(low), Math.floor(high) + 1];
  if (log) return [low / 1.4, high * 1.5];
  return [0, high * 1.08 || 1];
}

export function ticks({low, high, log}, most = 7) {
  if (!log) {
    const rough = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
    const first = Math.ceil(low / step);
    return Array.from({length: Math.floor(high / step) - first + 1}, (_, n) => (first + n) * step);
  }
  const powers = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++) powers.push(10 ** p);
  for (const factors of [[1], [1, 3], [1, 2, 5]]) {
    const found = powers.flatMap((power) => factors.map((factor) => factor * power)).filter((v) => v >= low && v <= high);
    if (found.length >= 3 || factors.length === 3) return found;
  }
}

const [HOUR, DAY, YEAR] = [3600, 86400, 365 * 86400];
const STEPS = [600, 1200, 1800, ...[1, 2, 3, 6, 12].map((n) => n * HOUR)];

/** Ticks that are round as they are written: long times in hours, days or years. */
export function ticksIn(axis, unit, most) {
  const {low, high, log} = axis;
  if (unit !== "s" || high < HOUR) return ticks(axis, most);
  if (log) {
    const times = [...ticks(axis, most).filter((time) => time <= HOUR / 2), HOUR, 6 * HOUR, DAY, 10 * DAY, 100 * DAY];
    for (let years = YEAR; years <= high; years *= 10) times.push(years);
    return times.filter((time) => time >= low && time <= high);
  }
  const step = STEPS.find((one) => one * most >= high - low) ?? (high >= 2 * YEAR ? YEAR : DAY);
  return ticks({low: low / step, high: high / step, log}, most).map((count) => count * step);
}

/** At most so many of the ticks, evenly. */
export function thin(values, most) {
  const step = Math.ceil(values.length / most);
  return values.filter((_, n) => n % step === 0);
}

/** The points that no other beats on both axes, from left to right; `signs` say whether more (1) or less (-1) is better. */
export function frontier(points, [signX, signY]) {
  const ordered = [...points].sort((a, b) => signX * (b.x - a.x) || signY * (b.y - a.y));
  const kept = [];
  for (const point of ordered) if (!kept.length || signY * (point.y - kept.at(-1).y) > 0) kept.push(point);
  return kept.sort((a, b) => a.x - b.x);
}

/** Finds places for labels inside a frame, clear of the points and of each other. */
export class Room {
  constructor(frame, points) {
    this.frame = frame;
    this.taken = points.map(({px, py}) => [px - 5, py - 5, px + 5, py + 5]);
  }

  place(text, {px, py}) {
    const width = text.length * LETTER;
    for (const [dx, dy, anchor] of [[9, 4, "start"], [-9, 4, "end"], [0, -9, "middle"], [0, 17, "middle"]]) {
      const left = px + dx - {start: 0, end: width, middle: width / 2}[anchor];
      const box = [left, py + dy - LINE + 3, left + width, py + dy + 3];
      if (!this.free(box)) continue;
      this.taken.push(box);
      return {x: px + dx, y: py + dy, "text-anchor": anchor};
    }
    return null;
  }

  free([left, top, right, bottom]) {
    const [l, t, r, b] = this.frame;
    if (left < l || top < t || right > r || bottom > b) return false;
    return this.taken.every((other) => right <= other[0] || left >= other[2] || bottom <= other[1] || top >= other[3]);
  }
}
