"""The tiers of the tests (filled in below)."""
