// Holds a statement against the facts on file, as flopbook/factcheck/judging.py does; a test in the browser holds both equal.

import {filled} from "../dom.js";
import {amount, asPrinted, exact} from "./amounts.js";
import {isType} from "./memories.js";
import {inWords, meant} from "./shorthand.js";

const MOST_ALSO = 3;
const MOST_EVIDENCE = 3;
const HALF = "2:4"; // sparsity that doubles the rate
const LINKS = ["scaleup_bandwidth", "scaleout_bandwidth", "host_bandwidth", "chip_to_chip_bandwidth"];
const MEMORIES = ["memory", "memory_bandwidth"];
const SAYS = ["field", "dtype", "engine", "sparsity", "direction", "aggregate", "name", "tier"]; // what a value is of

/** The finding on one statement. */
export function judge(statement, words, look) {
  const judgeOf = (one) => new Judge(one, words, look);
  const sought = {
    isClose: (one, value) => judgeOf(one).close(value),
    isElsewhere: (one, subject) => judgeOf(one).matches(subject).length > 0 || judgeOf(one).matchesOfOthers(subject).length > 0,
  };
  return judgeOf(meant(statement, words, look, sought)).finding();
}

/** What is said of a text without a chip: of which chips its first number is. */
export function ofAnybody([statement], words, look, ids) {
  for (const reading of statement.readings.length ? statement.readings : [statement]) {
    const owners = new Judge(reading, words, look).owners(ids);
    if (owners) return filled(words.PROBLEMS.anybody, {value: inWords(reading), owners});
  }
  return words.PROBLEMS.chip;
}

/** The first of what is least, as Python's min. */
function least(list, key) {
  return list.reduce((best, one) => (best === undefined || key(one) < key(best) ? one : best), undefined);
}

class Judge {
  constructor(statement, words, look) {
    Object.assign(this, {statement, words, look});
  }

  finding() {
    const subjects = this.statement.chips.map(this.look);
    for (const find of [(one) => this.printedMatches(one), (one) => this.matchesOfOthers(one), (one) => this.matches(one)]) {
      const found = subjects.map((one) => [one, find(one)]).filter(([, matches]) => matches.length);
      if (!found.length) continue;
      // A name such as Hopper is that of several chips: the one that fits best is meant, of equals the one of which most is on file.
      const cost = ([, matches]) => Math.round(1e9 * Math.min(...matches.map((one) => one.cost))) / 1e9;
      const lowest = Math.min(...found.map(cost));
      return this.found(...least(found.filter((one) => cost(one) === lowest), ([one]) => -one.facts.length));
    }
    const missed = this.notFound(least(subjects, (one) => -one.facts.length));
    return {...missed, says: [...missed.says, ...this.ofOthersNamed()]};
  }

  /** Which other chip of the text has the number as it stands: `beats an H100 with 192 GB`. */
  ofOthersNamed() {
    for (const other of this.statement.others.map(this.look)) {
      const matches = this.matches(other).filter(({departures}) => !departures.length);
      if (matches.length) return [filled(this.words.SENTENCES["other-named"], {chip: other.name, what: this.described(least(matches, ({cost}) => cost))})];
    }
    return [];
  }

  printedMatches(one) {
    return this.matches(one).filter(({departures}) => !departures.includes("measured"));
  }

  matches(one) {
    const around = [[one, []], ...one.within.map((id) => [this.look(id), ["per-node"]]), ...one.parts.map((id) => [this.look(id), ["per-chip"]])];
    return around.flatMap(([subject, extra]) => subject.facts.flatMap((fact) => this.match(subject, fact, extra, one)));
  }

  matchesOfOthers(one) {
    return one.family.map(this.look).flatMap((other) => other.facts
      .flatMap((fact) => this.match(other, fact, ["other-chip"], other))
      .filter(({departures}) => departures.every((name) => name === "other-chip" || this.words.FORGIVEN.includes(name))));
  }

  match(subject, fact, extra, asked) {
    const {statement} = this;
    if (fact.kind !== statement.kind) return [];
    let how = this.fit(fact.value);
    let share = 1;
    if (!how && statement.times > 1 && !extra.length) {
      share = statement.times;
      how = this.close(fact.value * share) ? [] : null;
    }
    if (!how) return [];
    const isCustom = how[0] === "binary" && this.words.BINARY_FIELDS.includes(fact.field) && !statement.binary;
    const departures = [...this.departures(fact, asked, extra.length > 0), ...extra, ...(isCustom ? [] : how)];
    return [{subject, fact, departures, cost: this.sum(departures) + this.tie(fact, asked), share, isCustom}];
  }

