"""Time the inner kernels against what users run today, results compared first.

    python benchmarks/kernels.py [--only WORD ...]

Modules ``kernels/kernels_*.py`` each expose ``kernels()``, a list of :class:`Kernel`. A
line alternates the two in one process; the ratio of the lower quartiles counts, not the times.
Exits non-zero when a result differs or a ratio is below its target. Needs the group ``core-test``.
"""

from __future__ import annotations

import sys

from _kernel import main

if __name__ == "__main__":
    sys.exit(main("kernels", __doc__))
