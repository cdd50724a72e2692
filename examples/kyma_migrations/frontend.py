# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A migration of the example's own, found because it lies in ``kyma_migrations`` beside the playbook."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)


class PriceInCents(Migration):
    """Offers hold their price in cents, in an annotation that the frontend reads."""

    component = "frontend"
    phase = Phase.PRE
    keep = "it is an example"

    def check(self, ctx: Context) -> Verdict:
        """Offers without the annotation call for it."""
        missing = self._without_cents(ctx)
        if missing:
            first = missing[0]["metadata"]["name"]
            return needed(f"offers without a price in cents: {len(missing)}, e.g. {first}")
        return not_needed("all offers have their price in cents")

    def run(self, ctx: Context) -> None:
        """Annotate those that lack it."""
        for offer in self._without_cents(ctx):
            meta = offer["metadata"]
            cents = str(offer["spec"]["price"] * 100)
            ctx.cluster.patch(
                "shop.example.com/v1",
                "Offer",
                meta["name"],
                meta["namespace"],
                {"metadata": {"uid": meta["uid"], "annotations": {"shop.example.com/cents": cents}}},
            )
            ctx.log.info(f"Offer {meta['name']} costs {cents} cents")

    def _without_cents(self, ctx: Context) -> list[dict]:
        offers = ctx.cluster.list("shop.example.com/v1", "Offer").items
        return [o for o in offers if "shop.example.com/cents" not in (o["metadata"].get("annotations") or {})]
