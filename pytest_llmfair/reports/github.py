def write_github(d, at, env): pass
