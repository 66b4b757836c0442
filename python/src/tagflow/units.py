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
_ARRAYS = {
    "velocity": "m/s", "density": "kg/m³", "pressure": "Pa", "vorticity": "1/s", "tags": "1", "velocity_mean": "m/s",
    "density_mean": "kg/m³", "reynolds_stress": "m²/s²", "shear_stress": "Pa",
}


def column_unit(name: str) -> Optional[str]:
    """The unit of a series' column; None: not known, or it depends on the kind of a scalar."""
    return next((unit for pattern, unit in _COLUMNS if re.fullmatch(pattern, name)), None)


def array_unit(name: str) -> Optional[str]:
    """The unit of an array of a snapshot; None: not known."""
    return _ARRAYS.get(name)
