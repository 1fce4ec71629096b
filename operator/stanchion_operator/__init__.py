"""The Kubernetes operator of Stanchion."""
