"""Pure: a policy becomes the body of its Deployment."""
