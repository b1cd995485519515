// Rules between the inputs of a calculator, as the command line checks them, each with what a person reads.

/** The first rule between inputs that values break, as the command line checks them; empty where all hold. */
export function broken(id, values, resolved, chip) {
  if (id === "collective") return ofNetwork(values);
  if (id === "ep-limit" && values.axes > 3) return "Experts are exchanged on one to three axes.";
  if (id === "cp-limit" && values.kv_heads > values.heads && values.kv_heads !== Infinity) {
    return "Each key and value head serves at least one head.";
  }
  if (values.tensor_axes > values.axes || (values.tensor_axes === values.axes && values.axes > 1)) {
    return "Tensor parallelism leaves no axis for FSDP.";
  }
  if (chip?.axes && resolved.axes?.given && values.axes > chip.axes.value) {
    return `${chip.name} has ${chip.axes.value} axes.`;
  }
  if (values.schedule !== undefined) {
    if (values.schedule !== "interleaved" && values.virtual !== 1) return "Chunks belong to the interleaved schedule.";
    const open = values.microbatches === Infinity;
    if (values.schedule === "gpipe" && open) return "GPipe keeps every micro-batch until the end; type how many.";
    if (values.schedule === "interleaved" && !open && values.microbatches % (values.stages ?? values.pp) !== 0) {
      return "The interleaved schedule needs a multiple of the stages as micro-batches.";
    }
    const stages = values.stages ?? values.pp;
    const problem = ofSchedule({...values, stages, microbatches: open ? 4 * stages : values.microbatches});
    if (problem) return problem;
  }
  if (values.op !== undefined) return ofOperation(values);
  if (values.experts < values.experts_per_token) return "A token cannot visit more experts than there are.";
  if (id === "memory") return ofShape(values) || ofTensors(values) || ofParallelism(values);
  if (values.compute_params > values.params) return "A token cannot meet more weights than there are.";
  if (["kv-cache", "prefill", "decode", "serving"].includes(id)) return ofHeads(values);
  return id === "params" ? ofShape(values) : "";
}

/** What the closed forms of the later schedules ask, as the command line does; a time left open is that of forward. */
function ofSchedule({schedule, stages, microbatches, forward, backward_input, backward_weight}) {
  const inputs = backward_input || forward;
  const weights = backward_weight || forward;
  const folded = schedule === "dualpipe" || schedule === "dualpipe-v";
  if (schedule === "dualpipe" && stages % 2 !== 0) return "DualPipe needs an even number of stages.";
  if (schedule === "dualpipe" && microbatches % 2 !== 0) return "DualPipe needs an even number of micro-batches.";
  if (folded && microbatches < 2 * stages) return "This schedule needs at least twice as many micro-batches as stages.";
  if (schedule === "zb-v" && forward !== undefined && microbatches < 2 * stages - 1) {
    return "The closed form of ZB-V needs at least twice as many micro-batches as stages, less one.";
  }
  if (schedule.startsWith("zb") && (weights > forward || weights > inputs)) {
    return "The closed form needs a backward pass for the weights that is no longer than the other two.";
  }
  if (schedule === "zb-v" && forward > inputs) {
    return "The closed form of ZB-V needs a forward pass no longer than the backward pass for the inputs.";
  }
  if (folded && (forward !== inputs || weights > forward)) {
    return "The closed form needs equal times forward and backward for the inputs, and no longer ones for the weights.";
  }
  return "";
}

/** What is wrong with a network, as the command line says it. */
function ofNetwork(v) {
  if (v.topology === "two-level") {
    if (v.scaleout_bandwidth === Infinity) return "Two levels need the bandwidth beyond a node.";
    return v.chips % v.chips_per_node === 0 ? "" : "Two levels need a number of chips that is a multiple of those in a node.";
  }
  if (v.topology !== "torus" && (v.side_x !== Infinity || v.side_y !== Infinity)) return "Sides belong to a torus.";
  if (v.topology !== "switch" && v.wrap === "no" && v.links_per_axis === 1) return "An axis of one link has to be closed.";
  if (v.topology !== "torus") return "";
  if (v.axes > 3) return "A torus has one to three axes.";
  if (v.axes < 2 && v.side_x !== Infinity) return "Sides belong to a torus of two or three axes.";
  if (v.axes < 3 && v.side_y !== Infinity) return "With two axes the second side follows from the first.";
  const alike = (length) => Math.floor(length + 0.5);
  const first = v.axes === 1 ? v.chips : v.side_x === Infinity ? alike(v.chips ** (1 / v.axes)) : v.side_x;
  const second = v.axes < 3 ? v.chips / first : v.side_y === Infinity ? alike(Math.sqrt(v.chips / first)) : v.side_y;
  const whole = Number.isInteger(second) && Number.isInteger(v.chips / (first * second));
  return whole ? "" : "These chips do not fill a torus of whole sides.";
}