  sum(departures) {
    return departures.reduce((total, name) => total + this.words.COSTS[name], 0);
  }

  fit(value) {
    const {kind, factor, binary, symbol} = this.statement;
    if (this.close(value)) return [];
    if (kind === "bytes") {
      const power = Math.round(Math.log(factor) / Math.log(binary ? 1024 : 1000));
      const ratio = binary ? (1000 / 1024) ** power : (1024 / 1000) ** power;
      if (ratio !== 1 && this.close(value / ratio)) return ["binary"];
    }
    if (kind === "flow" && this.close(value / (symbol.includes("bit") ? 8 : 0.125))) return ["bits"];
    return null;
  }

  close(value) {
    const {statement} = this;
    const over = value - statement.value;
    return Math.abs(over) <= statement.slack * (1 + 1e-9) || (over > 0 && over < statement.cut * (1 - 1e-9));
  }

  /** Whether the number is a value to the last digit that it has, rounded or cut off. */
  rounds(value) {
    const {value: stated, place} = this.statement;
    const over = value - stated;
    return Math.abs(over) <= (place / 2) * (1 + 1e-9) || (over > 0 && over < place * (1 - 1e-9));
  }

  departures(fact, asked, isElsewhere) {
    const {statement} = this;
    const found = [];
    if (!this.isStated(fact)) found.push("quantity");
    if (fact.field.startsWith("measured") && !statement.field.startsWith("measured")) found.push("measured");
    if (fact.field === "peak") found.push(...this.rateDepartures(fact, asked));
    if (LINKS.includes(fact.field)) found.push(...this.linkDepartures(fact));
    const isNode = fact.aggregate === "domain" && ["package", "card", "die"].includes(asked.kind);
    if (isNode && !isElsewhere && statement.scope !== "node") found.push("per-node");
    if (MEMORIES.includes(fact.field) && !isType(statement.memories, fact.type, this.words)) found.push("memory-type");
    if (fact.error) found.push("error");
    return found;
  }

  isStated(fact) {
    const {field} = this.statement;
    const {CACHES} = this.words;
    if (CACHES.includes(field) && CACHES.includes(fact.field)) return true;
    return (field === "sram" && fact.tier === "sram") || ["", fact.field].includes(field);
  }

  rateDepartures(fact, asked) {
    const {statement, words} = this;
    const found = [];
    if (!this.isFormat(fact, asked)) found.push(statement.formats.length ? "format" : "open-format");
    if (fact.engine === "vector" && !statement.vector && this.hasMatrixRate(fact, asked)) found.push("vector");
    if (!["", "dense", "unstated"].includes(fact.sparsity) && statement.sparsity !== "sparse") found.push("sparse");
    if (fact.sparsity === "dense" && statement.sparsity === "sparse") found.push("dense");
    return found;
  }

  /** Whether a rate of the vector units is not what people mean: the matrix units have one. */
  hasMatrixRate({dtype}, asked) {
    const isMatrix = (other) => other.field === "peak" && other.engine !== "vector" && other.dtype === dtype;
    return !this.words.VECTOR_FORMATS.includes(dtype) && asked.facts.some(isMatrix);
  }

  isFormat(fact, asked) {
    const {formats} = this.statement;
    if (formats.length) return [...formats, ...formats.flatMap((name) => this.words.RELATED[name] ?? [])].includes(fact.dtype);
    const usual = this.usualFormat(asked);
    return (["bf16", "fp16"].includes(usual) ? ["bf16", "fp16"] : [usual]).includes(fact.dtype);
  }

  usualFormat(asked) {
    const {symbol} = this.statement;
    if (symbol.endsWith("OP/s") && !symbol.endsWith("FLOP/s")) return "int8";
    const held = asked.facts.filter(({field}) => field === "peak").map(({dtype}) => dtype);
    return this.words.USUAL.find((name) => held.includes(name)) ?? this.words.USUAL[0];
  }

