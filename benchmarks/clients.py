"""Time asking models against what users would do instead, results compared first.

    python benchmarks/clients.py [--only WORD ...]

Modules ``clients/clients_*.py`` each expose ``kernels()``, a list of :class:`Kernel`. A
line alternates the two in one process; the ratio of the lower quartiles counts, not the times.
Exits non-zero when a result differs or a ratio is below its target. Needs the group ``test``.
"""

from __future__ import annotations

import sys

from _kernel import main

if __name__ == "__main__":
    sys.exit(main("clients", __doc__))
