// Where the value of an input comes from, in the order of the command line: what was typed, the chip or model, the default.

import {filled} from "./dom.js";
import {formatQuantity, isBare, oneWay, parseQuantity} from "./quantity.js";

const UNITS = {"FLOP/s": "989TFLOP/s", "byte/s": "3.35TB/s"}; // rates in which a bare small number is a slip
const LINKS = ["link_bandwidth", "scaleup_bandwidth", "scaleout_bandwidth", "known_beyond"]; // one way, unless the text says both
const LONGEST_TEXT = 2000;
const PRICES = {"USD/s": "2USD/h", "kg/J": "400g/kWh"}; // and those that nobody gives in SI units
// What a chip may know of its node and its network; without it the default holds. A link that was typed is one of another network.
const NETWORK = ["chips_per_node", "known_domain", "known_beyond", "node_chips", "scaleout_bandwidth", "ring_side", "side_x", "side_y", "startup", "ramp", "efficiency", "reduction_efficiency"];
const NETWORK_WORDS = ["wrap", "level_overlap"];

// What is counted from the sizes of a model, by the fields of its record; the command counts it anew for other sizes, a form does not.
const SIZES = ["layers", "d_model", "heads", "kv_heads", "head_dim", "vocab", "d_ff", "block_d_ff", "ffn", "tied_embeddings", "experts", "experts_per_token", "expert_d_ff", "expert_d_model", "shared_experts", "shared_expert_d_ff", "dense_layers", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "o_lora_rank", "o_groups", "key_is_value"];
const TOTALS = ["params", "compute_params", "mixture_params", "mixture_active_params"];
const KINDS = ["window_layers", "chunk_layers", "sparse_layers", "index_layers", "compressed_layers", "full_layers", "state_layers", "attention_layers", "shared_window_layers"];
const SHARES = ["attention_share", "beside_share", "weight_format_share"]; // these size a note alone, which is left out

/** True when a chip or a model may supply an input. */
export function lent(input) {
  return Boolean(input.model || input.chip);
}

/** The value of one input with its origin, or an error. `form` has the texts of its fields and the entries picked. */
export function resolve(input, form) {
  const text = form.text(input.name);
  const chip = form.picked("chip");
  const model = form.picked("model");
  if (input.choices.length) {
    const found = chosen(input, text, model, NETWORK_WORDS.includes(input.chip) && otherNetwork(form) ? null : chip);
    // A link that was typed need not be one of a mesh: it is then a port, as to a switch.
    const isPort = input.chip === "topology" && !text && found.value === "mesh" && otherNetwork(form);
    return isPort ? {...found, value: "switch"} : found;
  }
  if (input.text && text) return written(text);
  const left = degreeLeft(input, form);
  if (left) return left;
  if (text) return typed(input, text);
  const skipped = NETWORK.includes(input.chip) && (!chip?.[input.chip] || otherNetwork(form) || otherSlice(chip[input.chip], form));
  if (input.chip && chip && !skipped) return fromChip(input, chip, form);
  const counted = input.model?.startsWith("mixture_") && (form.text("experts") || form.text("experts_per_token"));
  const [size, ...more] = (!counted && model?.[input.model] && otherSizes(input, form, model)) || [];
  if (size?.model === "layers" && !more.length && model[input.model].layer) return withLayers(model, input, typed(size, form.text(size.name)));
  if (size && !SHARES.includes(input.model)) return {error: `counted from the shape, whose ${size.name.replaceAll("_", " ")} you changed; type a value, or run the command, which recounts it`};
  if (input.model && !counted && !size && model?.[input.model]) return {...model[input.model], origin: model.id};
  if (input.dtype && input.chip !== "peak" && form.fields.has("dtype")) {
    const dtype = formatOf(input, form);
    return {value: form.data.bytes[dtype], origin: dtype};
  }
  if (input.optional) return {value: input.default ?? Infinity, origin: "default", open: input.default === null};
  const lender = [input.model && "a model", input.chip && "a chip"].filter(Boolean).join(" or ");
  return {error: lender ? `choose ${lender}, or type a value` : "type a value"};
}