  linkDepartures(fact) {
    const {direction, scope} = this.statement;
    const found = [];
    if (fact.direction === "both" && direction !== "both") found.push("both-ways");
    if (fact.direction === "one-way" && direction === "both") found.push("one-way");
    if (fact.aggregate === "link" && scope !== "link") found.push("per-link");
    return found;
  }

  tie(fact, asked) {
    const {statement, words} = this;
    const order = words.FIELDS[fact.kind].indexOf(fact.field) / 10;
    const off = Math.abs(statement.value - fact.value) / statement.value;
    const unsaid = fact.sparsity === "unstated" || fact.direction === "unstated" ? 0.3 : 0;
    const beside = fact.main ? 0 : 0.4;
    const odd = fact.engine === "vector" ? 0.2 : 0;
    const usual = fact.field === "peak" ? this.usualFormat(asked) : "";
    const other = usual && usual !== fact.dtype ? 0.1 : 0;
    const vague = fact.direction === "unstated" && LINKS.includes(fact.field) ? 2.2 : 0;
    const called = [...fact.name.toLowerCase().matchAll(new RegExp(words.WORD, "g"))].some(([word]) => word.length > words.SHORTEST_PART && statement.parts.includes(word)) ? 0.3 : 0;
    return order + Math.min(off, 0.05) + unsaid + beside + odd + other - called + vague;
  }

  // What is said.

  /** The chips of which a number without one holds as it is, in words; empty for none. */
  owners(ids) {
    const found = ids.map(this.look).flatMap((one) => {
      const best = least(this.matches(one).filter(({subject}) => subject === one), ({cost}) => cost);
      return best && !best.departures.includes("error") ? [[Math.round(1e9 * best.cost) / 1e9, this.described(best), one.name]] : [];
    });
    found.sort(([a, x, m], [b, y, n]) => a - b || (x === y ? (m < n ? -1 : 1) : x < y ? -1 : 1));
    const groups = new Map();
    for (const [, what, chip] of found) groups.set(what, [...(groups.get(what) ?? []), chip]);
    const {MOST_OWNERS} = this.words;
    return [...groups].slice(0, MOST_OWNERS).map(([what, chips]) => `${what} of ${chips.slice(0, MOST_OWNERS).join(", ")}`).join("; ");
  }

  found(asked, matches) {
    const best = least(matches, ({cost}) => cost);
    const weighty = least(best.departures, (name) => -this.words.COSTS[name]);
    const custom = best.isCustom ? [filled(this.words.SENTENCES.custom, {value: exact(best.fact)})] : [];
    const says = [this.mainSentence(asked, best), ...best.departures.flatMap((name) => this.remedy(name, best)), ...this.shown(best), ...custom, ...this.unsaid(best.fact), ...this.also(best, matches)];
    const same = matches.filter((match) => match.subject.id === best.subject.id && match.fact.error === best.fact.error && this.described(match) === this.described(best));
    return {
      holds: !best.departures.length, verdict: weighty ?? "holds", chip: best.subject.id, says,
      evidence: same.slice(0, MOST_EVIDENCE).map(({fact}) => fact), value: best.fact.value,
    };
  }

  mainSentence(asked, best) {
    const {SENTENCES} = this.words;
    const stated = this.amount(this.statement.value);
    const filed = best.fact.value * best.share;
    const value = this.amount(filed);
    let what = this.described(best);
    const departs = best.departures.length > 0;
    const isRound = stated !== value && !best.isCustom && !best.departures.includes("binary") && !best.departures.includes("bits");
    const how = this.rounds(filed) ? "rounded" : "close";
    let key = departs ? (isRound ? `departs-${how}` : "departs") : (isRound ? how : "holds");
    if (best.departures.includes("other-chip")) key = "other-chip";
    else if (best.fact.error) {
      key = "error";
      if (best.fact.note) what = `${what}; ${best.fact.note}`;
    }
    const chip = key === "other-chip" ? best.subject.name : asked.name;
    const off = `${Number((100 * Math.abs(this.statement.value - filed) / filed).toPrecision(1))} %`;
    return filled(SENTENCES[key], {chip, asked: asked.name, stated, value, what, off});
  }

