"""Runs jobs.

A supervisor (`supervisor`, with `life`, `crew`, `handle`, `heartbeat`, `observer`, `scheduler`,
`announcements`, `health`) keeps child processes alive and speaks for them. A child (`child`, with `trips`,
`waits`, `execute`, `outcome`) runs the jobs. They talk over a `link`. Read `options`, `supervisor`, `crew`,
then `child`, `trips`, `execute`.
"""
