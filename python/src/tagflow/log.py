"""The log of a run, log.txt: jobs, what they derived, progress, warnings."""
from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple

_NUMBER = r"(-?(?:\d{1,30}(?:\.\d{0,30})?(?:e[-+]?\d{1,4})?|nan|inf))"
# A line that does not look like this, or that a wrong byte has changed, is no line of progress.
_PROGRESS = re.compile(rf"step (\d{{1,18}}) +[\d.]+ %  (?:time \S+ s  )?{_NUMBER} ([GM])LUPS .*?energy {_NUMBER}  max \|u\| {_NUMBER}(?!\S)", re.ASCII)


class Log:
    """lines: all lines. jobs: version, commit, date and hosts of each job. derived: {name: text} of the last job.

    progress: (step, MLUPS, kinetic energy, largest velocity) of each line of progress. warnings: each once.
    """

    def __init__(self, text: Optional[str]) -> None:
        self.lines = (text or "").splitlines()
        self.jobs: List[Dict[str, Any]] = []
        self.derived: Dict[str, str] = {}
        self.progress: List[Tuple[int, float, float, float]] = []
        warnings: List[str] = []
        head = False
        for line in self.lines:
            start = re.match(r"tagflow (\S+) \((\S+)\), (\S+ \S+ UTC)", line)
            step = _PROGRESS.match(line)
            if start:
                self.jobs.append({"version": start[1], "commit": start[2], "date": start[3], "hosts": []})
                self.derived, head = {}, True
            elif step:
                head = False
                rate = float(step[2]) * (1000 if step[3] == "G" else 1)
                self.progress.append((int(step[1]), rate, float(step[4]), float(step[5])))
            elif line.startswith("warning: "):
                warnings.append(line[len("warning: "):])
            elif line.startswith("step "):
                head = False
            elif head and re.match(r"rank \d+ on ", line):
                self.jobs[-1]["hosts"].append(line)
            elif head and ": " in line and not line.startswith(" "):
                name, text = line.split(": ", 1)
                self.derived[name] = text
        self.warnings = list(dict.fromkeys(warnings))
