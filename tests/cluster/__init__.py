"""A Kubernetes to test on: the user's own, a control plane of plain processes, or kind."""
