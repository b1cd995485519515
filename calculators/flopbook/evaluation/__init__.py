"""Running a calculator: look-ups, sweeps, sensitivity, solving for an input, answers in words."""
