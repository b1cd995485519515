"""What real systems reach: step time from its parts, fitted on published runs, with bands."""