/** What is wrong with a shape, as the command line says it. */
function ofShape(v) {
  if (v.kv_heads > v.heads && v.kv_heads !== Infinity) return "Each key and value head serves at least one head.";
  if (v.dense_layers > v.layers) return "There are more dense layers than layers.";
  if (v.positions === "learned" && v.context === Infinity) return "Learned positions need the number of places.";
  const onlyExperts = v.experts > 1 && v.dense_layers === 0 && v.expert_d_ff < Infinity;
  if (v.d_ff === Infinity && !onlyExperts) return "The width of a dense feed-forward block is missing.";
  if (v.kv_lora_rank > 0 && !(v.qk_nope_head_dim > 0 && v.v_head_dim > 0)) return "Latent attention needs its head widths.";
  const open = v.head_dim === Infinity && v.kv_lora_rank === 0 && v.positions !== undefined;
  return open && v.d_model % v.heads !== 0 ? "The width is no multiple of the heads; type the width of a head." : "";
}

/** What is wrong with the heads of an attention that is run, as the command line says it. */
function ofHeads(v) {
  if (v.kv_heads > v.heads && v.kv_heads !== Infinity) return "Each key and value head serves at least one head.";
  if (v.head_dim === Infinity && v.d_model === Infinity && !v.kv_lora_rank) return "The width of a head is missing.";
  if (v.window_layers > v.layers && v.window_layers !== Infinity) return "There are more windowed layers than layers.";
  if (v.vocab > 0 && v.d_model < Infinity && 2 * v.vocab * v.d_model >= v.compute_params) return "Two embeddings are more than all weights.";
  return ofTensors(v) || (v.batch < v.ep ? "Each group needs a sequence." : "");
}

/** What is wrong with heads that are divided over chips, as the command line says it. */
function ofTensors(v) {
  const keys = Math.min(v.kv_heads, v.heads);
  const whole = v.heads % v.tp === 0 && (v.kv_lora_rank > 0 || keys % v.tp === 0 || v.tp % keys === 0);
  return whole ? "" : "The heads do not divide over the ways of tensor parallelism.";
}

/** What is wrong with an operation, as the command line says it. */
function ofOperation(v) {
  const attention = v.op === "prefill" || v.op === "decode";
  if (v.op === "dot" && !(v.m === 1 && v.n === 1)) return "A dot product has an inner length only.";
  if ((v.op === "gemv" || v.op === "decode") && v.m !== 1) return "A matrix times a vector, and attention for one token, has one row.";
  if (v.op === "prefill" && v.n < v.m) return "Attention over a prompt needs as many keys as queries: each token sees itself.";
  if (!attention && !(v.heads === 1 && v.kv_heads === Infinity)) return "Only attention has heads.";
  return v.kv_heads > v.heads && v.kv_heads !== Infinity ? "Each key and value head serves at least one head." : "";
}

/** What is wrong with how a model is divided, as the command line says it. */
function ofParallelism(v) {
  if (v.pp > v.layers) return "There are more stages than layers.";
  if (v.experts % v.ep !== 0) return "The experts are no multiple of the ways of expert parallelism.";
  if ((v.dp * v.cp) % v.ep !== 0) return "Expert parallelism does not divide data times context parallelism.";
  if (v.seq % v.cp !== 0) return "The sequence is no multiple of the ways of context parallelism.";
  const wide = v.expert_d_ff < Infinity ? v.expert_d_ff : v.d_ff < Infinity ? v.d_ff : 0;
  const blocks = v.experts > 1 ? (v.layers - v.dense_layers) * v.experts * (v.ffn_kind === "gated" ? 3 : 2) : 0;
  const counted = v.vocab * v.d_model * (v.tied_embeddings === "yes" ? 1 : 2) + blocks * v.d_model * wide;
  return 1.05 * v.params < counted ? "The parameters are fewer than the embeddings and experts of this shape." : "";
}
