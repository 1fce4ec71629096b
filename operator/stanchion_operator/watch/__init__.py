"""Events become keys: kopf as the informer and nothing more, and the queue of keys to look at."""
