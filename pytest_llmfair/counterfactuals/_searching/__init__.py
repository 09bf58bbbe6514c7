"""The search for the worst pair: what differs, what to try next, how to shorten."""
