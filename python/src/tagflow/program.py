"""Starting tagflow: run and check a case, errors by exit status."""
from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .cases import Case, Source
from .errors import FileError, ProgramError, UsageError, quoted, run_error, warnings_in
from .files import read_text, write_text
from .folder import Run

Program = Union[None, str, "os.PathLike[str]", Sequence[str]]
_KEPT = 400  # lines of standard error
# A process that was started by mpirun or srun must not pass its place on to another MPI program.
_PLACES = ("OMPI_COMM_", "OMPI_MCA_orte_", "OMPI_MCA_ess_", "OMPI_FILE_LOCATION", "PMIX_", "PMI_", "SLURM_PROCID", "SLURM_LOCALID", "MPI_LOCAL",
           "HYDI_")
# As scripts/environment.sh sets them: root, more ranks than cores, a plugin that swallows signals.
_MPIRUN = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "HWLOC_COMPONENTS": "-opencl,-gl"}
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def _beside() -> Optional[str]:
    """The program that belongs to this package: of a wheel, of an installation (share/tagflow/python), of a bundle, of the sources."""
    above = os.path.dirname(os.path.abspath(__file__))
    for place in ("lib/tagflow", "../../../../../bin/tagflow", "../../../bin/tagflow", "../../../build/tagflow"):
        path = os.path.normpath(os.path.join(above, place))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def find_program(program: Program = None) -> List[str]:
    """The words that start tagflow. Looked for in this order: `program`, $TAGFLOW, `tagflow` in PATH, beside this package.

    `program` and $TAGFLOW are the program's name, or the words before it, too: "srun -n 8 tagflow".
    """
    given = program if program is not None else os.environ.get("TAGFLOW") or None
    if given is None:
        found = shutil.which("tagflow") or _beside()
        if not found:
            raise ProgramError("there is no program tagflow here (give `program`, set TAGFLOW, or add its folder to PATH)")
        return [found]
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        try:
            words = [text] if os.path.isfile(text) else shlex.split(text)
        except ValueError as error:
            raise UsageError(f"program {quoted(text)}: {error}") from None
    else:
        words = list(given)
    if not words or not words[0]:
        raise UsageError("program: what to start")
    found = shutil.which(words[0])
    if not found:
        why = "it is not executable" if os.path.exists(words[0]) else "No such file or directory"
        raise ProgramError(f"{quoted(words[0])}: {why}")
    return [found, *words[1:]]


def _environment(ranks: int) -> Dict[str, str]:
    found = {name: value for name, value in os.environ.items() if not name.startswith(_PLACES)}
    if ranks > 1:
        for name, value in {**_MPIRUN, **(_ROOT if os.geteuid() == 0 else {})}.items():
            found.setdefault(name, value)
    return found


