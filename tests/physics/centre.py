"""Values on the lines through the middle of a box."""
import numpy


def line(values, axis, wall):
    """Positions over the side and values on the centre line along an axis of [x, y, z], walls included: 0 and `wall`."""
    values = numpy.moveaxis(values, axis, 0)
    for _ in range(2):
        n = values.shape[1]
        values = values[:, (n - 1) // 2:n // 2 + 1].mean(axis=1)
    n = len(values)
    place = numpy.concatenate([[0], (numpy.arange(n) + 0.5) / n, [1]])
    return place, numpy.concatenate([[0], values, [wall]])


def at(place, line):
    """The line's values at places: cubic polynomials through the four nearest points."""
    x, f = line
    first = numpy.clip(numpy.searchsorted(x, place) - 2, 0, len(x) - 4)
    total = numpy.zeros_like(place)
    for i in range(4):
        weight = f[first + i]
        for j in range(4):
            if j != i:
                weight = weight * (place - x[first + j]) / (x[first + i] - x[first + j])
        total += weight
    return total
