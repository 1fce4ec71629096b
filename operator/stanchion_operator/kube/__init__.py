"""The only room that talks to the API server: requests, Lease, applies, scale, status, events, cache."""
