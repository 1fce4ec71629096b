"""Manifests without a cluster: read YAML as kubectl does, validate and default it as the API server would.

`load.load_paths` reads files and folders, `check.validate` answers with the defaulted object or with the
problems the API server would name, `check.check_set` finds what no single object can say. Called by
`stanchion check`, `apply` and `dev`; this room never talks to Redis or to a cluster.
"""
