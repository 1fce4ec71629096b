"""How many replicas a queue needs: facts → estimate → demand → limits → decision.

Pure: no I/O, no clock. The local runner and the operator sample the facts (`stanchion.store.facts`),
call `autoscaler.step` every tick and carry out the decision.
"""
