"""SVG that the command line and the site share: plot frames, rooflines, schedules, sharded arrays."""
