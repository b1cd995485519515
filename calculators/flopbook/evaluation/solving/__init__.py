"""Calculators turned round: the input at which an output meets its target."""
