"""Reports of a session: terminal table, plan, JSON, HTML and evidence folder."""
