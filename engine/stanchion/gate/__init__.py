"""The decision at push and at run. Pure where it decides; Redis is reached only through `store`."""