def _line(program: Program, ranks: int, threads: Optional[int]) -> List[str]:
    """The words before those of tagflow."""
    for name, value in (("ranks", ranks), ("threads", threads)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise UsageError(f"{name}: {value!r} is not a whole number above 0")
    words = find_program(program)
    if ranks == 1:
        return words
    if len(words) > 1:
        raise UsageError(f"ranks {ranks} and a program that is started by {quoted(words[0])}: give one of them")
    name = os.environ.get("TAGFLOW_MPIRUN") or "mpirun"
    mpirun = shutil.which(name)
    if not mpirun:
        raise ProgramError(f"ranks {ranks}: there is no {name} here")
    bind = ["--bind-to", "none"] if (threads or 1) > 1 else []
    return [mpirun, *bind, "-n", str(ranks), *words]


class Job:
    """A run that was started and goes on meanwhile. `run` opens its folder, wait() waits for its end."""

    def __init__(self, line: Sequence[str], folder: str, environment: Mapping[str, str], echo: bool) -> None:
        self.line, self.folder, self.echo = list(line), folder, echo
        self.said: List[str] = []
        try:
            self._before = read_text(os.path.join(folder, "status.json"))  # of an earlier job
        except FileError:
            self._before = None
        try:
            self.process = subprocess.Popen(self.line, stdin=subprocess.DEVNULL, stdout=None if echo else subprocess.DEVNULL,
                                            stderr=subprocess.PIPE, text=True, errors="replace", env=dict(environment))
        except OSError as error:
            raise ProgramError(f"{quoted(self.line[0])}: {error.strerror}") from None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line.rstrip("\n"))
            del self.said[:-_KEPT]
            if self.echo:
                sys.stderr.write(line)
                sys.stderr.flush()

    @property
    def warnings(self) -> List[str]:
        """The warnings that it gave, each once."""
        return warnings_in(self.said)

    @property
    def run(self) -> Run:
        """Its folder. It is there when tagflow has read the case."""
        return Run(self.folder)

    def running(self) -> bool:
        return self.process.poll() is None

    def begin(self, timeout: Optional[float] = None) -> Run:
        """Waits until it computes steps; the run. If it ends before, as wait(). TimeoutError after `timeout` seconds."""
        limit = math.inf if timeout is None else time.monotonic() + timeout
        while self.running():
            try:
                found = Run(self.folder)
                if found.state == "running" and read_text(found.path("status.json")) != self._before:
                    return found
            except FileError:
                pass  # the folder is not there yet
            if time.monotonic() > limit:
                raise TimeoutError(f"{quoted(self.folder)} has not begun after {timeout:g} s")
            time.sleep(0.02)
        return self.wait()

    def checkpoint(self) -> None:
        """Writes a checkpoint and goes on (SIGUSR2)."""
        self._signal(signal.SIGUSR2)

    def stop(self) -> None:
        """Finishes the step, writes a checkpoint and ends (SIGUSR1): wait() then raises StoppedEarly."""
        self._signal(signal.SIGUSR1)

    def _signal(self, number: int) -> None:
        if self.running():
            self.process.send_signal(number)

    def wait(self, timeout: Optional[float] = None) -> Run:
        """Waits for its end; the run. A RunError by its exit status if that is not 0, TimeoutError after `timeout` seconds."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{quoted(self.folder)} goes on after {timeout:g} s") from None
        self._reader.join(10)
        if status:
            raise run_error(status, self.said, self.folder)
        return Run(self.folder)


def start(case: Source, folder: Union[None, str, "os.PathLike[str]"] = None, settings: Optional[Mapping[str, Any]] = None, *,
          ranks: int = 1, threads: Optional[int] = None, restart: Optional[str] = None, overwrite: bool = False,
          options: Sequence[str] = (), program: Program = None, echo: bool = False) -> Job:
    """Starts a run, which then goes on meanwhile; see run()."""
    case = Case(case, {**(settings or {}), **({"run.threads": threads} if threads is not None else {})})
    if folder is None:
        if case.name is None:
            raise UsageError("folder: a case that is a dict has no name, so the run's folder must be given")
        folder = case.name
    where = os.fspath(folder)
    line = _line(program, ranks, threads)
    if case.file is None:
        # Beside the folder, so that the run can be continued with the same file.
        name = os.path.normpath(where) + ".yaml"
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        if not _same_text(name, case.text()):
            if os.path.exists(name) and not overwrite and restart is None:
                raise UsageError(f"{quoted(name)} is there and holds another case (overwrite=True replaces it)")
            write_text(name, case.text())
        case = Case(name, case.settings)
    line += ["run", *case.arguments(), "--output", where]
    line += ["--restart", restart] if restart is not None else []
    line += ["--overwrite"] if overwrite else []
    return Job([*line, *options], where, _environment(ranks), echo)


def _same_text(path: str, text: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read() == text
    except (OSError, UnicodeDecodeError):
        return False


def run(case: Source, folder: Union[None, str, "os.PathLike[str]"] = None, settings: Optional[Mapping[str, Any]] = None, *,
        ranks: int = 1, threads: Optional[int] = None, restart: Optional[str] = None, overwrite: bool = False,
        options: Sequence[str] = (), program: Program = None, echo: bool = False) -> Run:
    """Runs a case to its end; the run. Raises CaseError, DivergedError, MachineError, StoppedEarly or KilledError.

    case      a case file, a dict, or a Case; of a dict the file FOLDER.yaml is written
    folder    the run's folder; by default the case file's name
    settings  {path: value}, replaces values of the case
    ranks     started by mpirun if there are more than one
    threads   of each rank (run.threads of the case)
    restart   "auto" continues what is in the folder, and starts a run if it is empty; or a checkpoint's name
    overwrite replaces a run that is there
    options   more words for `tagflow run`, such as "--backend", "cpu"
    program   see find_program(); the words before it are the way to start ranks by srun
    echo      show what tagflow says
    """
    job = start(case, folder, settings, ranks=ranks, threads=threads, restart=restart, overwrite=overwrite, options=options,
                program=program, echo=echo)
    try:
        return job.wait()
    except KeyboardInterrupt:
        job.process.wait()  # the terminal has sent the interrupt to it, too: it writes a checkpoint
        raise


class Checked:
    """What `tagflow check` says of a case: `text`, `warnings`, `lines` ({name: rest of the line}), `numbers`."""

    def __init__(self, out: str, err: str) -> None:
        self.text, self.warnings = out, warnings_in(err.splitlines())
        self.lines: Dict[str, str] = {}
        for line in out.splitlines():
            name, colon, rest = line.partition(": ")
            if colon and "  " not in name and not line.startswith(" "):
                self.lines.setdefault(name, rest)

    @property
    def numbers(self) -> Dict[str, float]:
        """The derived numbers: cells, steps, viscosity, tau, omega, Mach, Reynolds, and with units dx and dt in m and s."""
        found: Dict[str, float] = {}
        number = r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?"
        for name, line, pattern in (
                ("cells", "grid", rf"= ({number}) cells"), ("steps", "grid", rf"({number}) steps"),
                ("viscosity", "relaxation", rf"viscosity ({number})"), ("tau", "relaxation", rf"tau ({number})"),
                ("omega", "relaxation", rf"omega ({number})"), ("Mach", "Mach", rf"({number})"), ("Reynolds", "Reynolds", rf"({number})"),
                ("dx", "units", rf"dx ({number}) m"), ("dt", "units", rf"dt ({number}) s")):
            match = re.search(pattern, self.lines.get(line, ""))
            if match:
                found[name] = float(match[1])
        return found

    def __repr__(self) -> str:
        return f"Checked({self.numbers}, {len(self.warnings)} warnings)"


def check(case: Source, settings: Optional[Mapping[str, Any]] = None, *, ranks: Optional[int] = None, program: Program = None,
          timeout: Optional[float] = None) -> Checked:
    """What `tagflow check` says of a case; CaseError if the case is wrong, TimeoutError after `timeout` seconds.

    ranks: the number of ranks that memory and output are told for. Files that a dict names are looked for in this folder.
    """
    case = Case(case, settings)
    words = find_program(program)[-1:]  # it needs no ranks
    made = None
    try:
        if case.file is None:
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=".", prefix=".tagflow_check_", suffix=".yaml", delete=False) as file:
                made = file.name
                file.write(case.text())
            case = Case(made, case.settings)
        line = [*words, "check", "--verbose", *case.arguments(), *(["--ranks", str(ranks)] if ranks is not None else [])]
        try:
            said = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout,
                                  env=_environment(1))
        except OSError as error:
            raise ProgramError(f"{quoted(line[0])}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"check takes more than {timeout:g} s") from None
    finally:
        if made:
            os.remove(made)
    # The file of a dict is gone: its name says nothing.
    out, err = ((said.stdout, said.stderr) if made is None else (said.stdout.replace(made, "the case"), said.stderr.replace(made, "the case")))
    if said.returncode:
        raise run_error(said.returncode, err.splitlines())
    return Checked(out, err)


def keys(program: Program = None) -> Dict[str, Dict[str, str]]:
    """{path: {"type", "default", ...; "meaning"}} of all keys of a case, as `tagflow keys` lists them."""
    words = find_program(program)[-1:]
    try:
        said = subprocess.run([*words, "keys"], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=_environment(1))
    except OSError as error:
        raise ProgramError(f"{quoted(words[0])}: {error.strerror}") from None
    if said.returncode:
        raise run_error(said.returncode, said.stderr.splitlines())
    found: Dict[str, Dict[str, str]] = {}
    for part in re.split(r"\n(?=\S)", said.stdout):
        path, *rest = part.splitlines() or [""]
        if path:
            found[path] = {"meaning": ""}
        for line in rest:
            text = line.strip()
            if re.match(r"(type|default): ", text):
                for pair in re.split(r"; (?=[a-z]+: )", text):
                    name, _, value = pair.partition(": ")
                    found[path][name] = value
            elif path and text:
                found[path]["meaning"] = (found[path]["meaning"] + " " + text).strip()
    return found
