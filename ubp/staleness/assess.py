"""Assess references: compare each source with its baseline, here and in collections."""

from collections.abc import Sequence

from ubp.core.model import Assessment, Page
from ubp.staleness.baseline import Origins, find_baselines
from ubp.staleness.compare import assessments_of, baseline_requests, compare_sources, split_requests
from ubp.staleness.model import StalenessContext
from ubp.staleness.references import locate


def assess(pages: Sequence[Page], context: StalenessContext) -> tuple[Assessment, ...]:
    """Assess every reference of these pages, in one pass for all."""
    requests = baseline_requests(pages, context.rules)
    own, others = split_requests(requests, context.rules)
    located = locate(context.view, {request.reference for request in own})
    origins = Origins.uncommitted(context.view)
    baselines = find_baselines(own, located, context, origins)
    verdicts = compare_sources(baselines, located, context)
    if others:
        from ubp.staleness.collections import compare_collections

        verdicts |= compare_collections(others, context, origins)
    return assessments_of(pages, requests, verdicts)
