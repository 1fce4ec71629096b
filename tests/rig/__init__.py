"""What tests are held in: Redis servers of any kind; the operator, a namespace of its own, a fake fleet."""
