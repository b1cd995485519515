"""What offloading to the memory of the host moves over its link, and what of it does not hide."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.formulas.training_memory_inputs import (
    DIVISION,
    WIDTHS,
    BytesPerParam,
    Dp,
    GradBytes,
    Offload,
    OffloadActivations,
    Params,
)
from flopbook.quantities.ops import inf, maximum, minimum, where

# PyTorch's Adam reads weight, gradient and two moments in 16 bits and writes all but the gradient,
# 14 bytes for each parameter; a step of 70.6e9 on the processors of a node of eight A100 takes some
# 9 seconds longer than its passes (pytorch2026torchtune).
HOST_RATE = Constant(110e9, "byte/s", "what updates read and write in the memory of a host")
# LLaMA 7B on eight A800: 17 s a step more with the optimizer on the host than without.
DEEPSPEED_RATE = Constant(11e9, "byte/s", "the same with DeepSpeed (chen2024deepspeed)")
# Reads a gradient in 16 bits, master weight and moments in 32; writes these and a weight in 16.
UPDATED = Constant(28.0, "byte/param", "bytes that an update moves in the memory of the host")
HOST_STATE = Constant(12.0, "byte/param", "a master weight and two moments in fp32")
HOST_CHIPS = Constant(8.0, "chip", "chips of a usual host")
FORWARD = Constant(1 / 3, "1", "share of the forward pass in the time of both passes")


@omission(
    "updates take what those of PyTorch took on a node of eight A100, 110 GB/s of its memory; a "
    "published run of DeepSpeed took ten times as long, --host-rate 11GB/s ({size})",
    of="exposed",
)
def slower_updates(host_rate: float, update_seconds: float, exposed: float) -> float:
    """The published update that took longest; a rate of one's own is none of both."""
    longer = where(host_rate == HOST_RATE, HOST_RATE / DEEPSPEED_RATE - 1, 0)
    return longer * update_seconds / where(exposed > 0, exposed, inf)


