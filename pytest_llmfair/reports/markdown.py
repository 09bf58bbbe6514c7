def markdown(d): return ""
