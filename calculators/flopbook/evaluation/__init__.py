"""Running a calculator: look-ups, sweeps, sensitivity, solving for an input, and answers in words."""