@formula(
    "offload",
    title="Offloading",
    question="What moves between chip and host in a step, and how much longer is the step?",
    outputs={
        "exposed": Output("s", r"\Delta T", "time by which the step is longer"),
        "down": Output("byte", r"Q_\downarrow", "bytes of a step from each chip to its host"),
        "up": Output("byte", r"Q_\uparrow", "bytes of a step from the host to each chip"),
        "update_seconds": Output("s", r"T_u", "time of the optimizer on the host"),
        "host_bytes": Output("byte", r"M_h", "memory of each host that offloading takes"),
    },
    sources=("ren2021zero", "rajbhandari2021zero", "pytorch2026torchtune", "chen2024deepspeed"),
    symbols={
        "rung": r"\rho",
        "divided": r"N_d",
        "rounds": r"M_g",
        "gradients": r"Q_g",
        "fetched": r"Q_f",
        "renewed": r"Q_w",
        "moved": r"Q_a",
        "forward": r"T_f",
        "backward": r"T_r",
        "outward": r"\tau_\downarrow",
        "inward": r"\tau_\uparrow",
        "after": r"\tau_u",
        "late": r"Q_\ell",
        "streamed": r"Q_s",
        "usual": r"X_u",
        "sharing": r"X_h",
        "gradients_kept": r"u_g",
        "kept": r"u_h",
        "waits": r"A_h",
        "update": r"\tau_h",
        "waiting": r"\tau_w",
    },
    omissions=(slower_updates,),
    asks=("model", "chip", "dp", "offload"),
    examples=(
        {"model": "llama-3-8b", "chip": "h100-sxm", "dp": "8"},
        {
            "model": "llama-3-70b",
            "chip": "a100-sxm-80gb",
            "dp": "8",
            "offload": "parameters",
            "update-bytes": "14",
            "compute-seconds": "11.9s",
        },
    ),
)
def offload(
    params: Params,
    host_bandwidth: Annotated[
        float,
        Input(
            "byte/s",
            r"\beta_h",
            "link to the host, each way",
            chip="host_bandwidth",
            most=1e18,
        ),
    ],
    offload: Offload = "gradients",
    dp: Dp = 1.0,
    microbatches: Annotated[
        float, Input("1", "M", "micro-batches per step", least=1, whole=True, most=1e6)
    ] = 1.0,
    compute_seconds: Annotated[
        float,
        Input(
            "s",
            r"T_\text{math}",
            "time of all passes of a step without offloading",
            most=1e9,
            none=True,
        ),
    ] = 0.0,
    offload_activations: OffloadActivations = "no",
    activations: Annotated[
        float,
        Input("byte", "T_a", "activations that a micro-batch keeps", most=1e18, none=True),
    ] = 0.0,
    bytes_per_param: BytesPerParam = 2.0,
    grad_bytes: GradBytes = 2.0,
    update_bytes: Annotated[
        float,
        Input("byte/param", "u", "bytes that an update reads and writes", least=0.01, most=256),
        WIDTHS,
    ] = UPDATED,
    host_state: Annotated[
        float,
        Input("byte/param", "u_s", "optimizer state of a parameter", least=0.01, most=256),
        WIDTHS,
    ] = HOST_STATE,
    host_rate: Annotated[
        float, Input("byte/s", "h", "rate of updates in the memory of a host", most=1e18), DIVISION
    ] = HOST_RATE,
    host_chips: Annotated[
        float,
        Input(
            "chip",
            r"X_\text{node}",
            "chips that share a host (default: one for each replica, at most 8)",
            least=1,
            whole=True,
            most=1e4,
        ),
        DIVISION,
    ] = inf,
) -> dict[str, Any]:
    """Traffic between a chip and its host in a step of training, and the time that it adds.

    Derivation:
        What lies on the host is the state of the optimizer; with gradients, these too
        (ZeRO-Offload); with parameters, all three (ZeRO-Infinity, FSDP with offloading). ZeRO
        divides N parameters over d replicas, and each chip exchanges its part with its host.

        The processors of the host update the weights, because moving a gradient and a weight takes
        4 bytes for each parameter, and moving the state 24. Gradients that lie on the chip go down
        once, after the last micro-batch, as the update proceeds. Those that lie on the host go down
        in each backward pass, and hide behind it. New weights come up as the update proceeds; where
        weights lie on the host, each pass fetches them instead, 2 M times in a step, and hides what
        it can. Activations go down in the forward pass and come up in the backward pass.

        A link carries both ways at once. The forward pass takes a third of the time of both. What
        a pass does not hide is added to the step, and so is the update: u bytes for each parameter
        in the memory that the chips of a node share: eight of them, unless there are fewer
        replicas. A host keeps what its chips offload.

    Leaves out:
        - Updates of other software than that of PyTorch. [slower_updates]
        - Latencies of single transfers. [no size: they depend on the sizes of tensors]
        - Updates that wait for nobody, a step late (ZeRO-Offload). [no size: they change the
          training]
        - Updates on the chip, for which states come up and go down. [no size: they are another way
          to offload]
        - Whether the host has the memory of host_bytes. [no size: a chip does not say what its host
          has]
        - Other traffic of the host: input data, checkpoints. [no size: each run chooses]
    """
    rung = {"optimizer": 1, "gradients": 2, "parameters": 3}.get(offload, 0)
    divided = where(rung >= 1, params, 0 * params) / dp
    # Gradients that stay on the chip add up there.
    rounds = where(rung >= 2, microbatches, 1)
    gradients = rounds * grad_bytes * divided
    renewed = bytes_per_param * divided
    fetched = where(rung >= 3, 2 * microbatches * renewed, 0 * renewed)
    moved = microbatches * activations if offload_activations == "yes" else 0 * activations
    forward = FORWARD * compute_seconds
    backward = compute_seconds - forward
    streamed = where(rung >= 2, gradients, 0 * gradients)
    outward = maximum(moved, fetched / 2) / host_bandwidth
    inward = maximum(streamed, fetched / 2 + moved) / host_bandwidth
    usual = minimum(dp, HOST_CHIPS)
    sharing = where(host_chips < inf, host_chips, usual)
    update = sharing * update_bytes * divided / host_rate
    gradients_kept = where(rung >= 2, grad_bytes, 0 * grad_bytes)
    kept = host_state + gradients_kept + where(rung >= 3, bytes_per_param, 0 * bytes_per_param)
    waits = activations if offload_activations == "yes" else 0 * activations
    # What goes beside the update: gradients that lay on the chip, weights that will lie there.
    late = where(rung >= 3, 0 * renewed, maximum(gradients - streamed, renewed))
    after = maximum(update, late / host_bandwidth)
    waiting = maximum(outward - forward, 0 * forward) + maximum(inward - backward, 0 * backward)
    return {
        "exposed": waiting + after,
        "down": gradients + moved,
        "up": where(rung >= 3, fetched, renewed) + moved,
        "update_seconds": update,
        "host_bytes": sharing * (kept * divided + waits),
    }
