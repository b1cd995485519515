"""SVG that the command line and the site share: plots, rooflines, schedules, sharded arrays."""
