"""What the folder of a run holds, for scripts/report.py: state, numbers, log, series, pictures. A run may still go on."""
import calendar
import glob
import json
import math
import os
import re
import socket
import time

from command_line import Wrong, quoted
from series_file import Series, has_units

STATES = ("starting", "running", "done", "stopped", "diverged", "failed")
SILENT = 600  # seconds after which a run that says it is running counts as silent


def read_text(path, needed):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        if needed:
            raise Wrong(f"{quoted(path)}: there is no such file; the folder holds no run of tagflow") from None
        return None
    except OSError as error:
        raise Wrong(f"{quoted(path)}: {os.strerror(error.errno)}") from None


def read_json(path, needed):
    text = read_text(path, needed)
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        raise Wrong(f"{quoted(path)} is damaged: it is no JSON") from None
    if not isinstance(found, dict):
        raise Wrong(f"{quoted(path)} is damaged: it is no JSON object")
    return found


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Log:
    """log.txt: jobs, what they derived, progress, warnings."""

    LINE = re.compile(r"step (\d+) +[\d.]+ %  (?:time \S+ s  )?([\d.]+) ([GM])LUPS .*?energy (\S+)  max \|u\| (\S+)")

    def __init__(self, text):
        self.lines = (text or "").splitlines()
        self.jobs, self.derived, self.warnings, self.progress = [], {}, [], []
        head = False
        for line in self.lines:
            start = re.match(r"tagflow (\S+) \((\S+)\), (\S+ \S+ UTC)", line)
            step = self.LINE.match(line)
            if start:
                self.jobs.append({"version": start[1], "commit": start[2], "date": start[3], "hosts": []})
                self.derived, head = {}, True
            elif step:
                head = False
                rate = float(step[2]) * (1000 if step[3] == "G" else 1)
                self.progress.append((int(step[1]), rate, float(step[4]), float(step[5])))
            elif line.startswith("warning: "):
                self.warnings.append(line[len("warning: "):])
            elif line.startswith("step "):
                head = False
            elif head and re.match(r"rank \d+ on ", line):
                self.jobs[-1]["hosts"].append(line)
            elif head and ": " in line and not line.startswith(" "):
                name, text = line.split(": ", 1)
                self.derived[name] = text
        self.warnings = list(dict.fromkeys(self.warnings))


class Run:
    """One run. What cannot be read of series and pictures is in `troubles`, a line each."""

    def __init__(self, folder):
        if not os.path.exists(folder):
            raise Wrong(f"{quoted(folder)}: there is no such folder")
        if not os.path.isdir(folder):
            raise Wrong(f"{quoted(folder)} is not the folder of a run")
        self.folder = folder
        self.name = os.path.basename(os.path.abspath(folder))
        self.status = read_json(os.path.join(folder, "status.json"), True)
        for key in ("step", "steps", "time"):
            if not is_number(self.status.get(key)):
                raise Wrong(f"{quoted(folder)}/status.json is damaged: it has no number `{key}`")
        if self.status.get("state") not in STATES:
            raise Wrong(f"{quoted(folder)}/status.json is damaged: state {json.dumps(self.status.get('state'))[:60]}")
        self.state = self.status["state"]
        self.report = {}
        if self.state not in ("starting", "running"):  # else it is of an earlier job
            self.report = read_json(os.path.join(folder, "report.json"), False)
        self.case = read_text(os.path.join(folder, "case.yaml"), False) or ""
        self.physical = has_units(self.case)
        self.log = Log(read_text(os.path.join(folder, "log.txt"), False))
        self.troubles, self.waiting = [], []
        self.series = {}
        for path in sorted(glob.glob(glob.escape(os.path.join(folder, "series")) + "/*.csv")):
            try:
                series = Series(path)
                self.series[series.stem()] = series
            except Wrong as wrong:
                if str(wrong).endswith((" has no rows yet", " is empty")) and self.goes_on():
                    self.waiting.append(os.path.basename(path)[:-4])
                else:
                    self.troubles.append(str(wrong))
        self.pictures = self._pictures()

    def goes_on(self):
        return self.state in ("starting", "running")

    def _pictures(self):
        """{name: {step: path}} of images/."""
        found = {}
        for path in sorted(glob.glob(glob.escape(os.path.join(self.folder, "images")) + "/*.png")):
            name = re.fullmatch(r"(.+)_(\d{10})\.png", os.path.basename(path))
            if name:
                found.setdefault(name[1], {})[int(name[2])] = path
        return found

    def picture(self, path):
        """The bytes of a picture, None if it is no whole PNG file."""
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            self.troubles.append(f"{quoted(path)}: {os.strerror(error.errno)}")
            return None
        if not data.startswith(b"\x89PNG\r\n\x1a\n") or data[-8:-4] != b"IEND":
            self.troubles.append(f"{quoted(path)} is damaged: it is no whole PNG file")
            return None
        return data

    def silence(self):
        """Seconds since status.json was written by a run that goes on; None: it does not, or the time is not there."""
        if not self.goes_on():
            return None
        try:
            then = calendar.timegm(time.strptime(self.status.get("updated", ""), "%Y-%m-%dT%H:%M:%SZ"))
        except (TypeError, ValueError):
            return None
        return max(0.0, time.time() - then)

    def gone(self):
        """Is the process of a run that says that it goes on no more? Only known on its own host."""
        if not self.goes_on() or self.status.get("host") != socket.gethostname() or not isinstance(self.status.get("pid"), int):
            return False
        return not os.path.exists(f"/proc/{self.status['pid']}") and os.path.isdir("/proc/self")

    def state_text(self):
        """(word for the badge, sentence)"""
        step, steps, left = self.status["step"], self.status["steps"], self.status.get("eta_seconds")
        share = f"step {step} of {steps}"
        if self.gone():
            return "killed", f"{share}; status.json says {self.state}, but process {self.status['pid']} is not there any more"
        if self.goes_on():
            words = share + (f", {duration(left)} left" if is_number(left) else "")
            silence = self.silence()
            if silence is not None and silence > SILENT:
                return "silent", f"{words}; no sign of life for {duration(silence)}"
            return self.state, words
        reason = self.status.get("reason")
        words = share + (f"; {reason}" if reason else "")
        return self.state, words + f"; exit status {self.status.get('exit_status')}"

    def share(self):
        """What is done of the run, 0 to 1."""
        return 1.0 if self.state == "done" else min(1.0, self.status["step"] / max(1, self.status["steps"]))

    def statistics_from(self, name, series):
        """(first step of the rows that statistics are made of, how it was chosen)"""
        asked = re.search(rf"^    {re.escape(name)}: {{.*statistics: {{from: (\d+)", self.case, re.M)
        steps = series.column("step")
        if asked and int(asked[1]) <= steps[-1]:
            return int(asked[1]), "as the case says"
        return steps[0] + 0.5 * (steps[-1] - steps[0]), "second half of the rows"


def duration(seconds):
    if not math.isfinite(seconds):
        return "-"
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    if seconds < 172800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"
