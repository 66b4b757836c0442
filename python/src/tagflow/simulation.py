"""A run inside this process, by libtagflow: step it, look at its fields, change what drives it."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import weakref
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_void_p
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from .cases import Case, Source, value_text
from .errors import ProgramError, UsageError, run_error
from .folder import Run

API = 1
_DIM = 4
_INTERRUPTED = ctypes.CFUNCTYPE(c_int, c_void_p)


class _Options(ctypes.Structure):
    _fields_ = [("api", c_int), ("file", c_char_p), ("text", c_char_p), ("set_count", c_int), ("sets", POINTER(c_char_p)),
                ("folder", c_char_p), ("restart", c_char_p), ("overwrite", c_int), ("backend", c_char_p), ("share_gpu", c_int),
                ("comm", c_void_p), ("echo", c_int), ("signals", c_int), ("interrupted", _INTERRUPTED), ("own", c_void_p)]


class _Array(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("shape", c_int64 * _DIM), ("stride", c_int64 * _DIM), ("type", c_int), ("bytes", c_int64),
                ("device", c_int), ("first", c_int64 * 3), ("cells", c_int64 * 3), ("spacing", c_double), ("unit", c_char_p)]


# Function: type of its result, types of its arguments.
_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "api": (c_int, []), "version": (c_char_p, []), "error": (c_char_p, []), "warnings": (c_int, []),
    "warning": (c_char_p, [c_int, POINTER(c_char_p)]), "open": (c_int, [POINTER(_Options), POINTER(c_void_p)]),
    "step": (c_int, [c_void_p, c_int64]), "checkpoint": (c_int, [c_void_p]), "stop": (None, [c_void_p]), "close": (c_int, [c_void_p]),
    "over": (c_int, [c_void_p]), "step_number": (c_int64, [c_void_p]), "time": (c_double, [c_void_p]), "folder": (c_char_p, [c_void_p]),
    "case": (c_char_p, [c_void_p]), "levels": (c_int, [c_void_p]),
    "raw": (c_int, [c_void_p, c_char_p, c_int, POINTER(_Array)]),
    "points": (c_int, [c_void_p, c_char_p, c_int, c_void_p, c_void_p]), "mean": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "column": (c_int, [c_void_p, c_char_p, POINTER(c_double)]), "steer": (c_int, [c_void_p, c_char_p, c_double]),
    "steered": (c_double, [c_void_p, c_char_p]), "hash": (c_int, [c_void_p, POINTER(ctypes.c_uint64)]),
    "describe": (c_int, [c_void_p, c_char_p, c_int, POINTER(_Array)]), "read": (c_int, [c_void_p, c_char_p, c_int, c_void_p]),
}
_loaded: Optional[ctypes.CDLL] = None


def _places() -> List[str]:
    """Where the library may be, in order: named by the user, in a wheel, in an installation, in the sources, where the system has it."""
    name = f"libtagflow.so.{API}"
    above = os.path.dirname(os.path.abspath(__file__))
    found = [os.path.join(above, "lib", name)]
    for folder in ("../../../../../lib", f"../../../../../lib/{os.uname().machine}-linux-gnu", "../../../../../lib64", "../../../lib",
                   "../../../build/src/lib"):
        found.append(os.path.normpath(os.path.join(above, folder, name)))
    given = os.environ.get("TAGFLOW_LIBRARY")
    return [given] if given else [path for path in found if os.path.isfile(path)] + [name]


def library() -> ctypes.CDLL:
    """libtagflow. ProgramError: it is not here, or is another version."""
    global _loaded
    if _loaded is None:
        where = _places()[0]
        try:
            found = ctypes.CDLL(where)
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(found, "tagflow_" + name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise ProgramError(f"libtagflow cannot be loaded: {error} (set TAGFLOW_LIBRARY to its file)") from None
        if found.tagflow_api() < API:
            raise ProgramError(f"{where} has interface {found.tagflow_api()}, and this package needs {API}")
        _loaded = found
    return _loaded


class Block(NamedTuple):
    """Cells of this rank: x, y, z of the first one in the whole box, their numbers, the cells of the box, the side of a cell (m, or
    cells of level 0 in a case without units), and its sides along x, y, z: of all levels as on level 0 along a periodic axis of one cell."""

    first: Tuple[int, int, int]
    count: Tuple[int, int, int]
    cells: Tuple[int, int, int]
    spacing: float
    sides: Tuple[float, float, float]

    def coordinates(self) -> Tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Of the cells' centres along x, y, z."""
        x, y, z = ((self.first[a] + numpy.arange(self.count[a]) + 0.5) * self.sides[a] for a in range(3))
        return x, y, z