/** What is counted from a shape, with as many layers as were typed; all of its layers have the same weights. */
function withLayers(model, input, layers) {
  if (layers.error) return {...layers, of: "number of layers"};
  const {value, layer, notes = [], ...own} = model[input.model];
  const kept = notes.filter((note) => !note.includes(": published as")); // of the whole model
  return {...own, ...(kept.length && {notes: kept}), value: value + (layers.value - model.layers.value) * layer, origin: model.id};
}

/** The inputs of sizes that were typed and are not the model's, where what is asked for is counted from them. */
function otherSizes(input, form, model) {
  const sizes = KINDS.includes(input.model) ? ["layers"] : [...TOTALS, ...SHARES].includes(input.model) ? SIZES : [];
  return form.spec.inputs.filter((other) => {
    const text = sizes.includes(other.model) ? form.text(other.name) : "";
    return text && (other.choices.length ? text : typed(other, text).value) !== model[other.model]?.value;
  });
}

// A degree of parallelism, and a number of chips that degrees divide.
const WHOLE = {unit: "1", least: 1, whole: true, most: 1e9};

/** What the other degrees leave of a number of chips, for the degree that takes the rest; nothing for any other input. */
function degreeLeft(input, form) {
  const [first, ...others] = form.spec.divides;
  const text = input.name === first && form.fields.has("chips") && !form.spec.inputs.some(({name}) => name === "chips") ? form.text("chips") : "";
  if (!text) return null;
  if (form.text(first)) return {error: `give the number of chips or the ${first.toUpperCase()} degree, not both`};
  const chips = typed({...WHOLE, unit: "chip"}, text);
  if (chips.error) return {...chips, of: "number of chips"};
  const given = others.map((name) => [name, form.text(name) ? typed(WHOLE, form.text(name)).value : 1]).filter(([, degree]) => degree > 1);
  const group = given.reduce((all, [, degree]) => all * degree, 1);
  if (!(chips.value % group)) return {value: chips.value / group, origin: "what the other degrees leave"};
  const below = Math.floor(chips.value / group) * group;
  const near = [below, below + group].filter(Boolean).map((count) => count.toLocaleString("en")).join(" or ");
  return {error: `${chips.value.toLocaleString("en")} chips do not divide into groups of ${group} (${product(given)}); use ${near}`};
}

function product(degrees) {
  return degrees.map(([name, degree]) => `${name.toUpperCase()} ${formatQuantity(degree, "1")}`).join(" × ");
}

/** The number of chips and the degrees that make it, in words: 64 chips (DP 8 × TP 8). */
export function degrees(spec, values) {
  if (!spec.divides.length) return served(values);
  const all = spec.divides.map((name) => [name, values[name]]);
  const count = all.reduce((chips, [, degree]) => chips * degree, 1);
  if (!Number.isFinite(count)) return "";
  const cut = all.filter(([, degree]) => degree > 1);
  return formatQuantity(count, "chip") + (cut.length ? ` (${product(cut)})` : "");
}

/** The chips that serve a model: those that were given, else what the degrees come to. */
function served({chips, tp, dp, ep}) {
  if (Number.isFinite(chips)) return formatQuantity(chips, "chip");
  return formatQuantity((Number.isFinite(tp) ? tp : 1) * (Number.isFinite(dp) ? dp : ep ?? 1), "chip");
}

/** True when a link was typed and its domain was not: then nothing of the chip's network holds. */
function otherNetwork(form) {
  return Boolean(form.fields.has("link_bandwidth") && form.text("link_bandwidth") && !form.text("chips_per_node"));
}

/** True for a side of a whole domain, where other chips were typed or anything of their shape. */
function otherSlice({chips}, form) {
  if (!chips) return false;
  const shaped = ["side_x", "side_y", "axes", "topology", "chips_per_node"].some((name) => form.fields.has(name) && form.text(name));
  return shaped || !form.fields.has("chips") || typed({...WHOLE, unit: "chip"}, form.text("chips")).value !== chips;
}

function chosen(input, text, model, chip) {
  if (text || !lent(input)) return {value: text, given: text !== (lent(input) ? "" : input.default ?? input.choices[0])};
  const own = model?.[input.model] ?? chip?.[input.chip] ?? {value: input.default};
  return {...own, origin: (model ?? chip)?.id ?? "default"};
}

