"""Look and act: what people ask of a running system, under the command line and over the other rooms."""
