"""Use case: how fresh the documentation is, as a whole: levels, ages, a trend, what to do first."""
