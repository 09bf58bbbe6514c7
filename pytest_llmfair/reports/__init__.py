"""What people and programs read of a result: message, terminal table, JSON."""
