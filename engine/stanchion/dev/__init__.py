"""The local runner and the demo: declared queues on one machine, with a Redis and workers of their own."""