# ---- DLPack 0.8: https://dmlc.github.io/dlpack ----

_CPU, _CUDA = 1, 2


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int), ("device_id", c_int), ("ndim", c_int), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, POINTER(_Managed))
_Managed._fields_ = [("tensor", _DLTensor), ("own", c_void_p), ("deleter", _DELETER)]
_CAPSULE_NAME = b"dltensor"
_given: Dict[int, Any] = {}  # what consumers have, by address
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = c_int, [c_void_p, c_char_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [c_void_p, c_char_p]


@_DELETER
def _forget(managed: Any) -> None:
    """The consumer is done with it."""
    _given.pop(ctypes.addressof(managed.contents), None)


@ctypes.CFUNCTYPE(None, c_void_p)
def _drop(capsule: Any) -> None:
    """A capsule that nobody has taken."""
    if _capsule_is(capsule, _CAPSULE_NAME):
        _given.pop(_capsule_pointer(capsule, _CAPSULE_NAME), None)


class RawArray:
    """Memory of the backend, of a GPU or of the host, for consumers of DLPack. shape, strides: in numbers (float64)."""

    def __init__(self, simulation: "Simulation", array: _Array) -> None:
        self._simulation = simulation  # is kept as long as a consumer has the memory
        axes = 3 if array.shape[3] == 1 else 4
        self.shape, self.strides = tuple(array.shape)[:axes], tuple(array.stride)[:axes]
        self.address, self.device = array.data or 0, array.device

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (_CPU, 0) if self.device < 0 else (_CUDA, self.device)

    def __dlpack__(self, stream: Any = None, **_: Any) -> Any:
        """A capsule. All work of the library on the memory is done, so that every stream may read it."""
        if not self._simulation._handle:
            raise UsageError("this simulation is closed, and its memory is gone")
        axes = len(self.shape)
        kept = [(c_int64 * axes)(*self.shape), (c_int64 * axes)(*self.strides), self]
        kind, number = self.__dlpack_device__()
        tensor = _DLTensor(self.address, kind, number, axes, 2, 64, 1, kept[0], kept[1], 0)  # 2: a real number
        managed = _Managed(tensor, None, _forget)
        address = ctypes.addressof(managed)
        _given[address] = (managed, kept)
        return _new_capsule(address, _CAPSULE_NAME, ctypes.cast(_drop, c_void_p))


def _close(lib: ctypes.CDLL, handle: List[Any], *_: Any) -> int:
    """Closes the run whose handle is in the list, once. The rest is kept until then."""
    return int(lib.tagflow_close(handle.pop())) if handle else 0


class Simulation:
    """A run in this process.

        with tagflow.Simulation("cavity.yaml", settings={"run.steps": 1000}) as flow:
            while not flow.over:
                flow.advance(100)
                print(flow.step, abs(flow.field("velocity")).max())

    case, settings, restart, overwrite: as of run(). folder: the run's; None: a temporary one, removed at the end.
    backend     "auto", "cpu" or "cuda"
    comm        an mpi4py communicator; None: all ranks that mpirun started
    echo        print the log
    signals     stop at SIGTERM, SIGUSR1, SIGHUP, SIGXCPU and SIGINT with a checkpoint, as the program does

    With several ranks all of them make the same calls. One run is open at a time.
    """

    def __init__(self, case: Source, folder: Union[None, str, "os.PathLike[str]"] = None, settings: Optional[Mapping[str, Any]] = None, *,
                 threads: Optional[int] = None, restart: Optional[str] = None, overwrite: bool = False, backend: str = "auto",
                 share_gpu: bool = False, comm: Any = None, echo: bool = False, signals: bool = False) -> None:
        self._lib = library()
        self._keyboard = False
        self._handles_signals = signals
        case = Case(case, {**(settings or {}), **({"run.threads": threads} if threads is not None else {})})
        sets = [f"{path}={value_text(value)}".encode() for path, value in case.settings.items()]
        simulation = weakref.ref(self)  # no cycle: a simulation that nobody holds is closed at once
        self._interrupted = _INTERRUPTED(lambda _: int(getattr(simulation(), "_keyboard", False)))
        options = _Options(api=API, set_count=len(sets), sets=(c_char_p * len(sets))(*sets) if sets else None, overwrite=overwrite,
                           folder=os.fsencode(folder) if folder is not None else None, restart=os.fsencode(restart) if restart else None,
                           backend=backend.encode(), share_gpu=share_gpu, echo=echo, signals=signals, interrupted=self._interrupted)
        if case.file is None:
            options.text = case.text().encode()
        else:
            options.file = os.fsencode(case.file)
        if comm is not None:
            mpi = sys.modules.get("mpi4py.MPI")  # a communicator of it exists
            if mpi is None or not isinstance(comm, mpi.Comm):
                raise UsageError(f"comm: {type(comm).__name__} is no communicator of mpi4py")
            options.comm = mpi._addressof(comm)
        run = c_void_p()
        sys.stdout.flush()
        self._check(self._lib.tagflow_open(byref(options), byref(run)))
        self._handle = [run]
        weakref.finalize(self, _close, self._lib, self._handle, self._interrupted)
        self._run_folder: str = os.fsdecode(self._lib.tagflow_folder(run))

    def _note_keyboard(self, *_: Any) -> None:
        self._keyboard = True

    def _check(self, status: int) -> None:
        if status:
            raise run_error(status, ["tagflow: " + self._lib.tagflow_error().decode(errors="replace")])

    @property
    def _run(self) -> c_void_p:
        if not self._handle:
            raise UsageError("this simulation is closed")
        return self._handle[0]

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: Any) -> None:
        if self._handle:
            status = _close(self._lib, self._handle)
            if _[0] is None:
                self._check(status)

    def close(self) -> None:
        """Ends the run. One that is not over gets a checkpoint and counts as stopped. Raises the error with which it ended."""
        self._check(_close(self._lib, self._handle))

    # ---- steps ----

    def advance(self, steps: Optional[int] = None) -> int:
        """Makes `steps` steps at most, or all that are left; returns the number of the present step.

        It ends earlier with the run's last step. DivergedError, MachineError: the run has failed. StoppedEarly: it was asked to stop.
        KeyboardInterrupt (Ctrl-C): after the present batch of steps; the run may go on.
        """
        self._keyboard = False
        # An exception must not pass through the library.
        held = not self._handles_signals and threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if held:
            signal.signal(signal.SIGINT, self._note_keyboard)
        try:
            status = self._lib.tagflow_step(self._run, 2**62 if steps is None else steps)
        finally:
            if held:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        self._check(status)
        if self._keyboard:
            raise KeyboardInterrupt
        return self.step

    @property
    def step(self) -> int:
        return int(self._lib.tagflow_step_number(self._run))

    @property
    def time(self) -> float:
        """In s, or steps in a case without units."""
        return float(self._lib.tagflow_time(self._run))

    @property
    def over(self) -> bool:
        """Are all steps done?"""
        return bool(self._lib.tagflow_over(self._run))

    def checkpoint(self) -> None:
        """Writes a checkpoint of the present step."""
        self._check(self._lib.tagflow_checkpoint(self._run))

    def stop(self) -> None:
        """The next advance() writes a checkpoint and raises StoppedEarly. One rank is enough."""
        self._lib.tagflow_stop(self._run)

    # ---- what it is ----

    @property
    def folder(self) -> str:
        return self._run_folder

    @property
    def run(self) -> Run:
        """Its folder, opened: series, snapshots, log."""
        return Run(self._run_folder)

    @property
    def levels(self) -> int:
        return int(self._lib.tagflow_levels(self._run))

    @property
    def warnings(self) -> List[str]:
        """On rank 0."""
        found = (self._lib.tagflow_warning(k, None) for k in range(self._lib.tagflow_warnings()))
        return [text.decode(errors="replace") for text in found if text is not None]

    # ---- fields ----

    def _describe(self, name: str, level: int) -> _Array:
        array = _Array()
        self._check(self._lib.tagflow_describe(self._run, name.encode(), level, byref(array)))
        return array

    def block(self, level: int = 0) -> Block:
        """Where the cells of this rank's arrays are."""
        array = self._describe("tags", level)
        first, cells = tuple(array.first), tuple(array.cells)
        whole = array.spacing if level == 0 else self._describe("tags", 0).spacing
        x, y, z = (whole if n == 1 else array.spacing for n in cells)
        return Block(first, tuple(array.shape)[2::-1], cells, array.spacing, (x, y, z))

    def unit(self, name: str) -> str:
        """The unit of a field; "" in a case without units."""
        return self._describe(name, 0).unit.decode()

    def field(self, name: str, level: int = 0, out: Optional[numpy.ndarray] = None) -> numpy.ndarray:
        """A field in the cells of this rank: velocity and vorticity [z, y, x, component], density, pressure, tags and scalars [z, y, x].

        Values and units are those of snapshots. The library computes them right into the array, which is a new one, or `out`.
        """
        array = self._describe(name, level)
        shape = tuple(array.shape)[:3 if array.shape[3] == 1 else 4]
        kind = numpy.dtype(numpy.uint8 if array.type == 8 else numpy.float64)
        if out is None:
            out = numpy.empty(shape, kind)
        elif out.shape != shape or out.dtype != kind or not out.flags.c_contiguous or not out.flags.writeable:
            raise UsageError(f"out: needs a contiguous array of {kind} that can be written, of the shape {shape}")
        self._check(self._lib.tagflow_read(self._run, name.encode(), level, out.ctypes.data))
        return out

    def raw(self, name: str = "flow", level: int = 0) -> RawArray:
        """The array of the solver's kernel in memory of the backend, for __dlpack__: torch.from_dlpack(flow.raw()) on a GPU.

        "flow": [z, y, x, 4] density - 1 and velocity, or a scalar: [z, y, x] relative to its reference; lattice units. The next call fills
        the same memory. It is valid until close().
        """
        array = _Array()
        self._check(self._lib.tagflow_raw(self._run, name.encode(), level, byref(array)))
        return RawArray(self, array)

    # ---- values ----

    def points(self, name: str, at: Any) -> numpy.ndarray:
        """A field at positions [..., 3] in the whole box, in m, or cells of level 0 without units, interpolated: on all ranks.

        Velocity [..., component], others [...]; nan where no fluid is near. Not of vorticity and tags.
        """
        places = numpy.ascontiguousarray(at, dtype=float)
        if places.ndim < 1 or places.shape[-1] != 3:
            raise UsageError(f"at: positions with 3 coordinates, not an array of the shape {places.shape}")
        components = self._describe(name, 0).shape[3]
        found = numpy.empty(places.shape[:-1] + ((components,) if components > 1 else ()))
        self._check(self._lib.tagflow_points(self._run, name.encode(), places.size // 3, places.ctypes.data, found.ctypes.data))
        return found

    def mean(self, name: str, begin: Optional[Sequence[int]] = None, end: Optional[Sequence[int]] = None) -> Any:
        """The mean of a field over the fluid of cells begin <= (x, y, z) < end of level 0, by default of the whole box: on all ranks."""
        components = self._describe(name, 0).shape[3]
        found = (c_double * components)()
        low, high = ((c_int64 * 3)(*corner) if corner is not None else None for corner in (begin, end))
        self._check(self._lib.tagflow_mean(self._run, name.encode(), low, high, found))
        return numpy.array(found) if components > 1 else found[0]

    def column(self, name: str) -> float:
        """A column in the last row of a series of the case, "drag.force_x": on all ranks. nan: no row was written yet."""
        value = c_double()
        self._check(self._lib.tagflow_column(self._run, name.encode(), byref(value)))
        return value.value

    def steer(self, name: str, factor: float) -> None:
        """Sets the factor of all values of the case that have `steer: {name: NAME}`, from the next step on. Checkpoints hold it."""
        self._check(self._lib.tagflow_steer(self._run, name.encode(), factor))

    def steered(self, name: str) -> float:
        """The present factor; nan: the case has no such name."""
        return float(self._lib.tagflow_steered(self._run, name.encode()))

    @property
    def state_hash(self) -> str:
        """Of the flow's populations, as in report.json. All ranks ask for it."""
        value = ctypes.c_uint64()
        self._check(self._lib.tagflow_hash(self._run, byref(value)))
        return f"{value.value:016x}"

    def __repr__(self) -> str:
        return f"Simulation({self._run_folder!r}, {f'step {self.step}' if self._handle else 'closed'})"
