"""Tables of JAX's public functions: which arguments each takes, and which are left out and why."""