/** A text in a notation, which the calculator reads. */
function written(text) {
  const {length} = [...text];
  if (length <= LONGEST_TEXT) return {value: text, given: true};
  return {error: `${length.toLocaleString("en")} characters, at most ${LONGEST_TEXT.toLocaleString("en")} are read`};
}

function typed(input, typed) {
  const [text, ways] = LINKS.includes(input.chip) ? oneWay(typed) : [typed, 1];
  let value;
  try {
    value = parseQuantity(text, input.unit) * ways;
  } catch (error) {
    return {error: error.message};
  }
  const likely = input.chip === "memory" ? "80GB" : UNITS[input.unit];
  if (likely && value > 0 && value < 1e6 && isBare(text)) return {error: `write a unit, such as ${likely}`};
  if (PRICES[input.unit] && value > 0 && isBare(text)) return {error: `write a unit, such as ${PRICES[input.unit]}`};
  if (input.none && value === 0) return {value, given: true};
  if (value < input.least || (input.least === 0 && value <= 0)) {
    return {error: input.least ? `at least ${input.least}` : "more than 0"};
  }
  if (value > input.most && input.most < 1e6) return {error: `at most ${input.most}`};
  if (value > (input.most ?? 1e40) || value < 1e-40) return {error: "not a plausible size"};
  if (input.whole && !Number.isInteger(value)) return {error: "a whole number"};
  return {value, given: true};
}

/** All roofs of a chip in the words of the calculator, the peak of a format first; nothing where it has no such peak. */
export function roofsOf(chip, dtype, sparsity) {
  return chip?.roofs?.[dtype || "bf16"]?.[sparsity || "dense"];
}

function fromChip(input, chip, form) {
  if (input.chip === "roofs") {
    const [dtype, sparsity] = [form.text("dtype"), form.text("sparsity")];
    const own = roofsOf(chip, dtype, sparsity);
    return own ? {...own, origin: chip.id} : {error: `${chip.name} has no ${sparsity} ${dtype} peak or no bandwidth; type its roofs`};
  }
  if (input.chip !== "peak") {
    if (chip[input.chip]) return {...chip[input.chip], origin: chip.id};
    if (input.optional && input.default === null) return {value: Infinity, origin: "default", open: true};
    return {error: `not known for ${chip.name}; type a value`};
  }
  const dtype = formatOf(input, form);
  const sparsity = form.text("sparsity");
  const own = peakOf(chip, dtype, sparsity);
  if (own) return {...own, origin: chip.id};
  const standIn = input.dtype ? form.data.stand_ins[dtype] : undefined;
  const found = peakOf(chip, standIn, sparsity);
  if (!found && input.optional && sparsity === "dense" && !hasAnotherPeak(chip, dtype, form.data.wide)) {
    const known = Object.keys(chip.peaks).sort();
    const others = known.length ? filled(form.data.said.other_peaks[0], {formats: known.join(", ")}) : "";
    const notes = form.data.said.no_peak.map((text) => filled(text, {chip: chip.id, sparsity, dtype, others}));
    return {value: Infinity, origin: "default", open: true, notes};
  }
  if (!found) return {error: `${chip.name} has no ${sparsity} ${dtype} peak`};
  const note = `${chip.id} has no ${dtype} peak on record; its ${standIn} peak is used`;
  return {...found, origin: chip.id, notes: [...(found.notes ?? []), note]};
}

/** Whether the chip has a peak to ask for instead: one of 16 bits, or any for a narrow format. */
function hasAnotherPeak(chip, dtype, wide) {
  const formats = wide.includes(dtype) ? wide : Object.keys(chip.peaks);
  return formats.some((format) => peakOf(chip, format, "dense"));
}

function peakOf(chip, dtype, sparsity) {
  const peaks = chip.peaks[dtype] ?? {};
  return peaks[sparsity] ?? (sparsity === "dense" ? peaks.unstated : undefined);
}

/** The format that fills an input: by the rule of the one that was chosen, or that one itself. */
function formatOf(input, form) {
  const dtype = form.text("dtype");
  return form.data.formats[dtype]?.[input.dtype] ?? dtype;
}
