"""Measured runs beside what the calculators give for the same configuration."""
