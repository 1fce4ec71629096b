"""What the operator's tests are held in: the operator as a process, a namespace of its own, a fake fleet."""
