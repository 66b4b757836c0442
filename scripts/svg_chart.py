"""Charts as SVG text for pages of HTML, with nothing but numpy: curves, points, axes, a legend."""
import html
import math

import numpy

import command_line  # noqa: F401 (finds the package tagflow)
from tagflow.series import LARGEST, range_without_start

# Eight colours that differ for colour-blind readers as well (Okabe and Ito, 2008), the dark ones first.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5d4e99", "#333333")
POINTS = 700  # of a curve; more rows are drawn as the least and the greatest of their columns of pixels
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 520, 250, 66, 20, 26, 40
LONGEST = 9  # letters of a number beside an axis


def esc(text):
    """Text of HTML that is XML as well: without the control characters that XML has no place for."""
    return html.escape("".join(c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text)))


def ramp(part):
    """A colour from dark blue (0) to yellow-green (1), for steps."""
    stops = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98))
    at = min(max(part, 0), 1) * (len(stops) - 1)
    k = min(int(at), len(stops) - 2)
    return "#" + "".join(f"{round(a + (at - k) * (b - a)):02x}" for a, b in zip(stops[k], stops[k + 1]))


class Curve:
    def __init__(self, x, y, name="", color=COLORS[0], level=None, dashed=False):
        """level: a horizontal line (low x, high x, y), such as a mean, drawn beside the curve."""
        self.x, self.y = numpy.asarray(x, float), numpy.asarray(y, float)
        self.name, self.color, self.level, self.dashed = name, color, level, dashed


