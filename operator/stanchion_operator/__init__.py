"""The Kubernetes operator: compiles the three kinds of policy into Redis, runs the workers, scales them.

Read in this order: `cli` and `settings` say how it is started, `app` starts and stops everything,
`watch` turns events into keys, `reconcile` handles one key, `autoscale` moves the numbers. `decide` and
`render` are pure; `kube` and `redis_config` are the only rooms that talk to the API server and to Redis.
"""
