// Values around the present state of a form, and what they do to an output: the numbers behind its picture.

const SPAN = 8; // how far the picture reaches to either side, as a factor
const POINTS = 96;
const EVERY = 256; // whole numbers up to so many are all taken
const FEW = 16; // a scale with so few whole steps is shown from end to end
const MATTERS = 0.1; // the power from which an output is said to follow an input

/** The values of an input to draw, around the present one; empty where that is nothing to draw around. */
export function around(input, now) {
  if (!Number.isFinite(now)) return [];
  const most = input.most ?? Infinity;
  if (input.whole && most <= FEW) return whole(input.none ? 0 : input.least, most);
  if (now <= 0) return [];
  const low = Math.max(now / SPAN, input.least);
  const high = Math.min(now * SPAN, most);
  if (!input.whole) return [...new Set([...spread(low, high), now])].sort((a, b) => a - b);
  const [first, last] = [Math.ceil(low), Math.floor(high)];
  if (last - first <= EVERY) return whole(first, last);
  // Of many whole numbers some, and those that divide as the present one does: rules often ask for that.
  const near = [...Array(SPAN).keys()].flatMap((n) => [now * (n + 1), now / (n + 1)]).filter(Number.isInteger);
  const some = spread(first, last).map(Math.round);
  return [...new Set([...some, ...near])].filter((value) => value >= first && value <= last).sort((a, b) => a - b);
}

function whole(first, last) {
  return Array.from({length: last - first + 1}, (_, n) => first + n);
}

function spread(low, high) {
  const ratio = (high / low) ** (1 / (POINTS - 1));
  return [...Array.from({length: POINTS - 1}, (_, n) => low * ratio ** n), high];
}

/** An output at other values of one input: [{x, y}], with y left out where a rule forbids the value or nothing finite comes out. */
export function sweep(compute, state, input, output) {
  return around(input, state.values[input.name]).map(follow(compute, state, input, output));
}

/** The function that gives {x, y} for a value x of the input. */
function follow(compute, {values, resolved}, input, output) {
  const given = {...resolved, [input.name]: {...resolved[input.name], given: true}};
  return (x) => {
    const y = compute({...values, [input.name]: x}, given)?.[output.name];
    return Number.isFinite(y) ? {x, y} : {x};
  };
}

/**
 * The input on which an output depends most: by the power with which it follows a doubling and a halving. What the form asks first
 * comes before all else that matters, and of equals what was typed, then what the chip or the model lends.
 */
export function strongest(compute, state, inputs, output, asks = []) {
  const asked = most(compute, state, inputs.filter(({name}) => asks.includes(name)), output);
  const best = asked.strength > MATTERS ? asked : most(compute, state, inputs, output);
  return best.input ?? inputs.find((input) => around(input, state.values[input.name]).length > 1) ?? inputs[0];
}

function most(compute, state, inputs, output) {
  let best = {strength: 0};
  for (const input of inputs) {
    const strength = power(compute, state, input, output) + precedence(state.resolved[input.name]);
    if (strength > best.strength + 0.005) best = {strength, input};
  }
  return best;
}

/** What decides between inputs of the same power: where their values come from. */
function precedence({given, origin}) {
  return given ? 0.02 : 0.01 * (origin !== "default");
}

function power(compute, state, input, output) {
  const now = state.values[input.name];
  const near = around(input, now).filter((x) => x > 0 && x >= now / 2 && x <= now * 2);
  const point = follow(compute, state, input, output);
  // Only both ends count: what lies between them is not computed.
  const from = outermost(near, point);
  const to = from && outermost(near.reverse(), point);
  if (!from || from.x === to.x) return 0;
  const change = from.y > 0 && to.y > 0 ? Math.log(to.y / from.y) : (to.y - from.y) / (Math.abs(from.y) + Math.abs(to.y) || 1);
  return Math.abs(change / Math.log(to.x / from.x));
}

/** The first point that has a value. */
function outermost(values, point) {
  for (const x of values) {
    const reached = point(x);
    if (reached.y !== undefined) return reached;
  }
  return null;
}