def ticks_between(low, high, about):
    """Round numbers from low to high."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


SUPER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_text(exponent):
    return "10" + str(exponent).translate(SUPER)


def tick_texts(ticks):
    """Whole numbers or decimals where they are short, else with a power of 10."""
    top = max(map(abs, ticks), default=0)
    exponent = math.floor(math.log10(top)) if top > 0 else 0
    exponent = 0 if -3 <= exponent <= 5 else exponent
    step = ticks[1] - ticks[0] if len(ticks) > 1 else top or 1
    digits = max(0, exponent - math.floor(math.log10(abs(step)) + 1e-9)) if step else 0
    texts = [f"{t / 10.0**exponent:.{digits}f}" for t in ticks]
    return ["0" if float(text) == 0 else text + (f"×{power_text(exponent)}" if exponent else "") for text in texts]


def linear_axis(low, high, about):
    """[(place, text)], and the number from which the texts are differences: 0, unless whole numbers would be too long to read."""
    ticks = ticks_between(low, high, about)
    texts, offset = tick_texts(ticks), 0.0
    if ticks and max(map(len, texts)) > LONGEST and max(abs(low), abs(high)) > 10 * (high - low):
        offset = ticks[0]
        texts = tick_texts([t - offset for t in ticks])
    return list(zip(ticks, texts)), offset


def with_offset(label, offset):
    """The label of an axis of linear_axis()."""
    return label + (f", difference from {offset:.10g}" if offset else "")


def log_axis(low, high):
    if high < 50 * low:
        ticks = [m * 10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for m in (1, 2, 5)]
        return [(t, f"{t:.3g}") for t in ticks if low <= t <= high]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    apart = max(1, math.ceil((last - first) / 6))
    return [(10.0**e, power_text(e)) for e in range(first, last + 1, apart) if low * 0.999 <= 10.0**e <= high * 1.001]


def good(curve, log):
    keep = (abs(curve.x) < LARGEST) & (abs(curve.y) < LARGEST)
    return keep & (curve.y > 0) if log else keep


def reduced(x, y, keep):
    """Points to draw, nan where the curve is interrupted: of long curves the extremes of each column of pixels."""
    y = numpy.where(keep, y, numpy.nan)
    if len(x) <= POINTS:
        return x, y
    at, values = [], []
    for part in numpy.array_split(numpy.arange(len(x)), POINTS // 2):
        there = part[keep[part]]
        if not len(there):
            at.append(x[part[0]])
            values.append(numpy.nan)
            continue
        pair = sorted({there[y[there].argmin()], there[y[there].argmax()]})
        at += list(x[pair])
        values += list(y[pair])
    return numpy.array(at), numpy.array(values)


def chart(curves, x_label, y_label, log=False, floor=1e-12, number=0):
    """The SVG element of one chart. floor: of the greatest value, the least that a logarithmic axis shows. number: tells its clip path from those of the others on the page."""
    keep = [good(curve, log) for curve in curves]
    drawn = [(curve, k) for curve, k in zip(curves, keep) if k.any()]
    out = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
           f"<title>{esc(y_label)} over {esc(x_label)}</title>"]
    if not drawn:
        out += [f'<text x="{WIDTH / 2}" y="{HEIGHT / 2}" text-anchor="middle">{esc(y_label)}: no finite value</text></svg>']
        return "".join(out)
    x_low = min(c.x[k].min() for c, k in drawn)
    x_high = max(c.x[k].max() for c, k in drawn)
    y_low = min(c.y[k].min() for c, k in drawn)
    y_high = max(c.y[k].max() for c, k in drawn)
    notes = []
    lost = sum(int((~numpy.isfinite(c.y)).sum()) for c in curves)
    if lost:
        notes.append(f"{lost} not finite")
    later = None if log else range_without_start([c.y[k] for c, k in drawn])
    if later:
        y_low, y_high = later
        notes.append("start beyond the frame")
    if x_high == x_low:
        x_low, x_high = x_low - 0.5, x_high + 0.5
    if log and y_high < 2 * y_low:
        log = False
    if log:
        y_low = max(y_low, y_high * floor)
        margin = (y_high / y_low) ** 0.05
        y_low, y_high = y_low / margin, y_high * margin
    elif y_high - y_low <= 1e-13 * max(abs(y_low), abs(y_high)):  # a constant
        half = 0.5 * max(abs(y_low), 1e-300) if y_low else 0.5
        y_low, y_high = y_low - half, y_high + half
    elif not later:
        margin = 0.05 * (y_high - y_low)
        y_low, y_high = y_low - margin, y_high + margin

    def place_x(x):
        return LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def place_y(y):
        part = numpy.log(y / y_low) / math.log(y_high / y_low) if log else (y - y_low) / (y_high - y_low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    x_ticks, x_offset = linear_axis(x_low, x_high, 6)
    y_ticks, y_offset = (log_axis(y_low, y_high), 0.0) if log else linear_axis(y_low, y_high, 5)
    for at, text in x_ticks:
        out.append(f'<line class="grid" x1="{place_x(at):.1f}" x2="{place_x(at):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
                   f'<text x="{place_x(at):.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{text}</text>')
    for at, text in y_ticks:
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place_y(at):.1f}" y2="{place_y(at):.1f}"/>'
                   f'<text x="{LEFT - 5}" y="{place_y(at) + 3.5:.1f}" text-anchor="end">{text}</text>')
    out.append(f'<text class="name" x="{LEFT}" y="15">{esc(with_offset(y_label, y_offset))}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{esc(with_offset(x_label, x_offset))}</text>')
    if notes:
        out.append(f'<text class="note" x="{WIDTH - RIGHT}" y="15" text-anchor="end">{esc(", ".join(notes))}</text>')
    out.append(f'<clipPath id="frame{number}"><rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" '
               f'height="{HEIGHT - TOP - BOTTOM}"/></clipPath><g clip-path="url(#frame{number})">')
    for curve, k in drawn:
        x, y = reduced(curve.x, curve.y, k)
        bad = ~numpy.isfinite(y)
        pieces, start = [], True
        for px, py, gap in zip(place_x(x), place_y(numpy.where(bad, y_high, y)), bad):
            if gap:
                start = True
                continue
            pieces.append(f"{'M' if start else 'L'}{px:.1f} {min(max(py, -1e5), 1e5):.1f}")
            start = False
        dash = ' stroke-dasharray="5 4"' if curve.dashed else ""
        out.append(f'<path class="curve" d="{"".join(pieces)}" stroke="{curve.color}"{dash} data-name="{esc(curve.name)}"/>')
        if k.sum() <= 40:
            out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2" fill="{curve.color}"/>'
                    for px, py in zip(place_x(curve.x[k]), place_y(curve.y[k]))]
        if curve.level and abs(curve.level[2]) < LARGEST and (not log or curve.level[2] > 0):
            low, high, value = curve.level
            y = place_y(numpy.float64(value))
            out.append(f'<line class="level" x1="{place_x(low):.1f}" x2="{place_x(high):.1f}" y1="{y:.1f}" y2="{y:.1f}">'
                       f'<title>mean {value:.6g}</title></line>')
    out.append(f'</g><rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" '
               f'data-x="{x_low!r} {x_high!r}" data-y="{float(y_low)!r} {float(y_high)!r}" data-log="{int(log)}"/></svg>')
    return "".join(out)


def legend(entries):
    """A line of names with their colours, [(name, colour)]."""
    return '<div class="legend">' + "".join(f'<span><i style="background:{color}"></i>{esc(name)}</span>'
                                            for name, color in entries) + "</div>"
