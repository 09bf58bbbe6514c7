"""Time the inner kernels against what users run today, results compared first.

    python benchmarks/kernels.py [--only WORD ...]

Modules ``kernels_*.py`` beside this one each expose ``kernels()``, a list of :class:`Kernel`. A
line alternates the two in one process; the ratio of the lower quartiles counts, not the times.
Exits non-zero when a result differs or a ratio is below its target. Needs the extra ``core-test``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent


def modules() -> Iterator[str]:
    """Names of the modules with kernels, in alphabetical order."""
    yield from sorted(path.stem for path in HERE.glob("kernels_*.py"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the kernels and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], help="words; run kernels naming one")
    options = parser.parse_args(arguments)
    # Files beside this one are named like modules of the standard library: look elsewhere first.
    sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != HERE), str(HERE)]
    met = True
    for name in modules():
        for kernel in importlib.import_module(name).kernels():
            if options.only and not any(w.lower() in kernel.name.lower() for w in options.only):
                continue
            line, ok = kernel.run()
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
            met = met and ok
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
