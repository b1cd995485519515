# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Dot product: what does a processor do for one sum?
#
# You will run a program of nine instructions on a processor that you can read from top to bottom.
# It multiplies two lists of numbers pair by pair and adds up. You count what it executes: how many
# instructions fetch numbers, how many calculate, and how many only keep the loop going. Then you
# see what the counts say about any machine.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install . numpy matplotlib`. No GPU is needed, and no RISC-V processor either.
#
# ## Set up
#
# This cell loads flopbook and NumPy and sets the look of the figures.

# %%
import matplotlib.pyplot as plt
import numpy as np

import flopbook
from flopbook.drawing.plotting import COLOURS, show, use_style

use_style()

# %% [markdown]
# ## The program
#
# It is the listing of the chapter "A computer in one page", letter by letter. When it starts,
# register `a0` holds the address of the first list, `a1` that of the second, and `a2` their length.
# When it ends, `a3` holds the sum. Numbers are whole and take 4 bytes each.

# %%
PROGRAM = """\
      li   a3, 0           # sum = 0
loop: lw   t0, 0(a0)       # load from the first list
      lw   t1, 0(a1)       # load from the second list
      mul  t0, t0, t1      # multiply
      add  a3, a3, t0      # add to the sum
      addi a0, a0, 4       # on to the next number, 4 bytes further
      addi a1, a1, 4
      addi a2, a2, -1      # one pair less to do
      bnez a2, loop        # again, unless none is left
"""
print(PROGRAM)

# %% [markdown]
# ## A processor
#
# A program is a list of instructions, and labels are places in it. The processor holds the number
# of the next instruction and a few registers; memory is one row of bytes. A result is cut to 32
# bits, as a register of that width would hold it. An address that is no multiple of 4, or outside
# the memory, is an error.


# %%
def assemble(text):
    """The instructions as (name, operands), and where each label points."""
    code, labels = [], {}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        label, colon, rest = line.rpartition(":")
        if colon:
            labels[label.strip()] = len(code)
        if words := rest.replace(",", " ").replace("(", " ").replace(")", " ").split():
            code.append((words[0], words[1:]))
    return code, labels


def signed(value):
    """The low 32 bits of a number, as a register holds them."""
    return (value + 2**31) % 2**32 - 2**31


def run(text, memory, registers):
    """Execute a program until it runs off its end.

    Returns the registers, and how often each name was executed.
    """
    code, labels = assemble(text)
    r, counts, at = dict(registers), {}, 0
    while at < len(code):
        name, args = code[at]
        counts[name] = counts.get(name, 0) + 1
        at += 1
        if name == "li":
            r[args[0]] = int(args[1])
        elif name == "lw":
            address = r[args[2]] + int(args[1])
            if address % 4 or not 0 <= address <= len(memory) - 4:
                raise ValueError(f"{name} of address {address}")
            r[args[0]] = int.from_bytes(memory[address : address + 4], "little", signed=True)
        elif name == "mul":
            r[args[0]] = signed(r[args[1]] * r[args[2]])
        elif name == "add":
            r[args[0]] = signed(r[args[1]] + r[args[2]])
        elif name == "addi":
            r[args[0]] = signed(r[args[1]] + int(args[2]))
        elif name == "bnez":
            at = labels[args[1]] if r[args[0]] else at
        else:
            raise ValueError(f"unknown instruction {name}")
    return r, counts


# %% [markdown]
# ## It works
#
# Both lists are put into memory, one behind the other. NumPy says what the answer should be.


# %%
def dot(text, x, y):
    """The dot product of two lists by a program, and the counts."""
    memory = np.concatenate([x, y]).astype("<i4").tobytes()
    registers, counts = run(text, memory, {"a0": 0, "a1": 4 * len(x), "a2": len(x)})
    return registers["a3"], counts


random = np.random.default_rng(1)
x, y = random.integers(-1000, 1000, (2, 1024))
answer, counts = dot(PROGRAM, x, y)
print("the program:", answer)
print("NumPy:      ", x @ y)
print("executed:   ", ", ".join(f"{count} {name}" for name, count in counts.items()))

# %% [markdown]
# ## Three kinds of instruction
#
# Only `mul` and `add` are the arithmetic that we asked for. `lw` brings the numbers. The rest moves
# two addresses on, counts down and jumps.

# %%
KINDS = {
    "loads": ("lw",),
    "wanted arithmetic": ("mul", "add"),
    "the loop itself": ("li", "addi", "bnez"),
}


def by_kind(counts):
    """How many instructions of each kind were executed."""
    return {kind: sum(counts.get(name, 0) for name in names) for kind, names in KINDS.items()}


for kind, count in by_kind(counts).items():
    print(f"{kind:<18}{count:>6}  {count / len(x):.2f} for each pair")
print(f"{'together':<18}{sum(counts.values()):>6}")

