"""Units of the columns of series and of the arrays of snapshots, in a run with units."""
from __future__ import annotations

import re
from typing import Optional

# The first pattern that fits a whole name counts; "1": a number without unit.
_COLUMNS = [
    (r"step|c_.*|residual|share|nusselt|peclet|effective|ratio(_[xyz])?", "1"),
    (r"time", "s"),
    (r"distance|[xyz]", "m"),
    (r"dispersion", "m²/s"),
    (r"angle", "°"),
    (r"shear(_[xyz])?", "Pa"),
    (r"mass", "kg"),
    (r"kinetic_energy", "J"),
    (r"enstrophy", "m³/s²"),
    (r"acceleration|gradient", "m/s²"),
    (r"(max_|mean_|superficial_)?(velocity|speed)(_[xyz])?", "m/s"),
    (r"density", "kg/m³"),
    (r"(mean_|second_)?pressure(_drop)?", "Pa"),
    (r"vorticity(_[xyz])?", "1/s"),
    (r"volume_flow", "m³/s"),
    (r"mass_flow", "kg/s"),
    (r"area|permeability_m2", "m²"),
    (r"permeability", "cells²"),
    (r"permeability_millidarcy", "mD"),
    (r"(force|pressure)_[xyz]", "N"),
    (r"torque(_[xyz])?", "N m"),
]
# Of a series of a scalar: by its kind, and whether the case has the fluid's heat capacity.
_SCALARS = [  # name; species; heat; heat with heat capacity
    (r"mixing_cup|(solid_)?(mean|minimum|maximum)", "1", "K", "K"),
    (r"(solid_)?variance", "1", "K²", "K²"),
    (r"sum", "m³", "K m³", "J"),
    (r"heat", "m³/s", "K m³/s", "W"),
    (r"flux", "m/s", "K m/s", "W/m²"),
]
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_ARRAYS = {
    "velocity": "m/s", "density": "kg/m³", "pressure": "Pa", "vorticity": "1/s", "tags": "1", "velocity_mean": "m/s",
    "density_mean": "kg/m³", "reynolds_stress": "m²/s²", "shear_stress": "Pa",
}


def column_unit(name: str) -> Optional[str]:
    """The unit of a series' column; None: not known, or it depends on the kind of a scalar."""
    return next((unit for pattern, unit in _COLUMNS if re.fullmatch(pattern, name)), None)


def scalar_unit(name: str, heat: bool, joule: bool) -> Optional[str]:
    """The unit of a column of a series of a scalar, heat or a species; joule: the case has the fluid's heat capacity."""
    return next((units[2 if joule else 1] if heat else units[0] for pattern, *units in _SCALARS if re.fullmatch(pattern, name)), None)


def seconds(text: str) -> Optional[float]:
    """A time with a unit, as in a case: "20 s", "5 ms"; None if it is none."""
    match = re.fullmatch(r"\s*([-+.\deE]+)\s*([a-z]+)\s*", text)
    try:
        return float(match[1]) * _TIMES[match[2]] if match else None
    except (KeyError, ValueError):
        return None


def array_unit(name: str) -> Optional[str]:
    """The unit of an array of a snapshot; None: not known."""
    return _ARRAYS.get(name)
