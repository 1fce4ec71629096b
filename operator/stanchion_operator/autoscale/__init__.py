"""Every few seconds: look at each queue, ask the control law, move the number of replicas, say why."""