  described({fact, departures, subject, share}) {
    const {DESCRIPTIONS} = this.words;
    const said = [this.quantity(fact)];
    if (LINKS.includes(fact.field) && ["both", "one-way"].includes(fact.direction)) said.push(DESCRIPTIONS[fact.direction]);
    if (["link", "domain"].includes(fact.aggregate)) said.push(DESCRIPTIONS[fact.aggregate]);
    if (departures.includes("per-node") && fact.aggregate !== "domain") said.push(filled(DESCRIPTIONS.whole, subject));
    if (departures.includes("per-chip")) said.push(filled(DESCRIPTIONS.part, subject));
    said.push(...["binary", "bits"].filter((name) => departures.includes(name)).map((name) => DESCRIPTIONS[name]));
    if (share > 1) said.push(filled(DESCRIPTIONS.times, {times: String(share)}));
    return said.join(", ");
  }

  quantity(fact) {
    const {QUANTITY_NAMES, DESCRIPTIONS} = this.words;
    if (!["peak", "measured_matmul"].includes(fact.field)) {
      const isNamed = fact.name && !["memory", "memory_bandwidth", "power"].includes(fact.field);
      return isNamed ? `${QUANTITY_NAMES[fact.field]} (${fact.name})` : QUANTITY_NAMES[fact.field];
    }
    const said = [fact.dtype];
    if (fact.field === "measured_matmul") said.push(DESCRIPTIONS.measured);
    else if (fact.sparsity === "dense") said.unshift(DESCRIPTIONS.dense);
    else if (!["", "unstated"].includes(fact.sparsity)) said.push(filled(DESCRIPTIONS.sparse, {pattern: fact.sparsity}));
    if (fact.engine === "vector") said.push(DESCRIPTIONS.vector);
    return said.join(" ");
  }

  remedy(departure, best) {
    const {SENTENCES, DESCRIPTIONS} = this.words;
    const {fact} = best;
    const say = (values) => [filled(SENTENCES[departure], values)];
    if (departure === "binary" || departure === "bits") return say({value: exact(fact)});
    if (departure === "memory-type") return this.otherType(best);
    if (departure === "both-ways") return say({value: this.amount(fact.value * best.share / 2)});
    if (departure === "one-way") return say({value: this.amount(fact.value * best.share * 2)});
    if (departure === "per-node" || departure === "per-chip") return this.otherLevel(departure, best);
    const wanted = this.counterpart(departure, best);
    if (!wanted && departure === "sparse" && fact.sparsity === HALF) return [filled(SENTENCES.half, {value: this.amount(fact.value * best.share / 2)})];
    if (!wanted) return [];
    const way = DESCRIPTIONS[wanted.direction] ?? "";
    const kind = this.words.QUANTITY_NAMES[wanted.field];
    return say({value: this.amount(wanted.value * best.share), format: wanted.dtype, way, kind}).map((text) => text.trimEnd());
  }

  /** What a better source has, where the statement holds by a worse one. */
  shown({departures, fact, subject, share, isCustom}) {
    if (departures.length || isCustom) return [];
    const value = subject.facts.find((one) => !one.error && SAYS.every((name) => one[name] === fact[name])).value * share;
    return this.close(value) ? [] : [filled(this.words.SENTENCES.shown, {value: asPrinted(this.statement, value)})];
  }

  counterpart(departure, {fact, subject}) {
    if (departure === "quantity") return subject.facts.find((f) => f.field === this.statement.field && !f.error && f.main);
    const usual = this.statement.formats.length ? this.statement.formats[0] : this.usualFormat(subject);
    const tests = {
      sparse: (f) => f.sparsity === "dense" && f.dtype === fact.dtype,
      dense: (f) => !["", "dense", "unstated"].includes(f.sparsity) && f.dtype === fact.dtype,
      vector: (f) => f.engine === "tensor" && f.dtype === fact.dtype,
      format: (f) => f.dtype === usual && f.engine === "tensor",
      "open-format": (f) => f.dtype === usual && f.engine === "tensor",
      "per-link": (f) => f.aggregate === "chip" && ["one-way", "both"].includes(f.direction),
    };
    if (!Object.hasOwn(tests, departure)) return null;
    const alike = subject.facts.filter((f) => f.field === fact.field && !f.error && tests[departure](f));
    const plain = alike.filter((f) => ["dense", "unstated", ""].includes(f.sparsity));
    const found = departure === "dense" ? alike : plain;
    return found.find((f) => f.engine === fact.engine || departure === "vector") ?? found[0];
  }