# %% [markdown]
# ## Unrolling
#
# A round of the loop may do several pairs and pay for the loop once. The next cell writes such
# programs: loads at growing distances from the same address, as many multiplications and additions,
# and then one step of the addresses for all. The length has to be a multiple of the pairs in a
# round.


# %%
def unrolled(pairs):
    """The program with several pairs in each round of the loop."""
    body = []
    for n in range(pairs):
        body += [f"lw t0, {4 * n}(a0)", f"lw t1, {4 * n}(a1)", "mul t0, t0, t1", "add a3, a3, t0"]
    body += [
        f"addi a0, a0, {4 * pairs}",
        f"addi a1, a1, {4 * pairs}",
        f"addi a2, a2, {-pairs}",
        "bnez a2, loop",
    ]
    return "li a3, 0\nloop:\n" + "\n".join(body)


PAIRS = (1, 2, 4, 8, 16)
found = {pairs: dot(unrolled(pairs), x, y) for pairs in PAIRS}
for pairs, (value, counted) in found.items():
    print(
        f"{pairs:>2} pairs in a round: sum {value}, {sum(counted.values()) / len(x):.2f} "
        "instructions for each pair"
    )

# %% [markdown]
# ## What cannot be unrolled away
#
# The figure shows the instructions for each pair, split into the three kinds, for one to sixteen
# pairs in a round of the loop. The orange part, the loop, melts away. The two loads and the two
# operations stay: for each number that arrives there is one operation, and no way of writing the
# program changes that.

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.0))
floor = np.zeros(len(PAIRS))
for (kind, _), shade in zip(KINDS.items(), (COLOURS[0], COLOURS[2], COLOURS[1]), strict=True):
    height = np.array([by_kind(found[pairs][1])[kind] / len(x) for pairs in PAIRS])
    ax.bar(
        [str(pairs) for pairs in PAIRS], height, bottom=floor, width=0.6, color=shade, label=kind
    )
    floor += height
ax.set(xlabel="pairs in a round of the loop", ylabel="instructions for each pair", ylim=(0, 9))
ax.grid(False)
ax.legend(ncols=3, loc="upper right")
show(
    "Instructions for each pair of a dot product by kind, for one to sixteen pairs in a round of "
    "the loop"
)

# %% [markdown]
# ## What the counts say about a machine
#
# Operations over bytes is the arithmetic intensity. Here each pair takes 2 operations and 8 bytes.
# With numbers of 2 bytes it would be twice that, one half. The calculator counts as the program
# does, and adds the one result that is written.
#
# Now suppose a processor that starts one instruction in each cycle. Its rate of wanted operations
# is the clock times their share of the instructions. Beside it stands the peak of an accelerator.

# %%
operations = by_kind(counts)["wanted arithmetic"]
loaded = 4 * counts["lw"]
formula = flopbook.calculate("arithmetic-intensity", op="dot", k=len(x), bytes_per_param=2)
print(f"the program, 4 bytes a number:    {operations / loaded:.4f} operations for each byte")
print(f"the calculator, 2 bytes a number: {formula['intensity']:.4f}")

clock = flopbook.parse_quantity("3GHz", "Hz")
rate = clock * operations / sum(counts.values())
h100 = flopbook.chip("h100-sxm")
print(
    f"\none instruction a cycle at 3 GHz: {flopbook.format_quantity(rate, 'OP/s')} of wanted "
    "arithmetic"
)
print(f"an H100, dense bf16:              {flopbook.format_quantity(h100.peak('bf16'), 'FLOP/s')}")
print(f"the one over the other:           {h100.peak('bf16') / rate:,.0f}")

# %% [markdown]
# ## Try it
#
# - Give both lists numbers near a hundred thousand. Where does the sum go wrong, and why is NumPy
#   right?
# - Let the length be no multiple of the pairs in a round. What does the program do? Mend it.
# - Write `y = a * x + y` for whole lists. You need `sw`, which stores: add it to the processor.
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert len(assemble(PROGRAM)[0]) == 9
assert answer == x @ y and all(value == answer for value, _ in found.values())
for n in (1, 2, 7, 100):
    some, other = random.integers(-1000, 1000, (2, n))
    value, counted = dot(PROGRAM, some, other)
    assert value == some @ other
    assert (
        sum(counted.values()) == 8 * n + 1
        and counted["lw"] == 2 * n
        and counted["mul"] == counted["add"] == n
    )
for pairs, (_, counted) in found.items():  # the loop is shared, loads and arithmetic are not
    assert by_kind(counted)["loads"] == by_kind(counted)["wanted arithmetic"] == 2 * len(x)
    assert by_kind(counted)["the loop itself"] == 4 * len(x) / pairs + 1
assert (
    dot(PROGRAM, np.array([2**20]), np.array([2**12]))[0] == 0
)  # the product needs 33 bits, and 32 are kept
assert operations / loaded == 1 / 4
assert abs(formula["intensity"] - 1 / 2) < 1e-3 and formula["flop"] == operations
assert 1e6 < h100.peak("bf16") / rate < 2e6
print("all checks passed")
