"""`stanchion demo`: the same load on two queues, one gated and one plain, side by side, with a receipt.

Read `show.py` first; `acts/` holds what happens on the stage. Every figure is read from Redis.
"""
