"""The gate around the tests: checks in YAML, policy, baseline, evidence and release documents."""
