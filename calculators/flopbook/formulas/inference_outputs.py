"""What decode, prefill and serving give in common, and how the steps of their parts are written."""

from flopbook.formulas.declaration import Output
from flopbook.formulas.layer_inputs import LAYER_SYMBOLS

# What decode, prefill and serving say of memory.
FIT_OUTPUTS = {
    "weight_bytes": Output("byte", r"M_\text{weights}", "weights on each chip"),
    "chip_bytes": Output("byte", r"M_\text{held}", "weights and KV cache on each chip"),
    "free": Output(
        "byte",
        r"M_\text{free}",
        "memory left on each chip; negative if they do not fit",
        needs=("memory",),
    ),
    "fewest_chips": Output(
        "chip",
        r"X_\text{min}",
        "smallest number of chips that hold weights and KV cache",
        needs=("memory",),
        absent="no number of chips holds the cache of one sequence",
    ),
}

# What to expect of tuned software, beside the bound.
EXPECTED = {
    "likely_seconds": Output(
        "s",
        r"T_\text{likely}",
        "expected time of a tuned engine (fitted to published runs)",
        absent="the weights do not fit",
    ),
}
EXPECTED_RATE = {
    "likely_tokens_per_s": Output(
        "token/s",
        r"P_\text{likely}",
        "expected throughput of a tuned engine, all sequences together",
    ),
}

MESSAGES_OUTPUT = {
    "message_seconds": Output(
        "s",
        r"T_\text{messages}",
        "messages between chips, in the expected time alone",
        needs=("link_bandwidth",),
    ),
}

# From which peak rate on arithmetic hardly counts.
ENOUGH_OUTPUT = {
    "enough_peak": Output(
        "FLOP/s",
        r"\pi_\text{enough}",
        "peak rate from which on arithmetic adds at most a tenth to what memory takes",
    ),
}
# What an answer without a peak rate says.
NO_ARITHMETIC = (
    "without --peak no arithmetic is counted: it adds at most a tenth to a step on a chip with a "
    "peak of {enough_peak} or more (more for a larger --batch), and sets the pace far below that"
)

# How the steps of these parts are written.
PART_SYMBOLS = LAYER_SYMBOLS | {
    "shared": r"\gamma'",
    "groups": r"\gamma_0",
    "head_size": r"d'",
    "whole": r"\tau_0",
    "replicas": r"\rho_0",
    "filled": r"\phi",
    "table": "e_0",
    "model_width": "D'",
    "places": "e_1",
    "lookup": "e",
    "unmet": r"N_\text{rest}",
    "unvisited": r"\epsilon",
    "all_routed": r"N_\text{all}",
    "routed": r"N_\text{routed}",
    "visits": "v",
    "untouched": "u",
    "chip_read": r"N_\text{chip}",
    "sequence_bytes": "m_s",
    "sequence_states": "m_z",
    "sequence_on_chip": "m_c",
    "step_tokens": r"\beta'",
    "sequences": "B'",
    "likely": r"T_l",
    "cache": r"M_\text{cache}",
    "replica_values": "n_r",
    "there_and_back": "b_{da}",
    "reduced": "Q_r",
    "copies": "Q_e",
    "domains": r"n_\text{out}",
    "in_domain": r"t_\text{in}",
    "between": r"Q_\text{out}",
    "group": "g_e",
    "leaving": r"\lambda_\text{out}",
    "near": r"Q_\text{near}",
    "far": r"Q_\text{far}",
    "slower": "w_f",
    "dense_bytes": r"M_\text{dense}",
    "routed_bytes": r"M_\text{routed}",
    "evenly": r"M_\text{even}",
    "stored": r"M_\text{stored}",
    "room": r"M_\text{room}",
    "narrow": r"X_1",
    "left": r"M_1",
    "wide": r"X_2",
    "one_replica": r"X_3",
    "width": r"t_2",
    "least": r"t_1",
    "spare": r"M_2",
    "few": r"\rho_1",
    "many": r"\rho_2",
    "on_few": r"X_4",
    "on_many": r"X_5",
    "each": r"t_3",
    "past_cache": r"M_3",
    "further": r"t_4",
    "wider": r"t_5",
    "on_each": r"X_6",
}


DECODING_SYMBOLS = {
    "product_work": r"W_\text{products}",
    "score_work_of_step": r"W_\text{scores}",
    "longest": r"T_\text{most}",
    "moved": "m_r",
    "score_seconds": r"T_\text{scores}",
    "attention": r"T_\text{attention}",
    "products": r"T_\text{products}",
    "step": r"T'",
}
