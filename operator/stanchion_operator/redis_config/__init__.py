"""The operator's side of Redis: from a reference in a policy to a server that can be asked.

The only room that makes Redis clients here. What is asked stands with the askers, over `stanchion.store`.
"""