  otherLevel(departure, best) {
    const upper = departure === "per-node" && best.fact.aggregate !== "domain";
    for (const id of upper ? best.subject.parts : this.statement.chips) {
      const subject = this.look(id);
      const fact = subject.facts.find((one) => isAlike(one, best.fact));
      if (!fact) continue;
      return [filled(this.words.SENTENCES[departure], {part: subject.name, whole: subject.name, value: this.amount(fact.value)})];
    }
    return [];
  }

  /** The type of the memory, and a chip of the family that has as much of the stated one. */
  otherType({fact, subject}) {
    const {SENTENCES} = this.words;
    const own = filled(SENTENCES["memory-type"], {type: fact.type.split(",")[0], stated: this.statement.memories.join(" or ")});
    const others = this.matchesOfOthers(subject).filter((one) => one.fact.type && one.departures.join() === "other-chip");
    return others.length ? [own, filled(SENTENCES["other-type"], {chip: least(others, ({cost}) => cost).subject.name})] : [own];
  }

  unsaid(fact) {
    const {SENTENCES} = this.words;
    if (fact.sparsity === "unstated") return [SENTENCES.unstated];
    return fact.direction === "unstated" && LINKS.includes(fact.field) ? [SENTENCES.undirected] : [];
  }

  also(best, matches) {
    if (!best.departures.length) return [];
    const said = [this.described(best)];
    for (const match of [...matches].sort((a, b) => a.cost - b.cost)) {
      const what = this.described(match);
      const isOther = match.subject.id === best.subject.id && !match.fact.error;
      const isVague = match.fact.direction === "unstated" && match.fact.field === best.fact.field; // says the same with less
      if (isOther && !isVague && !said.includes(what) && match.cost < this.words.COSTS.binary) said.push(what);
    }
    const more = said.slice(1, MOST_ALSO + 1);
    return more.length ? [filled(this.words.SENTENCES.also, {what: more.join(", ")})] : [];
  }

  notFound(asked) {
    const {SENTENCES, QUANTITY_NAMES, FIELDS} = this.words;
    const [times, near] = this.multiple(asked) ?? [1, this.nearest(asked)];
    const stated = this.amount(this.statement.value);
    if (!near) {
      const kind = QUANTITY_NAMES[this.statement.field || FIELDS[this.statement.kind][0]];
      const said = filled(SENTENCES["none-recorded"], {chip: asked.name, stated, kind});
      return {holds: false, verdict: "none", chip: asked.id, says: [said], evidence: [], value: null};
    }
    const what = this.described({subject: asked, fact: near, departures: [], share: 1});
    const key = ["price", "rent"].includes(near.kind) ? "none-price" : "none";
    const says = [filled(SENTENCES[key], {chip: asked.name, stated}), filled(SENTENCES[times === 1 ? "nearest" : "multiple"], {times: String(times), value: this.amount(near.value), what})];
    return {holds: false, verdict: "none", chip: asked.id, says, evidence: [near], value: near.value};
  }

  /** How many chips have the stated value together, as makers print for a pair, and the fact. */
  multiple(asked) {
    for (const times of this.words.MULTIPLES) {
      const fact = asked.facts.find((one) => one.kind === this.statement.kind && !one.error && this.close(one.value * times)
        && !this.departures(one, asked, false).length);
      if (fact) return [times, fact];
    }
    return null;
  }

  nearest(asked) {
    const {statement} = this;
    const facts = asked.facts.filter((fact) => fact.kind === statement.kind && !fact.error);
    const named = facts.filter(({field}) => field === statement.field);
    return least(named.length ? named : facts, (fact) => this.distance(fact, asked));
  }

  distance(fact, asked) {
    const {value} = this.statement;
    const off = fact.value > 0 && value > 0 ? Math.abs(Math.log(fact.value / value)) : 99;
    return off + this.words.NEAREST_COST * this.sum(this.departures(fact, asked, false));
  }

  /** A value in the unit of the statement. */
  amount(value) {
    return amount(this.statement, value);
  }
}

function isAlike(fact, other) {
  const isOne = ["", "chip"].includes(fact.aggregate) && !fact.error;
  return isOne && ["field", "dtype", "engine", "sparsity", "main"].every((name) => fact[name] === other[name]);
}
