/* Continuing a run: what may change in its case, key by key of the table, and what may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hdf5.h>
#include <malloc.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "case/keys.h"
#include "foreign/hdf5.h"
#include "scratch.h"
#include "tags/inputs.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char whose[] = "checkpoints/step_0000001000.h5";

/* What was said on stderr. */
static char said[8192];

static enum status same(const char *before, const char *now)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    const int saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    const enum status s = case_same_flow(before, now, whose);
    fflush(NULL);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return s;
}

/* Earlier results of the same grid: what they hold goes by the first letter. */
static enum status earlier(void *context, const char *path, struct case_earlier *e,
                           char reason[CASE_REASON])
{
    (void)context, (void)reason;
    *e = (struct case_earlier){
        .file = strdup(path), .checksum = (uint64_t)strrchr(path, '/')[1], .cells = {16, 16, 16}};
    return e->file ? STATUS_OK : STATUS_MACHINE;
}

/* The resolved text, to be freed. */
static char *resolved(const char *text, const char *set)
{
    struct flow_case c;
    struct case_files files = inputs(NULL);
    files.earlier = earlier;
    assert_int_equal(case_read_files(scratch_path("case.yaml"), text, (long)strlen(text),
                                     set != NULL, &set, &files, &c),
                     STATUS_OK);
    char *copy = strdup(c.resolved);
    assert_non_null(copy);
    case_destroy(&c);
    return copy;
}

static void must_say(const char *fragment)
{
    const char *newline = strchr(said, '\n');
    if (!newline || newline[1] || !strstr(said, fragment))
        fail_msg("expected one line with '%s', got: %s", fragment, said);
}

#define CELLS "domain: {cells: [16, 16, 16]}\n"
#define PLAIN                                                                                      \
    "domain: {cells: [16, 16, 16]}\n"                                                              \
    "faces: {x: periodic, y: wall, z: periodic}\n"                                                 \
    "run: {steps: 1000}\n"
#define FLUID "fluid: {viscosity: 0.1, velocity: 0.05, length: 16}\n"
#define BASE PLAIN FLUID
#define LAW(keys) PLAIN "fluid: {viscosity: 0.1, law: {" keys "}}\n"
#define HELD BASE "force: {flow_rate: {velocity: 0.01"
#define SOLID BASE "bodies: {a: {shape: {"
#define IMAGE(file, keys) BASE "bodies: {a: {image: {file: " file ", solid: [1], " keys "}}}\n"
#define TURNING SOLID "sphere: {center: [4, 4, 2], radius: 2}}, rotation: {rate: [0, 0, 0.01]"
#define DRAG                                                                                       \
    SOLID "sphere: {center: [4, 4, 2], radius: 2}}},\n"                                            \
          "  b: {shape: {sphere: {center: [10, 4, 2], radius: 2}}}}\n"                             \
          "output: {series: {drag: {every: 10, of: forces, body: a"
#define FINER                                                                                      \
    SOLID "sphere: {center: [4, 4, 2], radius: 2}}},\n"                                            \
          "  b: {shape: {sphere: {center: [10, 4, 2], radius: 2}}}}\nrefine: {r: {"
#define MESHED(keys) BASE "bodies: {a: {mesh: {file: t.stl, " keys "}}}\n"
#define CAPPED(keys)                                                                               \
    BASE "bodies: {a: {mesh: {file: t.stl, scale: 12, center: [8, 8, 8], fluid: inside}, caps: "   \
         "{in: {center: [4, 4, 2], " keys "}}}}\n"
#define MEASURED                                                                                   \
    BASE "bodies: {a: {mesh: {file: t.stl, scale: 12, center: [8, 8, 8], fluid: inside}, caps: "   \
         "{in: {center: [4, 4, 2], pressure: 0}, out: {center: [2, 5, 5], pressure: 0}}}}\n"       \
         "output: {series: {s: {every: 10, of: outlet, cap: in}}}\n"
#define SKIN                                                                                       \
    BASE "bodies: {a: {mesh: {file: t.stl, scale: 8}}, b: {mesh: {file: t.stl, scale: 7}}}\n"      \
         "output: {surfaces: {s: {every: 10, body: a, of: pressure}}}\n"
#define PART BASE "regions: {a: {box: "
#define RESISTS PART "all, resistance: {permeability: 1, loss: 2}}}\n"
#define SCREENED PART "all, screen: {axis: x, loss: 2}}}\n"
#define SOAKED PART "all, sponge: {towards: xmax, strength: 0.1}}}\n"
#define PUSHED BASE "force: {acceleration: [1e-6, 0, 0], "
#define UNITS "units: {dx: 5 mm, dt: 1 ms, density: 1000 kg/m3}\n"
#define BOX                                                                                        \
    "domain: {cells: [16, 16, 16]}\nfluid: {viscosity: 0.1}\nrun: {steps: 1000}\n"                 \
    "faces: {x: periodic, y: periodic, z: periodic}\n"
#define MOMENTS BASE "solver: {collision: cumulant, rates: {bulk: 1, third: 1, fourth: 1}}\n"
#define EDDIES BASE "solver: {subgrid: {smagorinsky: {constant: 0.1, van_driest: 0.01}}}\n"
#define OUTPUT                                                                                     \
    BASE "output:\n"                                                                               \
         "  series:\n"                                                                             \
         "    flow: {every: 10, of: [mass]}\n"                                                     \
         "    probe: {every: 10, of: probe, point: [1, 1, 1]}\n"                                   \
         "    line: {every: 10, of: line, from: [0, 0, 0], to: [1, 0, 0], points: 3}\n"            \
         "    rate: {every: 10, of: flow_rate}\n"                                                  \
         "    drop: {every: 10, of: pressure_drop, at: 1, second: 9}\n"                            \
         "  fields: {main: {every: 10, of: [density], region: {to: [8, 8, 8]}}}\n"                 \
         "  averages: {mean: {every: 10, of: velocity, region: {to: [8, 8, 8]}}}\n"                \
         "  images: {mid: {every: 10, of: speed, range: [0, 0.1]}}\n"

#define WARM(keys) BASE "scalars: {t: {kind: heat, reference: 300, diffusivity: 0.1, " keys "}}\n"
#define SMOKE(keys) BASE "scalars: {s: {diffusivity: 0.1, " keys "}, u: {schmidt: 2}}\n"
#define LINEAR WARM("initial: {linear: {from: [0, 0, 0], to: [8, 0, 0], values: [1, 2]}}")
#define WAVE WARM("initial: {wave: {amplitude: 0.1, waves: [1, 0, 0]}}")
#define HOT WARM("initial: {shapes: {a: {sphere: {center: [4, 4, 2], radius: 1}, value: 310}}}")
#define FALLING "force: {gravity: [0, -1e-3, 0]}\n"

/* One change for every key of the table that holds a value. Whether it is taken is what the
 * table says; `path`: what is named when it is not, if that is another key. */
static const struct change {
    const char *row, *text, *set, *path;
} changes[] = {
    {"units.dx", UNITS BASE, "units.dx=4 mm", NULL},
    {"units.dt", UNITS BASE, "units.dt=2 ms", NULL},
    {"units.velocity.physical", UNITS BASE,
     "units={dx: 5 mm, velocity: {physical: 0.2 m/s, lattice: 0.05}}", "units.dt"},
    {"units.velocity.lattice", UNITS BASE,
     "units={dx: 5 mm, velocity: {physical: 0.1 m/s, lattice: 0.04}}", "units.dt"},
    {"units.density", UNITS BASE, "units.density=1 g/m3", NULL},
    {"domain.cells", BASE, "domain.cells=[16, 16, 17]", NULL},
    {"domain.size", UNITS BASE, "domain={size: [8 cm, 8 cm, 4 cm]}", "domain.cells"},
    {"fluid.viscosity", BASE, "fluid.viscosity=0.10000000000000002", NULL},
    {"fluid.reynolds", BASE, "fluid={reynolds: 10, velocity: 0.05, length: 16}", "fluid.viscosity"},
    {"fluid.velocity", BASE, "fluid.velocity=0.06", NULL},
    {"fluid.length", BASE, "fluid.length=17", NULL},
    {"fluid.law.power.index", LAW("power: {index: 0.6, shear_rate: 0.01}"),
     "fluid.law.power.index=0.7", NULL},
    {"fluid.law.power.shear_rate", LAW("power: {index: 0.6, shear_rate: 0.01}"),
     "fluid.law.power.shear_rate=0.02", NULL},
    {"fluid.law.carreau.infinite", LAW("carreau: {infinite: 0.01, time: 100, index: 0.4}"),
     "fluid.law.carreau.infinite=0.02", NULL},
    {"fluid.law.carreau.time", LAW("carreau: {infinite: 0.01, time: 100, index: 0.4}"),
     "fluid.law.carreau.time=110", NULL},
    {"fluid.law.carreau.index", LAW("carreau: {infinite: 0.01, time: 100, index: 0.4}"),
     "fluid.law.carreau.index=0.5", NULL},
    {"fluid.law.carreau.transition", LAW("carreau: {infinite: 0.01, time: 100, index: 0.4}"),
     "fluid.law.carreau.transition=1.9", NULL},
    {"fluid.law.casson.yield", LAW("casson: {yield: 1e-4}"), "fluid.law.casson.yield=2e-4", NULL},
    {"fluid.law.herschel_bulkley.yield",
     LAW("herschel_bulkley: {yield: 1e-4, index: 0.6, shear_rate: 0.01}"),
     "fluid.law.herschel_bulkley.yield=2e-4", NULL},
    {"fluid.law.herschel_bulkley.index",
     LAW("herschel_bulkley: {yield: 1e-4, index: 0.6, shear_rate: 0.01}"),
     "fluid.law.herschel_bulkley.index=0.7", NULL},
    {"fluid.law.herschel_bulkley.shear_rate",
     LAW("herschel_bulkley: {yield: 1e-4, index: 0.6, shear_rate: 0.01}"),
     "fluid.law.herschel_bulkley.shear_rate=0.02", NULL},
    {"fluid.law.least", LAW("power: {index: 0.6, shear_rate: 0.01}"), "fluid.law.least=0.001",
     NULL},
    {"fluid.law.most", LAW("power: {index: 0.6, shear_rate: 0.01}"), "fluid.law.most=1", NULL},
    {"solver.collision", BASE, "solver.collision=bgk", NULL},
    {"solver.magic", BASE, "solver.magic=0.25", NULL},
    {"solver.rates.bulk", MOMENTS, "solver.rates.bulk=1.1", NULL},
    {"solver.rates.third", MOMENTS, "solver.rates.third=1.1", NULL},
    {"solver.rates.fourth", MOMENTS, "solver.rates.fourth=1.1", NULL},
    {"solver.subgrid", BASE, "solver={collision: trt, subgrid: {smagorinsky: {constant: 0.1}}}",
     NULL},
    {"solver.subgrid.smagorinsky.constant", EDDIES, "solver.subgrid.smagorinsky.constant=0.11",
     NULL},
    {"solver.subgrid.smagorinsky.van_driest", EDDIES, "solver.subgrid.smagorinsky.van_driest=0.011",
     NULL},
    {"solver.storage", BASE, "solver.storage=fp64", NULL},
    {"solver.storage", BASE, "solver.storage=fp16", NULL},
    {"solver.arithmetic", BASE, "solver.arithmetic=fp64", "solver.storage"},
    {"initial.flow", BASE, "initial={flow: uniform, velocity: [0, 0, 0]}", NULL},
    {"initial.from", BASE "initial: {from: x.h5}\n", "initial.from=x2.h5", NULL},
    {"initial.checksum", BASE "initial: {from: x.h5}\n", "initial.from=y.h5", NULL},
    {"initial.velocity", BASE "initial: {flow: uniform, velocity: [0, 0, 0]}\n",
     "initial.velocity=[0, 0, 0.01]", NULL},
    {"initial.amplitude", BOX "initial: {flow: shear_layer, amplitude: 0.1}\n",
     "initial.amplitude=0.11", NULL},
    {"initial.axis", BOX "initial: {flow: shear_layer, amplitude: 0.1}\n", "initial.axis=x", NULL},
    {"initial.thickness", BOX "initial: {flow: shear_layer, amplitude: 0.1}\n",
     "initial.thickness=81", NULL},
    {"initial.perturbation", BOX "initial: {flow: shear_layer, amplitude: 0.1}\n",
     "initial.perturbation=0.06", NULL},
    {"initial.density", BOX "initial: {flow: pulse, width: 2}\n", "initial.density=0.002", NULL},
    {"initial.center", BOX "initial: {flow: wave, width: 2}\n", "initial.center=[1, 2, 3]", NULL},
    {"initial.width", BOX "initial: {flow: vortex, amplitude: 0.1, width: 2}\n",
     "initial.width=2.5", NULL},
    {"initial.pressure", BASE, "initial.pressure=uniform", NULL},
    {"initial.relax", BASE, "initial.relax=8", NULL},
    {"faces.<face>", BASE, "faces={x: wall, y: wall, z: periodic}", "faces.xmin"},
    {"faces.<face>.wall.velocity", BASE,
     "faces={x: periodic, ymin: wall, z: periodic, ymax: {wall: "
     "{velocity: [0.1, 0, 0]}}}",
     "faces.ymax.wall.velocity"},
#define PATCHES                                                                                    \
    "domain: {cells: [4, 4, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 10}\n"                      \
    "faces: {x: wall, y: wall, z: wall}\n"                                                         \
    "patches: {r: {face: xmin, rectangle: {from: [1, 1], to: [3, 3]}, outflow: {}},\n"             \
    "  d: {face: ymax, disc: {center: [2, 2], radius: 1}, outflow: {}},\n"                         \
    "  m: {face: zmin, mask: {file: m.png}, outflow: {}}}\n"
    {"patches.*.face", PATCHES, "patches.r.face=ymin", "patches.r.face"},
    {"patches.*.rectangle.from", PATCHES, "patches.r.rectangle.from=[0, 1]",
     "patches.r.rectangle.from"},
    {"patches.*.rectangle.to", PATCHES, "patches.r.rectangle.to=[3, 4]", "patches.r.rectangle.to"},
    {"patches.*.disc.center", PATCHES, "patches.d.disc.center=[2, 1]", "patches.d.disc.center"},
    {"patches.*.disc.radius", PATCHES, "patches.d.disc.radius=1.5", "patches.d.disc.radius"},
    {"patches.*.mask.file", PATCHES, "patches.m.mask.file=m2.png", NULL},
    {"patches.*.mask.checksum", PATCHES, "patches.m.mask.file=n.png", "patches.m.mask.checksum"},
    {"force.rotation", BASE, "force.rotation=[0, 0, 1e-3]", NULL},
    {"force.acceleration", BASE, "force.acceleration=[1e-9, 0, 0]", NULL},
    {"force.ramp", PUSHED "ramp: 10}\n", "force.ramp=11", NULL},
    {"force.sine.period", PUSHED "sine: {period: 9}}\n", "force.sine.period=9.5", NULL},
    {"force.sine.phase", PUSHED "sine: {period: 9}}\n", "force.sine.phase=0.5", NULL},
    {"force.sine.mean", PUSHED "sine: {period: 9}}\n", "force.sine.mean=0.5", NULL},
    {"force.sine.amplitude", PUSHED "sine: {period: 9}}\n", "force.sine.amplitude=0.5", NULL},
    {"force.steer.name", PUSHED "steer: {name: a}}\n", "force.steer.name=b", NULL},
    {"force.steer.start", PUSHED "steer: {name: a}}\n", "force.steer.start=0.5", NULL},
    {"force.steer.min", PUSHED "steer: {name: a}}\n", "force.steer.min=0.5", NULL},
    {"force.steer.max", PUSHED "steer: {name: a}}\n", "force.steer.max=2", NULL},
    {"force.flow_rate.velocity", HELD "}}\n", "force.flow_rate.velocity=0.02", NULL},
    {"force.flow_rate.axis", HELD "}}\n", "force.flow_rate.axis=z", NULL},
    {"force.flow_rate.every", HELD "}}\n", "force.flow_rate.every=9", NULL},
    {"force.flow_rate.time", HELD "}}\n", "force.flow_rate.time=999", NULL},
    {"bodies.*.shape.box.from", SOLID "box: {from: [1, 1, 1], to: [3, 3, 3]}}}}\n",
     "bodies.a.shape.box.from=[2, 1, 1]", "bodies.a.shape.box.from"},
    {"bodies.*.shape.box.to", SOLID "box: {from: [1, 1, 1], to: [3, 3, 3]}}}}\n",
     "bodies.a.shape.box.to=[2, 2, 2]", "bodies.a.shape.box.to"},
    {"bodies.*.shape.sphere.center", SOLID "sphere: {center: [4, 4, 2], radius: 2}}}}\n",
     "bodies.a.shape.sphere.center=[4, 4, 1]", "bodies.a.shape.sphere.center"},
    {"bodies.*.shape.sphere.radius", SOLID "sphere: {center: [4, 4, 2], radius: 2}}}}\n",
     "bodies.a.shape.sphere.radius=1", "bodies.a.shape.sphere.radius"},
    {"bodies.*.shape.cylinder.center", SOLID "cylinder: {center: [4, 4, 2], radius: 2}}}}\n",
     "bodies.a.shape.cylinder.center=[4, 4, 1]", "bodies.a.shape.cylinder.center"},
    {"bodies.*.shape.cylinder.axis", SOLID "cylinder: {center: [4, 4, 2], radius: 2}}}}\n",
     "bodies.a.shape.cylinder.axis=x", "bodies.a.shape.cylinder.axis"},
    {"bodies.*.shape.cylinder.radius", SOLID "cylinder: {center: [4, 4, 2], radius: 2}}}}\n",
     "bodies.a.shape.cylinder.radius=1", "bodies.a.shape.cylinder.radius"},
    {"bodies.*.image.file", IMAGE("a.raw", "size: [4, 4, 4]"), "bodies.a.image.file=a2.raw", NULL},
    {"bodies.*.image.size", IMAGE("a.raw", "size: [4, 4, 4], crop: {to: [4, 4, 3]}"),
     "bodies.a.image={file: part.raw, size: [4, 4, 3], solid: 1, crop: {to: [4, 4, 3]}}", NULL},
    {"bodies.*.image.type", IMAGE("a.raw", "size: [4, 4, 4]"),
     "bodies.a.image={file: wide.raw, size: [4, 4, 4], type: int16, solid: 1}", NULL},
    {"bodies.*.image.order", IMAGE("wide.raw", "size: [4, 4, 4], type: int16"),
     "bodies.a.image={file: big.raw, size: [4, 4, 4], type: int16, order: big, solid: 1}", NULL},
    {"bodies.*.image.skip", IMAGE("a.raw", "size: [4, 4, 4]"),
     "bodies.a.image={file: head.raw, size: [4, 4, 4], skip: 3, solid: 1}", NULL},
    {"bodies.*.image.dataset", IMAGE("a.raw", "size: [4, 4, 4]"),
     "bodies.a.image={file: a.h5, dataset: labels, solid: 1}", NULL},
    {"bodies.*.image.solid", IMAGE("a.raw", "size: [4, 4, 4]"), "bodies.a.image.solid=[1, 2]",
     "bodies.a.image.solid"},
    {"bodies.*.image.crop.from", IMAGE("a.raw", "size: [4, 4, 4]"),
     "bodies.a.image.crop={from: [0, 1, 0]}", "bodies.a.image.crop.from"},
    {"bodies.*.image.crop.to", IMAGE("a.raw", "size: [4, 4, 4]"),
     "bodies.a.image.crop={to: [4, 3, 4]}", "bodies.a.image.crop.to"},
    {"bodies.*.image.flip", IMAGE("a.raw", "size: [4, 4, 4]"), "bodies.a.image.flip=[x, z]",
     "bodies.a.image.flip"},
    {"bodies.*.image.at", IMAGE("a.raw", "size: [4, 4, 4]"), "bodies.a.image.at=[1, 0, 0]",
     "bodies.a.image.at"},
    {"bodies.*.image.isolated", IMAGE("a.raw", "size: [4, 4, 4]"), "bodies.a.image.isolated=fill",
     "bodies.a.image.isolated"},
    {"bodies.*.image.checksum", IMAGE("a.raw", "size: [4, 4, 4]"), "bodies.a.image.file=b.raw",
     "bodies.a.image.checksum"},
    {"bodies.*.shape.ellipsoid.center",
     SOLID "ellipsoid: {center: [4, 4, 2], radii: [2, 1, 1]}}}}\n",
     "bodies.a.shape.ellipsoid.center=[4, 4, 1]", "bodies.a.shape.ellipsoid.center"},
    {"bodies.*.shape.ellipsoid.radii",
     SOLID "ellipsoid: {center: [4, 4, 2], radii: [2, 1, 1]}}}}\n",
     "bodies.a.shape.ellipsoid.radii=[2, 2, 1]", "bodies.a.shape.ellipsoid.radii"},
    {"bodies.*.shape.cylinder.length",
     SOLID "cylinder: {center: [4, 4, 2], radius: 2, length: 3}}}}\n",
     "bodies.a.shape.cylinder.length=4", "bodies.a.shape.cylinder.length"},
    {"bodies.*.shape.capsule.from",
     SOLID "capsule: {from: [3, 4, 2], to: [5, 4, 2], radius: 1}}}}\n",
     "bodies.a.shape.capsule.from=[2, 4, 2]", "bodies.a.shape.capsule.from"},
    {"bodies.*.shape.capsule.to", SOLID "capsule: {from: [3, 4, 2], to: [5, 4, 2], radius: 1}}}}\n",
     "bodies.a.shape.capsule.to=[6, 4, 2]", "bodies.a.shape.capsule.to"},
    {"bodies.*.shape.capsule.radius",
     SOLID "capsule: {from: [3, 4, 2], to: [5, 4, 2], radius: 1}}}}\n",
     "bodies.a.shape.capsule.radius=2", "bodies.a.shape.capsule.radius"},
    {"bodies.*.shape.torus.center", SOLID "torus: {center: [4, 4, 2], radius: 2, tube: 1}}}}\n",
     "bodies.a.shape.torus.center=[4, 4, 1]", "bodies.a.shape.torus.center"},
    {"bodies.*.shape.torus.axis", SOLID "torus: {center: [4, 4, 2], radius: 2, tube: 1}}}}\n",
     "bodies.a.shape.torus.axis=x", "bodies.a.shape.torus.axis"},
    {"bodies.*.shape.torus.radius", SOLID "torus: {center: [4, 4, 2], radius: 2, tube: 1}}}}\n",
     "bodies.a.shape.torus.radius=3", "bodies.a.shape.torus.radius"},
    {"bodies.*.shape.torus.tube", SOLID "torus: {center: [4, 4, 2], radius: 2, tube: 1}}}}\n",
     "bodies.a.shape.torus.tube=0.5", "bodies.a.shape.torus.tube"},
    {"bodies.*.shape.half_space.point", SOLID "half_space: {point: [4, 4, 2]}}}}\n",
     "bodies.a.shape.half_space.point=[4, 4, 1]", "bodies.a.shape.half_space.point"},
    {"bodies.*.shape.half_space.normal", SOLID "half_space: {point: [4, 4, 2]}}}}\n",
     "bodies.a.shape.half_space.normal=[1, 0, 1]", "bodies.a.shape.half_space.normal"},
    {"bodies.*.shape.pack.lattice", SOLID "pack: {length: 4, radius: 1}}}}\n",
     "bodies.a.shape.pack.lattice=body_centred", "bodies.a.shape.pack.lattice"},
    {"bodies.*.shape.pack.length", SOLID "pack: {length: 4, radius: 1}}}}\n",
     "bodies.a.shape.pack.length=5", "bodies.a.shape.pack.length"},
    {"bodies.*.shape.pack.center", SOLID "pack: {length: 4, radius: 1}}}}\n",
     "bodies.a.shape.pack.center=[1, 0, 0]", "bodies.a.shape.pack.center"},
    {"bodies.*.shape.pack.radius", SOLID "pack: {length: 4, radius: 1}}}}\n",
     "bodies.a.shape.pack.radius=1.5", "bodies.a.shape.pack.radius"},
    {"bodies.*.shape.pack.share", SOLID "pack: {length: 4, share: 0.2}}}}\n",
     "bodies.a.shape.pack.share=0.3", "bodies.a.shape.pack.radius"},
    {"bodies.*.shape.scale", SOLID "sphere: {center: [4, 4, 2], radius: 1}, scale: 2}}}\n",
     "bodies.a.shape.scale=1.5", "bodies.a.shape.scale"},
    {"bodies.*.shape.rotate",
     SOLID "ellipsoid: {center: [4, 4, 2], radii: [2, 1, 1]}, rotate: [0, 0, 20]}}}\n",
     "bodies.a.shape.rotate=[0, 0, 21]", "bodies.a.shape.rotate"},
    {"bodies.*.shape.about",
     SOLID "ellipsoid: {center: [4, 4, 2], radii: [2, 1, 1]}, rotate: [0, 0, 20]}}}\n",
     "bodies.a.shape.about=[4, 4, 1]", "bodies.a.shape.about"},
    {"bodies.*.shape.move", SOLID "sphere: {center: [4, 4, 2], radius: 1}, move: [0, 0, 1]}}}\n",
     "bodies.a.shape.move=[0, 1, 0]", "bodies.a.shape.move"},
    {"bodies.*.shape.union",
     SOLID "union: {a: {sphere: {center: [4, 4, 2], radius: 1}}, b: {box: {from: [4, 4, 0], to: "
           "[8, 8, 4]}}}}}}\n",
     "bodies.a.shape.union.a.sphere.radius=1.5", "bodies.a.shape.union.a.sphere.radius"},
    {"bodies.*.shape.difference",
     SOLID "difference: {a: {sphere: {center: [4, 4, 2], radius: 1}}, b: {box: {from: [4, 4, 0], "
           "to: [8, 8, 4]}}}}}}\n",
     "bodies.a.shape.difference.a.sphere.radius=1.5", "bodies.a.shape.difference.a.sphere.radius"},
    {"bodies.*.shape.intersection",
     SOLID "intersection: {a: {sphere: {center: [4, 4, 2], radius: 1}}, b: {box: {from: [4, 4, 0], "
           "to: [8, 8, 4]}}}}}}\n",
     "bodies.a.shape.intersection.a.sphere.radius=1.5",
     "bodies.a.shape.intersection.a.sphere.radius"},
    {"bodies.*.shape.complement",
     SOLID "complement: {a: {sphere: {center: [4, 4, 2], radius: 1}}, b: {box: {from: [4, 4, 0], "
           "to: [8, 8, 4]}}}}}}\n",
     "bodies.a.shape.complement.a.sphere.radius=1.5", "bodies.a.shape.complement.a.sphere.radius"},
    {"bodies.*.mesh.file", MESHED("scale: 8"), "bodies.a.mesh.file=t2.stl", NULL},
    {"bodies.*.mesh.scale", MESHED("scale: 8"), "bodies.a.mesh.scale=4", "bodies.a.mesh.scale"},
    {"bodies.*.mesh.size", MESHED("size: 8"), "bodies.a.mesh.size=4", "bodies.a.mesh.scale"},
    {"bodies.*.mesh.rotate", MESHED("scale: 8"), "bodies.a.mesh.rotate=[0, 10, 0]",
     "bodies.a.mesh.rotate"},
    {"bodies.*.mesh.center", MESHED("center: [8, 8, 8]"), "bodies.a.mesh.center=[8, 8, 7]",
     "bodies.a.mesh.center"},
    {"bodies.*.mesh.min", MESHED("min: [8, 8, 8]"), "bodies.a.mesh.min=[8, 8, 7]",
     "bodies.a.mesh.center"},
    {"bodies.*.mesh.fluid", MESHED("scale: 8"), "bodies.a.mesh.fluid=inside",
     "bodies.a.mesh.fluid"},
    {"bodies.*.caps.*.center", CAPPED("velocity: {mean: 0.02}"),
     "bodies.a.caps.in.center=[5, 4, 2]", "bodies.a.caps.in.center"},
    {"bodies.*.caps.*.radius", CAPPED("radius: 3, velocity: {flow_rate: 0.1}"),
     "bodies.a.caps.in.radius=2.5", "bodies.a.caps.in.radius"},
    {"bodies.*.caps.*.velocity.mean", CAPPED("velocity: {mean: 0.02}"),
     "bodies.a.caps.in.velocity.mean=0.03", "bodies.a.caps.in.velocity.flow_rate"},
    {"bodies.*.caps.*.velocity.flow_rate", CAPPED("velocity: {flow_rate: 1}"),
     "bodies.a.caps.in.velocity.flow_rate=1.5", "bodies.a.caps.in.velocity.flow_rate"},
    {"bodies.*.caps.*.velocity.profile", CAPPED("velocity: {mean: 0.02}"),
     "bodies.a.caps.in.velocity.profile=flat", "bodies.a.caps.in.velocity.profile"},
    {"bodies.*.caps.*.velocity.ramp", CAPPED("velocity: {mean: 0.02, ramp: 10}"),
     "bodies.a.caps.in.velocity.ramp=11", "bodies.a.caps.in.velocity.ramp"},
    {"bodies.*.caps.*.velocity.sine.period", CAPPED("velocity: {mean: 0.02, sine: {period: 9}}"),
     "bodies.a.caps.in.velocity.sine.period=9.5", "bodies.a.caps.in.velocity.sine.period"},
    {"bodies.*.caps.*.velocity.sine.phase", CAPPED("velocity: {mean: 0.02, sine: {period: 9}}"),
     "bodies.a.caps.in.velocity.sine.phase=0.5", "bodies.a.caps.in.velocity.sine.phase"},
    {"bodies.*.caps.*.velocity.sine.mean", CAPPED("velocity: {mean: 0.02, sine: {period: 9}}"),
     "bodies.a.caps.in.velocity.sine.mean=0.5", "bodies.a.caps.in.velocity.sine.mean"},
    {"bodies.*.caps.*.velocity.sine.amplitude", CAPPED("velocity: {mean: 0.02, sine: {period: 9}}"),
     "bodies.a.caps.in.velocity.sine.amplitude=0.5", "bodies.a.caps.in.velocity.sine.amplitude"},
    {"bodies.*.caps.*.velocity.table.file", CAPPED("velocity: {mean: 0.02, table: {file: t.csv}}"),
     "bodies.a.caps.in.velocity.table.file=t2.csv", NULL},
    {"bodies.*.caps.*.velocity.table.time", CAPPED("velocity: {mean: 0.02, table: {file: t.csv}}"),
     "bodies.a.caps.in.velocity.table.time=2", "bodies.a.caps.in.velocity.table.time"},
    {"bodies.*.caps.*.velocity.table.repeat",
     CAPPED("velocity: {mean: 0.02, table: {file: beat.csv}}"),
     "bodies.a.caps.in.velocity.table.repeat=true", "bodies.a.caps.in.velocity.table.repeat"},
    {"bodies.*.caps.*.velocity.table.checksum",
     CAPPED("velocity: {mean: 0.02, table: {file: t.csv}}"),
     "bodies.a.caps.in.velocity.table.file=u.csv", "bodies.a.caps.in.velocity.table.checksum"},
    {"bodies.*.caps.*.velocity.steer.name", CAPPED("velocity: {mean: 0.02, steer: {name: a}}"),
     "bodies.a.caps.in.velocity.steer.name=b", "bodies.a.caps.in.velocity.steer.name"},
    {"bodies.*.caps.*.velocity.steer.start", CAPPED("velocity: {mean: 0.02, steer: {name: a}}"),
     "bodies.a.caps.in.velocity.steer.start=0.5", "bodies.a.caps.in.velocity.steer.start"},
    {"bodies.*.caps.*.velocity.steer.min", CAPPED("velocity: {mean: 0.02, steer: {name: a}}"),
     "bodies.a.caps.in.velocity.steer.min=0.5", "bodies.a.caps.in.velocity.steer.min"},
    {"bodies.*.caps.*.velocity.steer.max", CAPPED("velocity: {mean: 0.02, steer: {name: a}}"),
     "bodies.a.caps.in.velocity.steer.max=2", "bodies.a.caps.in.velocity.steer.max"},
    {"bodies.*.caps.*.pressure.steer.name", CAPPED("pressure: {value: 0.001, steer: {name: a}}"),
     "bodies.a.caps.in.pressure.steer.name=b", "bodies.a.caps.in.pressure.steer.name"},
    {"bodies.*.caps.*.pressure.steer.start", CAPPED("pressure: {value: 0.001, steer: {name: a}}"),
     "bodies.a.caps.in.pressure.steer.start=0.5", "bodies.a.caps.in.pressure.steer.start"},
    {"bodies.*.caps.*.pressure.steer.min", CAPPED("pressure: {value: 0.001, steer: {name: a}}"),
     "bodies.a.caps.in.pressure.steer.min=0.5", "bodies.a.caps.in.pressure.steer.min"},
    {"bodies.*.caps.*.pressure.steer.max", CAPPED("pressure: {value: 0.001, steer: {name: a}}"),
     "bodies.a.caps.in.pressure.steer.max=2", "bodies.a.caps.in.pressure.steer.max"},
    {"bodies.*.caps.*.pressure.ramp", CAPPED("pressure: {value: 0.001, ramp: 10}"),
     "bodies.a.caps.in.pressure.ramp=11", "bodies.a.caps.in.pressure.ramp"},
    {"bodies.*.caps.*.pressure.sine.period", CAPPED("pressure: {value: 0.001, sine: {period: 9}}"),
     "bodies.a.caps.in.pressure.sine.period=9.5", "bodies.a.caps.in.pressure.sine.period"},
    {"bodies.*.caps.*.pressure.sine.phase", CAPPED("pressure: {value: 0.001, sine: {period: 9}}"),
     "bodies.a.caps.in.pressure.sine.phase=0.5", "bodies.a.caps.in.pressure.sine.phase"},
    {"bodies.*.caps.*.pressure.sine.mean", CAPPED("pressure: {value: 0.001, sine: {period: 9}}"),
     "bodies.a.caps.in.pressure.sine.mean=0.5", "bodies.a.caps.in.pressure.sine.mean"},
    {"bodies.*.caps.*.pressure.sine.amplitude",
     CAPPED("pressure: {value: 0.001, sine: {period: 9}}"),
     "bodies.a.caps.in.pressure.sine.amplitude=0.5", "bodies.a.caps.in.pressure.sine.amplitude"},
    {"bodies.*.caps.*.pressure.table.file",
     CAPPED("pressure: {value: 0.001, table: {file: t.csv}}"),
     "bodies.a.caps.in.pressure.table.file=t2.csv", NULL},
    {"bodies.*.caps.*.pressure.table.time",
     CAPPED("pressure: {value: 0.001, table: {file: t.csv}}"),
     "bodies.a.caps.in.pressure.table.time=2", "bodies.a.caps.in.pressure.table.time"},
    {"bodies.*.caps.*.pressure.table.repeat",
     CAPPED("pressure: {value: 0.001, table: {file: beat.csv}}"),
     "bodies.a.caps.in.pressure.table.repeat=true", "bodies.a.caps.in.pressure.table.repeat"},
    {"bodies.*.caps.*.pressure.table.checksum",
     CAPPED("pressure: {value: 0.001, table: {file: t.csv}}"),
     "bodies.a.caps.in.pressure.table.file=u.csv", "bodies.a.caps.in.pressure.table.checksum"},
    {"bodies.*.caps.*.pressure", CAPPED("pressure: 0.001"), "bodies.a.caps.in.pressure=0.002",
     "bodies.a.caps.in.pressure.density"},
    {"bodies.*.caps.*.pressure.value", CAPPED("pressure: {value: 0.001}"),
     "bodies.a.caps.in.pressure.value=0.002", "bodies.a.caps.in.pressure.density"},
    {"bodies.*.caps.*.pressure.density", CAPPED("pressure: {density: 1.01}"),
     "bodies.a.caps.in.pressure.density=1.02", "bodies.a.caps.in.pressure.density"},
    {"output.series.*.cap", MEASURED, "output.series.s.cap=out", NULL},
    {"bodies.*.mesh.open", MESHED("scale: 8"), "bodies.a.mesh.open=accept", "bodies.a.mesh.open"},
    {"bodies.*.mesh.checksum", MESHED("scale: 8"), "bodies.a.mesh.file=u.stl",
     "bodies.a.mesh.checksum"},
    {"units.heat_capacity",
     "units: {dx: 5 mm, dt: 1 ms, density: 1000 kg/m3, heat_capacity: 4180 J/kg/K}\n" BOX,
     "units.heat_capacity=4181 J/kg/K", NULL},
    {"force.gravity", BASE FALLING, "force.gravity=[0, -2e-3, 0]", NULL},
    {"scalars.*.kind", BASE "scalars: {t: {diffusivity: 0.1}}\n", "scalars.t.kind=heat",
     "scalars.t.kind"},
    {"scalars.*.diffusivity", WARM(""), "scalars.t.diffusivity=0.2", "scalars.t.diffusivity"},
    {"scalars.*.prandtl", BASE "scalars: {t: {kind: heat, prandtl: 0.7}}\n",
     "scalars.t.prandtl=0.71", "scalars.t.diffusivity"},
    {"scalars.*.schmidt", SMOKE(""), "scalars.u.schmidt=3", "scalars.u.diffusivity"},
    {"scalars.*.reference", WARM(""), "scalars.t.reference=301", "scalars.t.reference"},
    {"scalars.*.expansion", WARM("") FALLING, "scalars.t.expansion=1e-3", "scalars.t.expansion"},
    {"scalars.*.turbulent_prandtl", WARM(""), "scalars.t.turbulent_prandtl=0.9",
     "scalars.t.turbulent_prandtl"},
    {"scalars.*.turbulent_schmidt", SMOKE(""), "scalars.s.turbulent_schmidt=0.9",
     "scalars.s.turbulent_schmidt"},
    {"scalars.*.source", WARM(""), "scalars.t.source=1e-3", "scalars.t.source"},
    {"scalars.*.decay", WARM(""), "scalars.t.decay=1e-3", "scalars.t.decay"},
    {"scalars.*.gradient", BASE "scalars: {t: {diffusivity: 0.1, gradient: [1e-3, 0, 0]}}\n",
     "scalars.t.gradient=[2e-3, 0, 0]", "scalars.t.gradient"},
    {"scalars.*.limiter", WARM(""), "scalars.t.limiter=none", "scalars.t.limiter"},
    {"scalars.*.magic", WARM(""), "scalars.t.magic=0.25", "scalars.t.magic"},
    {"scalars.*.made_from",
     BASE "scalars: {a: {schmidt: 1}, b: {schmidt: 1}, c: {schmidt: 1, made_from: a, rate: 0.1}}\n",
     "scalars.c.made_from=b", "scalars.c.made_from"},
    {"scalars.*.rate",
     BASE "scalars: {a: {schmidt: 1}, c: {schmidt: 1, made_from: a, rate: 0.1}}\n",
     "scalars.c.rate=0.2", "scalars.c.rate"},
    {"scalars.*.initial", WARM(""), "scalars.t.initial=310", "scalars.t.initial.value"},
    {"scalars.*.initial.value", WARM("initial: {value: 310}"), "scalars.t.initial.value=311",
     "scalars.t.initial.value"},
    {"scalars.*.initial.linear.from", LINEAR, "scalars.t.initial.linear.from=[1, 0, 0]",
     "scalars.t.initial.linear.from"},
    {"scalars.*.initial.linear.to", LINEAR, "scalars.t.initial.linear.to=[7, 0, 0]",
     "scalars.t.initial.linear.to"},
    {"scalars.*.initial.linear.values", LINEAR, "scalars.t.initial.linear.values=[1, 3]",
     "scalars.t.initial.linear.values"},
    {"scalars.*.initial.wave.amplitude", WAVE, "scalars.t.initial.wave.amplitude=0.2",
     "scalars.t.initial.wave.amplitude"},
    {"scalars.*.initial.wave.waves", WAVE, "scalars.t.initial.wave.waves=[2, 0, 0]",
     "scalars.t.initial.wave.waves"},
    {"scalars.*.initial.wave.phase", WAVE, "scalars.t.initial.wave.phase=0.25",
     "scalars.t.initial.wave.phase"},
    {"scalars.*.initial.shapes.*.value", HOT, "scalars.t.initial.shapes.a.value=311",
     "scalars.t.initial.shapes.a.value"},
    {"bodies.*.velocity", SOLID "sphere: {center: [4, 4, 2], radius: 2}}}}\n",
     "bodies.a.velocity=[0.01, 0, 0]", "bodies.a.velocity"},
    {"bodies.*.wall", SOLID "sphere: {center: [4, 4, 2], radius: 2}}}}\n",
     "bodies.a.wall=interpolated", "bodies.a.wall"},
    {"bodies.*.rotation.rate", TURNING "}}}\n", "bodies.a.rotation.rate=[0, 0, 0.02]",
     "bodies.a.rotation.rate"},
    {"bodies.*.rotation.about", TURNING ", about: [4, 4, 2]}}}\n",
     "bodies.a.rotation.about=[4, 4, 3]", "bodies.a.rotation.about"},
    {"regions.*.box", PART "all}}\n", "regions.a.box={from: [0, 0, 0], to: [8, 8, 4]}",
     "regions.a.box"},
    {"regions.*.box.from", PART "{from: [1, 0, 0]}}}\n", "regions.a.box.from=[2, 0, 0]",
     "regions.a.box.from"},
    {"regions.*.box.to", PART "{to: [4, 4, 4]}}}\n", "regions.a.box.to=[5, 4, 4]",
     "regions.a.box.to"},
    {"regions.*.collision", PART "all}}\n", "regions.a.collision=bgk", "regions.a.collision"},
    {"regions.*.magic", PART "all}}\n", "regions.a.magic=0.25", "regions.a.magic"},
    {"regions.*.viscosity", PART "all}}\n", "regions.a.viscosity=0.2", "regions.a.viscosity"},
    {"regions.*.sponge.towards", SOAKED, "regions.a.sponge.towards=ymax",
     "regions.a.sponge.towards"},
    {"regions.*.sponge.strength", SOAKED, "regions.a.sponge.strength=0.2",
     "regions.a.sponge.strength"},
    {"regions.*.sponge.power", SOAKED, "regions.a.sponge.power=3", "regions.a.sponge.power"},
    {"regions.*.sponge.density", SOAKED, "regions.a.sponge.density=1.01",
     "regions.a.sponge.density"},
    {"regions.*.sponge.velocity", SOAKED, "regions.a.sponge.velocity=[0, 0, 0.01]",
     "regions.a.sponge.velocity"},
    {"regions.*.resistance.permeability", RESISTS, "regions.a.resistance.permeability=2",
     "regions.a.resistance.permeability"},
    {"regions.*.resistance.loss", RESISTS, "regions.a.resistance.loss=[3, 4, 5]",
     "regions.a.resistance.loss"},
    {"regions.*.resistance.loss", PART "all, resistance: {loss: [0, 0, 7]}}}\n",
     "regions.a.resistance.loss=[0, 5, 7]", "regions.a.resistance.loss"},
    {"regions.*.screen.axis", SCREENED, "regions.a.screen.axis=y", "regions.a.screen.axis"},
    {"regions.*.screen.loss", SCREENED, "regions.a.screen.loss=3", "regions.a.screen.loss"},
    {"refine.*.level", FINER "level: 1, around: a, distance: 3}}\n", "refine.r.level=2",
     "refine.r.level"},
    {"refine.*.cells_across", FINER "cells_across: 8, around: a}}\n", "refine.r.cells_across=7",
     NULL},
    {"refine.*.y_plus", FINER "y_plus: 0.02, around: a}}\n", "refine.r.y_plus=0.019", NULL},
    {"refine.*.box.from", FINER "level: 1, box: {from: [1, 1, 1]}}}\n",
     "refine.r.box.from=[1, 1, 2]", "refine.r.box.from"},
    {"refine.*.box.to", FINER "level: 1, box: {to: [9, 9, 9]}}}\n", "refine.r.box.to=[9, 9, 8]",
     "refine.r.box.to"},
    {"refine.*.around", FINER "level: 1, around: a}}\n", "refine.r.around=b", "refine.r.around"},
    {"refine.*.distance", FINER "level: 1, around: a, behind: 5, before: 5}}\n",
     "refine.r.distance=3", "refine.r.distance"},
    {"refine.*.behind", FINER "level: 1, around: a}}\n", "refine.r.behind=5", "refine.r.behind"},
    {"refine.*.before", FINER "level: 1, around: a}}\n", "refine.r.before=5", "refine.r.before"},
    {"refine.*.stream", FINER "level: 1, around: a}}\n", "refine.r.stream=[1, 0, 1]",
     "refine.r.stream"},
    {"run.steps", BASE, "run.steps=2000", NULL},
    {"run.duration", BASE, "run={duration: 500}", NULL},
    {"run.ranks", BASE, "run.ranks=[1, 2, 3]", NULL},
    {"run.threads", BASE, "run.threads=2", NULL},
    {"run.isa", BASE, "run.isa=generic", NULL},
    {"run.transport", BASE, "run.transport=host", NULL},
    {"run.exchange", BASE, "run.exchange=all", NULL},
    {"run.exchange", BASE, "run.exchange=[x, z]", NULL},
    {"run.sparse", BASE, "run.sparse=always", NULL},
    {"run.rows", BASE, "run.rows=lifted", NULL},
    {"run.sweep", BASE, "run.sweep=2", NULL},
    {"run.time_limit", BASE, "run.time_limit=1h", NULL},
    {"run.stop", BASE, "run.stop={of: residual, change: 1e-6}", NULL},
    {"run.stop.of", BASE "", "run.stop={of: enstrophy, change: 1e-6}", NULL},
    {"run.stop.change", BASE, "run.stop={of: residual, change: 1e-5}", NULL},
    {"run.stop.every", BASE, "run.stop={of: residual, change: 1e-6, every: 7}", NULL},
    {"run.stop.over", BASE, "run.stop={of: residual, change: 1e-6, over: 7000}", NULL},
    {"checkpoint.every", BASE, "checkpoint.every=100", NULL},
    {"checkpoint.keep", BASE, "checkpoint.keep=5", NULL},
    {"check.every", BASE, "check.every=10", NULL},
    {"check.max_velocity", BASE, "check.max_velocity=0.3", NULL},
    {"check.hang", BASE, "check.hang=none", NULL},
    {"output", BASE, "output=none", NULL},
    {"output.log.every", BASE, "output.log.every=3", NULL},
    {"output.log.wall_time", BASE, "output.log.wall_time=30 s", NULL},
    {"output.series.*.scalar",
     BASE "scalars: {a: {schmidt: 1}, b: {schmidt: 1}}\n"
          "output: {series: {s: {every: 10, of: scalar, scalar: a}}}\n",
     "output.series.s.scalar=b", NULL},
#define HEAT(place)                                                                                \
    "domain: {cells: [16, 16, 16]}\nfluid: {viscosity: 0.1}\nrun: {steps: 10}\n"                   \
    "scalars: {t: {kind: heat, prandtl: 0.7}}\n"                                                   \
    "faces: {x: outflow, y: slip, z: slip}\n"                                                      \
    "patches: {a: {face: xmin, rectangle: {from: [1, 1], to: [3, 3]}, pressure: {}},\n"            \
    "          b: {face: xmin, rectangle: {from: [5, 5], to: [9, 9]}, pressure: {}}}\n"            \
    "output: {series: {s: {every: 10, of: heat, scalar: t, length: 9, difference: 2, " place       \
    "}}}\n"
    {"output.series.*.face", HEAT("face: xmin"), "output.series.s.face=xmax", NULL},
    {"output.series.*.patch", HEAT("patch: a"), "output.series.s.patch=b", NULL},
    {"output.series.*.difference", HEAT("patch: a"), "output.series.s.difference=3", NULL},
    {"output.series.*.every", OUTPUT, "output.series.flow.every=11", NULL},
    {"output.series.*.of", OUTPUT, "output.series.flow.of=residual", NULL},
    {"output.series.*.point", OUTPUT, "output.series.probe.point=[1, 1, 2]", NULL},
    {"output.series.*.from", OUTPUT, "output.series.line.from=[0, 0, 2]", NULL},
    {"output.series.*.to", OUTPUT, "output.series.line.to=[0, 0, 2]", NULL},
    {"output.series.*.points", OUTPUT, "output.series.line.points=5", NULL},
    {"output.series.*.axis", OUTPUT, "output.series.rate.axis=y", NULL},
    {"output.series.*.at", OUTPUT, "output.series.rate.at=3", NULL},
    {"output.series.*.second", OUTPUT, "output.series.drop.second=3", NULL},
    {"output.series.*.density",
     "domain: {cells: [16, 16, 16]}\nfaces: {x: outflow, y: wall, z: periodic}\nrun: {steps: "
     "9}\n" FLUID "bodies: {a: {shape: {sphere: {center: [8, 8, 8], radius: 2}}}}\n"
     "output: {series: {drag: {every: 1, of: forces, body: a, area: 12}}}\n",
     "output.series.drag.density=xmax", NULL},
    {"output.series.*.statistics", OUTPUT, "output.series.probe.statistics={from: 1}", NULL},
    {"output.series.*.statistics.from", OUTPUT, "output.series.flow.statistics={from: 2}", NULL},
    {"output.series.*.body", DRAG "}}}\n", "output.series.drag.body=b", NULL},
    {"output.series.*.area", DRAG ", area: 12}}}\n", "output.series.drag.area=13", NULL},
    {"output.series.*.velocity", DRAG ", area: 12}}}\n", "output.series.drag.velocity=0.06", NULL},
    {"output.series.*.length", DRAG ", area: 12}}}\n", "output.series.drag.length=5", NULL},
    {"output.series.*.about", DRAG ", about: [4, 4, 2]}}}\n", "output.series.drag.about=[4, 4, 3]",
     NULL},
    {"output.fields.*.every", OUTPUT, "output.fields.main.every=11", NULL},
    {"output.fields.*.of", OUTPUT, "output.fields.main.of=[vorticity, tags]", NULL},
    {"output.fields.*.region", OUTPUT, "output.fields.main.region=all", NULL},
    {"output.fields.*.region.from", OUTPUT, "output.fields.main.region.from=[1, 1, 1]", NULL},
    {"output.fields.*.region.to", OUTPUT, "output.fields.main.region.to=[9, 9, 9]", NULL},
    {"output.fields.*.stride", OUTPUT, "output.fields.main.stride=2", NULL},
    {"output.fields.*.levels", OUTPUT, "output.fields.main.levels=0", NULL},
    {"output.fields.*.precision", OUTPUT, "output.fields.main.precision=fp64", NULL},
    {"output.averages.*.every", OUTPUT, "output.averages.mean.every=11", NULL},
    {"output.averages.*.of", OUTPUT, "output.averages.mean.of=[stress]", NULL},
    {"output.averages.*.from", OUTPUT, "output.averages.mean.from=100", NULL},
    {"output.averages.*.to", OUTPUT, "output.averages.mean.to=100", NULL},
    {"output.averages.*.region", OUTPUT, "output.averages.mean.region=all", NULL},
    {"output.averages.*.region.from", OUTPUT, "output.averages.mean.region.from=[1, 1, 1]", NULL},
    {"output.averages.*.region.to", OUTPUT, "output.averages.mean.region.to=[9, 9, 9]", NULL},
    {"output.averages.*.levels", OUTPUT, "output.averages.mean.levels=0", NULL},
    {"output.averages.*.precision", OUTPUT, "output.averages.mean.precision=fp64", NULL},
    {"output.surfaces.*.every", SKIN, "output.surfaces.s.every=11", NULL},
    {"output.surfaces.*.body", SKIN, "output.surfaces.s.body=b", NULL},
    {"output.surfaces.*.of", SKIN, "output.surfaces.s.of=shear_stress", NULL},
    {"output.surfaces.*.precision", SKIN, "output.surfaces.s.precision=fp64", NULL},
    {"output.images.*.every", OUTPUT, "output.images.mid.every=11", NULL},
    {"output.images.*.of", OUTPUT, "output.images.mid.of=velocity_x", NULL},
    {"output.images.*.axis", OUTPUT, "output.images.mid.axis=x", NULL},
    {"output.images.*.at", OUTPUT, "output.images.mid.at=0", NULL},
    {"output.images.*.range", OUTPUT, "output.images.mid.range=[0, 0.2]", NULL},
    {"output.images.*.unit", WARM("") "output: {images: {mid: {every: 10, of: t}}}\n",
     "output.images.mid.unit=degC", NULL},
};

/* The keys of openings, below faces.<face> and below patches.*, each with what it says before and
 * after. There are the files of setup_files. */
static const struct opening_change {
    const char *row, *before, *after, *path;
} openings[] = {
    {"slip", "wall: {}", "slip: {}", "" /* a word where a face has no keys */},
    {"outflow", "wall: {}", "outflow: {}", ""},
    {"wall.velocity", "wall: {}", "wall: {velocity: [0, 0.1, 0]}", NULL},
#define VELOCITY(more) "velocity: {value: [0.05, 0, 0]" more "}"
    {"velocity.value", VELOCITY(""), "velocity: {value: [0.06, 0, 0]}", NULL},
#define PROFILES_OF(name, M)                                                                       \
    {name ".profile", M(""), M(", profile: duct"), NULL},                                          \
        {name ".profile.power", M(", profile: {power: 7}"), M(", profile: {power: 8}"), NULL},     \
        {name ".profile.file", M(", profile: {file: a.csv}"), M(", profile: {file: same.csv}"),    \
         NULL},                                                                                    \
        {name ".profile.checksum", M(", profile: {file: a.csv}"), M(", profile: {file: b.csv}"),   \
         NULL},                                                                                    \
    {                                                                                              \
        name ".profile.dataset", M(", profile: {file: a.h5}"),                                     \
            M(", profile: {file: a.h5, dataset: /again}"), NULL                                    \
    }
    PROFILES_OF("velocity", VELOCITY),
#define HEIGHT(more) VELOCITY(", profile: {height: {" more "}}")
#define RADIUS(more) VELOCITY(", profile: {radius: {" more "}}")
#define LOG(more) VELOCITY(", profile: {log: {axis: z, roughness: 0.1, reference: 3" more "}}")
#define SHEAR(more) VELOCITY(", profile: {shear: {axis: z, " more "}}")
    {"velocity.profile.height", HEIGHT("file: t.csv, axis: z"), VELOCITY(""), ".velocity.profile"},
    {"velocity.profile.height.file", HEIGHT("file: t.csv, axis: z"),
     HEIGHT("file: t2.csv, axis: z"), NULL},
    {"velocity.profile.height.checksum", HEIGHT("file: t.csv, axis: z"),
     HEIGHT("file: u.csv, axis: z"), NULL},
    {"velocity.profile.height.length", HEIGHT("file: t.csv, axis: z"),
     HEIGHT("file: t.csv, axis: z, length: 2"), NULL},
    {"velocity.profile.height.axis", HEIGHT("file: t.csv, axis: z"), HEIGHT("file: t.csv, axis: y"),
     NULL},
    {"velocity.profile.height.from", HEIGHT("file: t.csv, axis: z"),
     HEIGHT("file: t.csv, axis: z, from: 0.5"), NULL},
    {"velocity.profile.radius", RADIUS("file: t.csv"), VELOCITY(""), ".velocity.profile"},
    {"velocity.profile.radius.file", RADIUS("file: t.csv"), RADIUS("file: t2.csv"), NULL},
    {"velocity.profile.radius.checksum", RADIUS("file: t.csv"), RADIUS("file: u.csv"), NULL},
    {"velocity.profile.radius.length", RADIUS("file: t.csv"), RADIUS("file: t.csv, length: 2"),
     NULL},
    {"velocity.profile.log", LOG(""), VELOCITY(""), ".velocity.profile"},
    {"velocity.profile.log.axis", LOG(""),
     VELOCITY(", profile: {log: {axis: y, roughness: 0.1, reference: 3}}"), NULL},
    {"velocity.profile.log.roughness", LOG(""),
     VELOCITY(", profile: {log: {axis: z, roughness: 0.2, reference: 3}}"), NULL},
    {"velocity.profile.log.reference", LOG(""),
     VELOCITY(", profile: {log: {axis: z, roughness: 0.1, reference: 4}}"), NULL},
    {"velocity.profile.log.from", LOG(""), LOG(", from: 1"), NULL},
    {"velocity.profile.shear", SHEAR("exponent: 0.1, reference: 3"), VELOCITY(""),
     ".velocity.profile"},
    {"velocity.profile.shear.exponent", SHEAR("exponent: 0.1, reference: 3"),
     SHEAR("exponent: 0.2, reference: 3"), NULL},
    {"velocity.profile.shear.reference", SHEAR("exponent: 0.1, reference: 3"),
     SHEAR("exponent: 0.1, reference: 4"), NULL},
    {"velocity.profile.shear.axis", SHEAR("exponent: 0.1, reference: 3"),
     VELOCITY(", profile: {shear: {axis: y, exponent: 0.1, reference: 3}}"), NULL},
    {"velocity.profile.shear.from", SHEAR("exponent: 0.1, reference: 3"),
     SHEAR("exponent: 0.1, reference: 3, from: 1"), NULL},
    {"velocity.rule", VELOCITY(""), VELOCITY(", rule: links"), NULL},
#define PRESSURE(more) "pressure: {density: 1.01" more "}"
    {"pressure.density", PRESSURE(""), "pressure: {density: 1}", NULL},
    {"pressure", "pressure: 0.001", "pressure: 0.002", ".pressure.density"},
    {"pressure.value", "pressure: {value: 0.001}", "pressure: {value: 0.002}", ".pressure.density"},
    {"pressure.rule", PRESSURE(""), PRESSURE(", rule: links"), NULL},
    {"pressure.share", PRESSURE(", share: 0.3"), PRESSURE(", share: 0.4"), NULL},
    {"pressure.share_time", PRESSURE(", share: 0.3"), PRESSURE(", share: 0.3, share_time: 99"),
     NULL},
    {"nonreflecting.share", "nonreflecting: {share: 0.3}", "nonreflecting: {share: 0.4}", NULL},
    {"nonreflecting.share_time", "nonreflecting: {share: 0.3}",
     "nonreflecting: {share: 0.3, share_time: 99}", NULL},
    {"pressure.velocity", PRESSURE(""), PRESSURE(", velocity: [0, 0.01, 0]"), NULL},
#define ALONG(more) PRESSURE(", velocity: [0, 0.01, 0]" more)
    PROFILES_OF("pressure", ALONG),
    {"nonreflecting.density", "nonreflecting: {}", "nonreflecting: {density: 1.01}", NULL},
    {"nonreflecting.pressure", "nonreflecting: {pressure: 0.001}", "nonreflecting: {}",
     ".nonreflecting.density"},
    {"nonreflecting.reflection", "nonreflecting: {}", "nonreflecting: {reflection: 0.01}", NULL},
    {"nonreflecting.velocity", "nonreflecting: {}", "nonreflecting: {velocity: [0, 0.01, 0.02]}",
     NULL},
    {"outflow.density", "outflow: {}", "outflow: {density: 1.01}", NULL},
    {"outflow.pressure", "outflow: {pressure: 0.001}", "outflow: {}", ".outflow.density"},
    {"outflow.reflection", "outflow: {}", "outflow: {reflection: 0.01}", NULL},
#define SIGNALS_OF(name, M)                                                                        \
    {name ".ramp", M(", ramp: 10"), M(", ramp: 11"), NULL},                                        \
        {name ".sine.period", M(", sine: {period: 10}"), M(", sine: {period: 11}"), NULL},         \
        {name ".sine.phase", M(", sine: {period: 10}"), M(", sine: {period: 10, phase: 0.25}"),    \
         NULL},                                                                                    \
        {name ".sine.mean", M(", sine: {period: 10}"), M(", sine: {period: 10, mean: 0.25}"),      \
         NULL},                                                                                    \
        {name ".sine.amplitude", M(", sine: {period: 10}"),                                        \
         M(", sine: {period: 10, amplitude: 0.25}"), NULL},                                        \
        {name ".table.file", M(", table: {file: t.csv}"), M(", table: {file: t2.csv}"), NULL},     \
        {name ".table.time", M(", table: {file: t.csv}"), M(", table: {file: t.csv, time: 2}"),    \
         NULL},                                                                                    \
        {name ".table.repeat", M(", table: {file: beat.csv}"),                                     \
         M(", table: {file: beat.csv, repeat: true}"), NULL},                                      \
        {name ".steer.name", M(", steer: {name: a}"), M(", steer: {name: b}"), NULL},              \
        {name ".steer.start", M(", steer: {name: a}"), M(", steer: {name: a, start: 0.5}"), NULL}, \
        {name ".steer.min", M(", steer: {name: a}"), M(", steer: {name: a, min: 0.5}"), NULL},     \
        {name ".steer.max", M(", steer: {name: a}"), M(", steer: {name: a, max: 2}"), NULL},       \
    {                                                                                              \
        name ".table.checksum", M(", table: {file: t.csv}"), M(", table: {file: u.csv}"), NULL     \
    }
    SIGNALS_OF("velocity", VELOCITY),
    SIGNALS_OF("pressure", PRESSURE),
};

/* The two places where an opening may be: its text, the row above it and the path that a message
 * names. */
static const struct {
    const char *format, *row, *path;
} opening_places[] = {
    {"domain: {cells: [16, 4, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 10}\n"
     "faces: {xmin: {%s}, xmax: pressure, y: wall, zmin: wall, zmax: pressure}\n",
     "faces.<face>", "faces.xmin"},
    {"domain: {cells: [16, 4, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 10}\n"
     "faces: {xmin: wall, xmax: pressure, y: wall, zmin: wall, zmax: pressure}\n"
     "patches: {p: {face: xmin, rectangle: {from: [1, 1], to: [3, 3]}, %s}}\n",
     "patches.*", "patches.p"},
};

/* What a scalar t meets at walls, openings, bodies and caps: changes as above. */
enum { AT_WALL = 1, AT_OPENING = 2, AT_BODY = 4, AT_CAP = 8 };
static const struct met_change {
    int where;
    const char *row, *before, *after, *path;
} met[] = {
#define T_VALUE(more) "{value: 310" more "}"
    {AT_WALL | AT_BODY, "", "adiabatic", T_VALUE(""), NULL},
    {AT_OPENING | AT_CAP, "", "outflow", T_VALUE(""), NULL},
    {AT_WALL | AT_OPENING | AT_BODY | AT_CAP, ".value", T_VALUE(""), "{value: 311}", NULL},
    {AT_WALL | AT_BODY, ".flux", "{flux: 1e-3}", "{flux: 2e-3}", NULL},
#define TRANSFER(...) "{transfer: {" __VA_ARGS__ "}}"
    {AT_WALL | AT_BODY, ".transfer.coefficient", TRANSFER("coefficient: 0.1, outside: 290"),
     TRANSFER("coefficient: 0.2, outside: 290"), NULL},
    {AT_WALL | AT_BODY, ".transfer.resistance", TRANSFER("resistance: 10, outside: 290"),
     TRANSFER("resistance: 20, outside: 290"), ".transfer.coefficient"},
    {AT_WALL | AT_BODY, ".transfer.outside", TRANSFER("coefficient: 0.1, outside: 290"),
     TRANSFER("coefficient: 0.1, outside: 291"), NULL},
#define CONDUCT(more) "{conduct: {conductivity: 0.1" more "}}"
    {AT_BODY, ".conduct.conductivity", CONDUCT(""), CONDUCT("5"), NULL},
    {AT_BODY, ".conduct.capacity", CONDUCT(""), CONDUCT(", capacity: 2"), NULL},
    {AT_BODY, ".conduct.source", CONDUCT(""), CONDUCT(", source: 1e-6"), NULL},
#define EVERYWHERE AT_WALL | AT_OPENING | AT_BODY | AT_CAP
    {EVERYWHERE, ".ramp", T_VALUE(", ramp: 10"), T_VALUE(", ramp: 11"), NULL},
    {EVERYWHERE, ".sine.period", T_VALUE(", sine: {period: 10}"), T_VALUE(", sine: {period: 11}"),
     NULL},
    {EVERYWHERE, ".sine.phase", T_VALUE(", sine: {period: 10}"),
     T_VALUE(", sine: {period: 10, phase: 0.25}"), NULL},
    {EVERYWHERE, ".sine.mean", T_VALUE(", sine: {period: 10}"),
     T_VALUE(", sine: {period: 10, mean: 0.25}"), NULL},
    {EVERYWHERE, ".sine.amplitude", T_VALUE(", sine: {period: 10}"),
     T_VALUE(", sine: {period: 10, amplitude: 0.25}"), NULL},
    {EVERYWHERE, ".table.file", T_VALUE(", table: {file: t.csv}"),
     T_VALUE(", table: {file: t2.csv}"), NULL},
    {EVERYWHERE, ".table.time", T_VALUE(", table: {file: t.csv}"),
     T_VALUE(", table: {file: t.csv, time: 2}"), NULL},
    {EVERYWHERE, ".table.repeat", T_VALUE(", table: {file: beat.csv}"),
     T_VALUE(", table: {file: beat.csv, repeat: true}"), NULL},
    {EVERYWHERE, ".steer.name", T_VALUE(", steer: {name: a}"), T_VALUE(", steer: {name: b}"), NULL},
    {EVERYWHERE, ".steer.start", T_VALUE(", steer: {name: a}"),
     T_VALUE(", steer: {name: a, start: 0.5}"), NULL},
    {EVERYWHERE, ".steer.min", T_VALUE(", steer: {name: a}"),
     T_VALUE(", steer: {name: a, min: 0.5}"), NULL},
    {EVERYWHERE, ".steer.max", T_VALUE(", steer: {name: a}"), T_VALUE(", steer: {name: a, max: 2}"),
     NULL},
#define T_HEIGHT(...) "{value: {height: {" __VA_ARGS__ "}}}"
#define T_RADIUS(...) "{value: {radius: {" __VA_ARGS__ "}}}"
#define AT_FACE AT_WALL | AT_OPENING
    {AT_FACE, ".value", T_HEIGHT("file: t.csv, axis: z"), T_VALUE(""), NULL},
    {AT_FACE, ".value.height", T_HEIGHT("file: t.csv, axis: z"), T_RADIUS("file: t.csv"), ".value"},
    {AT_FACE, ".value.height.file", T_HEIGHT("file: t.csv, axis: z"),
     T_HEIGHT("file: t2.csv, axis: z"), NULL},
    {AT_FACE, ".value.height.checksum", T_HEIGHT("file: t.csv, axis: z"),
     T_HEIGHT("file: u.csv, axis: z"), NULL},
    {AT_FACE, ".value.height.length", T_HEIGHT("file: t.csv, axis: z"),
     T_HEIGHT("file: t.csv, axis: z, length: 2"), NULL},
    {AT_FACE, ".value.height.axis", T_HEIGHT("file: t.csv, axis: z"),
     T_HEIGHT("file: t.csv, axis: y"), NULL},
    {AT_FACE, ".value.height.from", T_HEIGHT("file: t.csv, axis: z"),
     T_HEIGHT("file: t.csv, axis: z, from: 1"), NULL},
    {AT_FACE, ".value.radius", T_RADIUS("file: t.csv"), T_HEIGHT("file: t.csv, axis: z"), ".value"},
    {AT_FACE, ".value.radius.checksum", T_RADIUS("file: t.csv"), T_RADIUS("file: u.csv"), NULL},
    {AT_FACE, ".value.unit", "{value: {radius: {file: t.csv}, unit: K}}",
     "{value: {radius: {file: t.csv}, unit: degC}}", NULL},
    {EVERYWHERE, ".table.checksum", T_VALUE(", table: {file: t.csv}"),
     T_VALUE(", table: {file: u.csv}"), NULL},
};

#define MET                                                                                        \
    "domain: {cells: [16, 4, 4]}\nfluid: {viscosity: 0.1}\nrun: {steps: 10}\n"                     \
    "scalars: {t: {kind: heat, diffusivity: 0.1, reference: 300.15}}\n"
#define MET_FACE(kind) MET "faces: {xmin: {" kind "}, xmax: pressure, y: wall, z: wall}\n"
#define MET_PATCH(kind)                                                                            \
    MET "faces: {xmin: wall, xmax: pressure, y: wall, z: wall}\n"                                  \
        "patches: {p: {face: xmin, rectangle: {from: [1, 1], to: [3, 3]}, " kind "}}\n"
#define MET_CAP(kind)                                                                              \
    BASE "scalars: {t: {kind: heat, diffusivity: 0.1, reference: 300.15}}\n"                       \
         "bodies: {a: {mesh: {file: t.stl, scale: 12, center: [8, 8, 8], fluid: inside}, caps: "   \
         "{in: {center: [4, 4, 2], " kind "}}}}\n"
static const struct {
    int where;
    const char *format, *row, *path;
} met_places[] = {
#define AT_KIND(bit, kind, text)                                                                   \
    {bit, MET_FACE(text), "faces.<face>." kind ".scalars.*", "faces.xmin." kind ".scalars.t"},     \
    {                                                                                              \
        bit, MET_PATCH(text), "patches.*." kind ".scalars.*", "patches.p." kind ".scalars.t"       \
    }
    AT_KIND(AT_WALL, "wall", "wall: {scalars: {t: %s}}"),
    AT_KIND(AT_OPENING, "velocity", "velocity: {value: [-0.01, 0, 0], scalars: {t: %s}}"),
    AT_KIND(AT_OPENING, "pressure", "pressure: {density: 1.01, scalars: {t: %s}}"),
    {AT_BODY,
     MET "faces: {x: periodic, y: wall, z: wall}\nbodies: {a: {shape: {box: {from: [1, 1, 1], to: "
         "[3, 3, 3]}}, scalars: {t: %s}}}\n",
     "bodies.*.scalars.*", "bodies.a.scalars.t"},
    {AT_BODY,
     MET
     "faces: {x: periodic, y: wall, z: wall}\nbodies: {a: {image: {file: a.raw, size: [4, 4, 4], "
     "solid: [1, 2]}, labels: {2: {scalars: {t: %s}}}}}\n",
     "bodies.*.labels.*.scalars.*", "bodies.a.labels.2.scalars.t"},
    {AT_CAP, MET_CAP("velocity: {mean: -0.01, scalars: {t: %s}}"),
     "bodies.*.caps.*.velocity.scalars.*", "bodies.a.caps.in.velocity.scalars.t"},
    {AT_CAP, MET_CAP("pressure: {density: 1.01, scalars: {t: %s}}"),
     "bodies.*.caps.*.pressure.scalars.*", "bodies.a.caps.in.pressure.scalars.t"},
};

static void write_file(const char *name, const void *bytes, size_t length)
{
    FILE *file = fopen(scratch_path(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static void write_mask(const char *name, unsigned inside)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = 4, .height = 4, .format = PNG_FORMAT_GRAY};
    unsigned char grey[16];
    for (unsigned i = 0; i < 16; i++)
        grey[i] = i == inside ? 255 : 0;
    assert_true(png_image_write_to_file(&image, scratch_path(name), 0, grey, 4, NULL));
}

/* The same labels 0, 1, 2 in many files, and others in b.raw. */
static int write_voxels(void)
{
    char plain[3 + 64] = "abc", wide[128] = "", big[128] = "", other[64];
    const hsize_t size[3] = {4, 4, 4};
    for (int i = 0; i < 64; i++)
        plain[3 + i] = wide[2 * i] = big[2 * i + 1] = (char)(i % 3);
    memcpy(other, plain + 3, sizeof other);
    other[17] ^= 1;
    write_file("a.raw", plain + 3, 64);
    write_file("a2.raw", plain + 3, 64);
    write_file("part.raw", plain + 3, 48);
    write_file("head.raw", plain, 67);
    write_file("wide.raw", wide, sizeof wide);
    write_file("big.raw", big, sizeof big);
    write_file("b.raw", other, sizeof other);
    const hid_t file = H5Fcreate(scratch_path("a.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(3, size, NULL);
    const hid_t set =
        H5Dcreate2(file, "labels", H5T_NATIVE_UINT8, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, plain + 3) < 0)
        return -1;
    H5Dclose(set);
    H5Sclose(space);
    return H5Fclose(file) < 0 ? -1 : 0;
}

static int setup_files(void **state)
{
    double factors[16];
    const hsize_t size[2] = {4, 4};
    if (scratch_setup(state))
        return -1;
    write_text("a.csv", "1 1 1 1\n1 1 1 1\n1 1 1 1\n1 1 1 1\n");
    write_text("same.csv", "1,1,1,1\n1,1,1,1\n1,1,1.0,1\n1,1,1,1 # the same\n");
    write_text("b.csv", "1 1 1 1\n1 1 1 1\n1 1 1 1\n1 1 1 0.5\n");
    write_text("t.csv", "0 0\n10 1\n");
    write_text("t2.csv", "0,0\n10,1\n");
    write_text("u.csv", "0 0\n10 0.9\n");
    write_text("beat.csv", "0 1\n5 0\n10 1\n");
#define FACE(a, b, c)                                                                              \
    "facet normal 0 0 0 outer loop vertex " a " vertex " b " vertex " c " endloop endfacet\n"
#define TETRAHEDRON(top)                                                                           \
    "solid\n" FACE("0 0 0", "0 1 0", "1 0 0") FACE("0 0 0", "1 0 0", top)                          \
        FACE("0 0 0", top, "0 1 0") FACE("1 0 0", "0 1 0", top) "endsolid\n"
    write_text("t.stl", TETRAHEDRON("0 0 1"));
    write_text("t2.stl", TETRAHEDRON("0 -0 1.0"));
    write_text("u.stl", TETRAHEDRON("0 0 2"));
    write_mask("m.png", 5);
    write_mask("m2.png", 5);
    write_mask("n.png", 6);
    if (write_voxels() < 0)
        return -1;
    for (int i = 0; i < 16; i++)
        factors[i] = i / 16.0;
    const hid_t file = H5Fopen(scratch_path("a.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(2, size, NULL);
    for (int k = 0; k < 2; k++) {
        const hid_t set = H5Dcreate2(file, k ? "again" : "profile", H5T_NATIVE_DOUBLE, space,
                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, factors) < 0)
            return -1;
        H5Dclose(set);
    }
    H5Sclose(space);
    return H5Fclose(file) < 0 ? -1 : 0;
}

/* From `before` to `now` and back: what is said of `row` is what the table says. */
static void check_change(const char *row, const char *path, const char *before, const char *now)
{
    const struct key *const key = keys_row(row);
    if (!key)
        fail_msg("%s is no key", row);
    if (!strcmp(before, now))
        fail_msg("%s changes nothing", row);
    for (int back = 0; back < 2; back++) {
        char start[320];
        const enum status s = back ? same(now, before) : same(before, now);
        if (s != (keys_restart(key) == RESTART_FREE ? STATUS_OK : STATUS_USAGE))
            fail_msg("%s: status %d, %s", row, s, said);
        if (!s) {
            assert_string_equal(said, "");
            continue;
        }
        snprintf(start, sizeof start, "tagflow: %s", path);
        must_say(start);
        must_say(whose);
        must_say("it may not change on a restart");
    }
}

static void keys_of_openings_change_as_the_table_says(void **state)
{
    (void)state;
    for (size_t p = 0; p < LENGTH(opening_places); p++)
        for (size_t i = 0; i < LENGTH(openings); i++) {
            char first[1024], second[1024], path[256];
            const struct opening_change *const o = &openings[i];
            snprintf(first, sizeof first, opening_places[p].format, o->before);
            snprintf(second, sizeof second, opening_places[p].format, o->after);
            snprintf(path, sizeof path, "%s%s%s", opening_places[p].path, o->path ? "" : ".",
                     o->path ? o->path : o->row);
            char *before = resolved(first, NULL), *now = resolved(second, NULL);
            struct key_path row = keys_below(opening_places[p].row, o->row);
            if (!keys_row(row.text)) /* a row of another map (struct key.also) */
                assert_true(keys_match(path, row.text));
            check_change(row.text, path, before, now);
            free(before);
            free(now);
        }
}

static void keys_of_scalars_change_as_the_table_says(void **state)
{
    (void)state;
    for (size_t p = 0; p < LENGTH(met_places); p++)
        for (size_t i = 0; i < LENGTH(met); i++) {
            const struct met_change *const m = &met[i];
            char first[1024], second[1024], path[256], row[KEYS_PATH];
            if (!(m->where & met_places[p].where))
                continue;
            snprintf(first, sizeof first, met_places[p].format, m->before);
            snprintf(second, sizeof second, met_places[p].format, m->after);
            snprintf(path, sizeof path, "%s%s", met_places[p].path, m->path ? m->path : m->row);
            snprintf(row, sizeof row, "%s%s", met_places[p].row, m->row);
            char *before = resolved(first, NULL), *now = resolved(second, NULL);
            if (!keys_row(row)) /* a row of another map (struct key.also) */
                assert_true(keys_match(path, row));
            check_change(row, path, before, now);
            free(before);
            free(now);
        }
}

static void every_key_changes_as_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(changes); i++) {
        const struct change *const change = &changes[i];
        const struct key *const key = keys_row(change->row);
        if (!key)
            fail_msg("%s is no key", change->row);
        char *before = resolved(change->text, NULL), *now = resolved(change->text, change->set);
        if (!strcmp(before, now))
            fail_msg("%s by %s changes nothing", change->row, change->set);
        /* there and back: a restart may undo what it may do */
        for (int back = 0; back < 2; back++) {
            const enum status s = back ? same(now, before) : same(before, now);
            if (s != (keys_restart(key) == RESTART_FREE ? STATUS_OK : STATUS_USAGE))
                fail_msg("%s by %s: status %d, %s", change->row, change->set, s, said);
            if (!s) {
                assert_string_equal(said, "");
                continue;
            }
            char start[256];
            snprintf(start, sizeof start, "tagflow: %s is ",
                     change->path ? change->path : change->row);
            must_say(start);
            must_say(whose);
            must_say("it may not change on a restart");
        }
        free(before);
        free(now);
    }
}

/* What makes the flow may not change; how long, on what, and what is written may. */
static void the_table_marks_what_makes_the_flow(void **state)
{
    static const char *const may[] = {"run", "checkpoint", "check", "output"};
    (void)state;
    for (const struct key *k = key_table; k->path; k++) {
        const char *last = strrchr(k->path, '.');
        bool expected =
            !strcmp(k->path, "fluid.velocity") || !strcmp(k->path, "fluid.length") ||
            /* where numbers are from, not what they are */
            (last && (!strcmp(last, ".file") || !strcmp(last, ".dataset"))) ||
            /* the level that follows from them may not */
            !strcmp(k->path, "refine.*.cells_across") || !strcmp(k->path, "refine.*.y_plus") ||
            !strcmp(k->path, "initial.from") || !strcmp(k->path, "bodies.*.image.size") ||
            !strcmp(k->path, "bodies.*.image.type") || !strcmp(k->path, "bodies.*.image.order") ||
            !strcmp(k->path, "bodies.*.image.skip");
        for (size_t i = 0; i < LENGTH(may); i++)
            expected = expected || (!strncmp(k->path, may[i], strlen(may[i])) &&
                                    strchr(".", k->path[strlen(may[i])]));
        if ((keys_restart(k) == RESTART_FREE) != expected)
            fail_msg("%s: %s change on a restart", k->path, expected ? "should" : "must not");
    }
}

/* No key can be added to the table without a change above. */
static void every_key_is_tried(void **state)
{
    (void)state;
    for (const struct key *k = key_table; k->path; k++) {
        bool tried = k->type == KEY_MAP || k->type == KEY_NAMES;
        for (size_t i = 0; i < LENGTH(changes); i++)
            tried = tried || !strcmp(changes[i].row, k->path);
        /* read by the same function as those of openings, which are tried with files */
        tried = tried || !strncmp(k->path, "force.table.", 12);
        for (size_t p = 0; p < LENGTH(opening_places); p++)
            for (size_t i = 0; i < LENGTH(openings); i++)
                tried = tried ||
                        !strcmp(keys_below(opening_places[p].row, openings[i].row).text, k->path);
        for (size_t p = 0; p < LENGTH(met_places); p++)
            for (size_t i = 0; i < LENGTH(met); i++) {
                char row[KEYS_PATH];
                snprintf(row, sizeof row, "%s%s", met_places[p].row, met[i].row);
                tried = tried || !strcmp(row, k->path);
            }
        if (!tried)
            fail_msg("%s is in no test of restarts", k->path);
    }
}

/* The case of the run before, as version 1 of the physics would have resolved it. */
static char *of_version_1(const char *text, const char *set)
{
    char *const before = resolved(text, set), *const version = strstr(before, ", physics ");
    assert_non_null(version);
    version[strlen(", physics ")] = '1';
    return before;
}

/* A folder that an older version has finished is of the same case all the same. */
static void what_follows_from_the_version_is_not_compared_with_an_older_one(void **state)
{
#define OUTLET                                                                                     \
    "domain: {cells: [16, 16, 16]}\nfluid: {viscosity: 0.1}\n"                                     \
    "faces: {xmin: {velocity: {value: [0.1, 0, 0]}}, xmax: {nonreflecting: {density: 1}}, y: "     \
    "periodic, z: wall}\nrun: {steps: 10}\n"
    static const struct {
        const char *set, *said; /* NULL: nothing */
    } cases[] = {
        {"run.steps=7", NULL},
        {"solver.collision=cumulant", NULL},
        {"solver.magic=0.2", NULL},
        {"faces.xmax.nonreflecting.reflection=0.5", NULL},
        {"solver.storage=fp64", "solver.storage is fp64, but "},
        {"domain.cells=[16, 16, 20]", "domain.cells is [16, 16, 20], but "},
        {"fluid.viscosity=0.2", "fluid.viscosity is 0.2"},
        {"faces.xmin={velocity: {value: [0.05, 0, 0]}}", "faces.xmin.velocity.value is "},
        {"faces.xmax={outflow: {}}", "faces.xmax.nonreflecting.density is not given, "},
        {"faces.y=wall", "faces.ymin is {wall: "},
        {"bodies={ball: {shape: {sphere: {center: [8, 8, 8], radius: 2}}}}",
         "bodies.ball.shape.sphere.center is "},
    };
    (void)state;
    char *const before = of_version_1(OUTLET, NULL);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *const now = resolved(OUTLET, cases[i].set);
        const enum status s = same(before, now);
        if (s != (cases[i].said ? STATUS_USAGE : STATUS_OK))
            fail_msg("%s: status %d, %s", cases[i].set, s, said);
        if (cases[i].said)
            must_say(cases[i].said);
        free(now);
    }
    free(before);
}

#define UNCHANGED                                                                                  \
    "(it may not change on a restart; --overwrite to begin anew, or --output DIR for another "     \
    "folder)\n"

static void the_message_says_both_values(void **state)
{
    static const struct {
        const char *text, *set, *message;
    } cases[] = {
        {BASE, "solver.collision=bgk",
         "tagflow: solver.collision is bgk, but checkpoints/step_0000001000.h5 was made with "
         "trt " UNCHANGED},
        {BASE, "domain.cells=[16, 16, 17]",
         "tagflow: domain.cells is [16, 16, 17], but checkpoints/step_0000001000.h5 was made with "
         "[16, 16, 16] " UNCHANGED},
        {BASE, "faces={x: wall, y: wall, z: periodic}",
         "tagflow: faces.xmin is {wall: {velocity: [0, 0, 0]}}, but checkpoints/step_0000001000.h5 "
         "was made with periodic " UNCHANGED},
        {BASE, "units={dx: 5 mm, dt: 1 ms}",
         "tagflow: units.dx is 0.005 m, but checkpoints/step_0000001000.h5 was made without "
         "it " UNCHANGED},
        {BASE, "fluid.viscosity=0.2",
         "tagflow: fluid.viscosity is 0.20000000000000001, but checkpoints/step_0000001000.h5 was "
         "made with 0.10000000000000001 " UNCHANGED},
        {BASE, "fluid={reynolds: 4, velocity: 0.05, length: 16}",
         "tagflow: fluid.viscosity is 0.20000000000000001 by fluid.reynolds 4, but "
         "checkpoints/step_0000001000.h5 was made with 0.10000000000000001 " UNCHANGED},
        {BASE "initial: {flow: uniform, velocity: [0, 0, 0.1]}\n", "initial={flow: rest}",
         "tagflow: initial.flow is rest, but checkpoints/step_0000001000.h5 was made with "
         "uniform " UNCHANGED},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *before = resolved(cases[i].text, NULL), *now = resolved(cases[i].text, cases[i].set);
        assert_int_equal(same(before, now), STATUS_USAGE);
        assert_string_equal(said, cases[i].message);
        free(before);
        free(now);
    }
    char *before = resolved(UNITS BASE, NULL), *now = resolved(BASE, NULL);
    assert_int_equal(same(before, now), STATUS_USAGE);
    must_say("units.dx is not given, but checkpoints/step_0000001000.h5 was made with 0.005 m");
    free(before);
    free(now);
}

/* Where parts of a face or regions overlap the later one counts. */
static void parts_and_regions_keep_their_order(void **state)
{
    static const char *const texts[][2] = {
        {BOX "regions: {a: {box: all, viscosity: 0.2}, b: {box: all, viscosity: 0.3}}\n",
         BOX "regions: {b: {box: all, viscosity: 0.3}, a: {box: all, viscosity: 0.2}}\n"},
        {BASE "patches: {a: {face: ymin, disc: {center: [2, 2], radius: 2}, outflow: {}}, b: "
              "{face: ymin, disc: {center: [3, 2], radius: 2}, slip: {}}}\n",
         BASE "patches: {b: {face: ymin, disc: {center: [3, 2], radius: 2}, slip: {}}, a: "
              "{face: ymin, disc: {center: [2, 2], radius: 2}, outflow: {}}}\n"}};
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        char *before = resolved(texts[i][0], NULL), *now = resolved(texts[i][1], NULL);
        assert_int_equal(same(before, before), STATUS_OK);
        assert_int_equal(same(before, now), STATUS_USAGE);
        must_say(
            "b comes before a, but checkpoints/step_0000001000.h5 was made with another order");
        free(before);
        free(now);
    }
}

/* Labels of an image do not overlap: their order is that of their numbers, also when the resolved
 * text is read. A label has only the conditions that it was given. */
static void labels_are_sorted(void **state)
{
#define ROCK(labels)                                                                               \
    MET "faces: {x: periodic, y: wall, z: wall}\nbodies: {a: {image: {file: a.raw, size: [4, 4, "  \
        "4], solid: [2, 0, 1]}, scalars: {t: {flux: 0.1}}, labels: {" labels "}}}\n"
#define FIRST "1: {scalars: {t: {value: 310, ramp: 7}}}"
#define SECOND "2: {scalars: {t: {conduct: {conductivity: 3, capacity: 0.5, source: 1e-4}}}}"
    static const char *const parts[] = {"labels: {1: {scalars: {t: {value: ",
                                        "}, 2: {scalars: {t: "};
    (void)state;
    char *const before = resolved(ROCK(FIRST ", " SECOND), NULL);
    char *const now = resolved(ROCK(SECOND ", " FIRST), NULL);
    char *const again = resolved(before, NULL);
    char *const less = resolved(ROCK(SECOND), NULL);
    assert_string_equal(before, now);
    assert_string_equal(before, again);
    for (size_t i = 0; i < LENGTH(parts); i++)
        if (!strstr(before, parts[i]))
            fail_msg("'%s' is not in %s", parts[i], before);
    assert_int_equal(same(before, less), STATUS_USAGE);
    must_say("bodies.a.labels.1.scalars.t.value is not given, but ");
    free(before);
    free(now);
    free(again);
    free(less);
}

/* The viscosity counts, not the key that gives it. */
static void reynolds_and_viscosity_are_alternatives(void **state)
{
    static const struct {
        const char *before, *now;
        bool same;
    } cases[] = {
        {"{reynolds: 8, velocity: 0.05, length: 16}", "{viscosity: 0.1}", true},
        {"{viscosity: 0.1}", "{reynolds: 8, velocity: 0.05, length: 16}", true},
        {"{reynolds: 8, velocity: 0.05, length: 16}", "{reynolds: 4, velocity: 0.05, length: 8}",
         true},
        {"{reynolds: 8, velocity: 0.05, length: 16}", "{reynolds: 8, velocity: 0.05, length: 17}",
         false},
        {"{reynolds: 777.77, velocity: 0.0333, length: 12.7}",
         "{reynolds: 777.77, velocity: 0.0333, length: 12.7}", true},
        {"{reynolds: 777.77, velocity: 0.0333, length: 12.7}",
         "{reynolds: 777.77000000000009, velocity: 0.0333, length: 12.7}", false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char first[512], second[512];
        snprintf(first, sizeof first, PLAIN "fluid: %s\n", cases[i].before);
        snprintf(second, sizeof second, PLAIN "fluid: %s\n", cases[i].now);
        char *before = resolved(first, NULL), *now = resolved(second, NULL);
        const enum status s = same(before, now);
        if (s != (cases[i].same ? STATUS_OK : STATUS_USAGE))
            fail_msg("%s, then %s: status %d %s", cases[i].before, cases[i].now, s, said);
        if (s)
            must_say("fluid.viscosity is ");
        free(before);
        free(now);
    }
    /* the viscosity of the other key may be a rounding away: then its bits tell */
    struct flow_case c;
    static const char by_reynolds[] = PLAIN
        "solver: {collision: trt}\nfluid: {reynolds: 777.77, velocity: 0.0333, length: 12.7}\n";
    assert_int_equal(case_read("case.yaml", by_reynolds, sizeof by_reynolds - 1, 0, NULL, &c),
                     STATUS_OK);
    char text[512];
    snprintf(text, sizeof text, PLAIN "solver: {collision: trt}\nfluid: {viscosity: %.17g}\n",
             c.fluid.viscosity);
    char *now = resolved(text, NULL);
    assert_int_equal(same(c.resolved, now), STATUS_OK);
    free(now);
    case_destroy(&c);
}

/* The reference velocity may change, but not the amplitude that defaults to it. */
static void the_amplitude_does_not_follow_the_reference(void **state)
{
    static const char by_default[] = BOX "initial: {flow: shear_layer}\n";
    static const char given[] = BOX "initial: {flow: shear_layer, amplitude: 0.1}\n";
    (void)state;
    char *before = resolved(by_default, "fluid={viscosity: 0.1, velocity: 0.1}");
    char *now = resolved(by_default, "fluid={viscosity: 0.1, velocity: 0.09}");
    assert_int_equal(same(before, now), STATUS_USAGE);
    must_say("initial.amplitude is 0.09");
    free(now);
    now = resolved(given, "fluid={viscosity: 0.1, velocity: 0.09}");
    assert_int_equal(same(before, now), STATUS_OK);
    free(now);
    free(before);
}

/* The earlier text comes out of a file: whatever it holds, one line, and no harm. */
static void damaged_texts_get_one_line(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"", "checkpoints/step_0000001000.h5:1:1: the file is empty"},
        {"a: [", "checkpoints/step_0000001000.h5:2:1: not YAML"},
        {"- a\n", "not a case"},
        {"a: 1\n",
         "domain.cells is [16, 16, 16], but checkpoints/step_0000001000.h5 was made without"},
        {"domain: 3\n",
         "domain is {cells: [16, 16, 16]}, but checkpoints/step_0000001000.h5 was made "
         "with 3"},
        {CELLS, "says no viscosity"},
        {CELLS "fluid: 3\n", "fluid is {viscosity: 0.1, velocity: 0.05, length: 16}"},
        {CELLS "fluid: {viscosity: x}\n", "says no viscosity"},
        {CELLS "fluid: {viscosity: [1]}\n", "says no viscosity"},
        {CELLS "fluid: {reynolds: 1}\n", "says no viscosity"},
        {CELLS "fluid: {viscosity: 1e999}\n", "says no viscosity"},
        {CELLS "fluid: {viscosity: 0.1 m}\n", "says no viscosity"},
        {CELLS "fluid: {reynolds: 0, velocity: 0, length: 0}\n", "says no viscosity"},
    };
    char *now = resolved(BASE, NULL);
    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(same(bad[i].text, now), STATUS_USAGE);
        must_say(bad[i].said);
    }

    /* a key of another version counts as one that may not change */
    char *more = malloc(strlen(now) + 64);
    assert_non_null(more);
    sprintf(more, "%sgravity: {on: [1, {a: b}]}\n", now);
    assert_int_equal(same(more, now), STATUS_USAGE);
    must_say("gravity is not given, but checkpoints/step_0000001000.h5 was made with {on: [1, {a: "
             "b}]}");
    sprintf(more, "%sgravity: \"%s\"\n", now, "\\e[31m\\n");
    assert_int_equal(same(more, now), STATUS_USAGE);
    must_say("was made with ?[31m? (");
    free(more);

    /* every cut and many changed bytes */
    char *text = strdup(now);
    assert_non_null(text);
    const size_t length = strlen(now);
    for (size_t cut = 0; cut < length; cut++) {
        memcpy(text, now, length);
        text[cut] = '\0';
        if (same(text, now) && (!strchr(said, '\n') || strchr(said, '\n')[1]))
            fail_msg("cut at %zu: %s", cut, said);
    }
    uint64_t seed = 1;
    for (int i = 0; i < 2000; i++) {
        memcpy(text, now, length + 1);
        for (int k = 0; k < 1 + i % 3; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[(seed >> 33) % length] = (char)(seed >> 24);
        }
        if (same(text, now) && (!strchr(said, '\n') || strchr(said, '\n')[1]))
            fail_msg("changed: %s\n%s", text, said);
    }
    free(text);
    free(now);
}

static void long_values_are_cut(void **state)
{
    char text[4096], *now = resolved(BASE, NULL);
    (void)state;
    snprintf(text, sizeof text, "%sgravity: %02000d\n", now, 7);
    assert_int_equal(same(text, now), STATUS_USAGE);
    must_say("0000... (it may not");
    free(now);
}

/* Bytes of the heap that `times` cases keep, one read after the other; 0 under sanitizers, whose
 * heap mallinfo2() does not see. */
static size_t heap_kept(const char *text, int times)
{
    const size_t before = mallinfo2().uordblks;
    for (int n = 0; n < times; n++)
        free(resolved(text, NULL));
    const size_t after = mallinfo2().uordblks;
    return after > before ? after - before : 0;
}

/* A case that is done with leaves nothing behind: here, of what a body's file held. */
static void nothing_of_a_body_stays(void **state)
{
    (void)state;
    enum { TIMES = 100, LEAST = 32 }; /* an allocation takes no less */
    static const char *const texts[] = {IMAGE("a.raw", "size: [4, 4, 4]"), MESHED("size: 8")};
    for (size_t k = 0; k < LENGTH(texts); k++) {
        heap_kept(texts[k], TIMES); /* what libraries, and free() for the next one, keep */
        const size_t kept = heap_kept(texts[k], TIMES);
        if (kept >= TIMES * LEAST)
            fail_msg("%zu bytes stay of %d cases", kept, TIMES);
    }
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], FOREIGN_COMMAND) == 0)
        return foreign_serve(count - 2, arguments + 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_changes_as_the_table_says),
        cmocka_unit_test(keys_of_scalars_change_as_the_table_says),
        cmocka_unit_test(keys_of_openings_change_as_the_table_says),
        cmocka_unit_test(every_key_is_tried),
        cmocka_unit_test(the_table_marks_what_makes_the_flow),
        cmocka_unit_test(the_message_says_both_values),
        cmocka_unit_test(what_follows_from_the_version_is_not_compared_with_an_older_one),
        cmocka_unit_test(parts_and_regions_keep_their_order),
        cmocka_unit_test(labels_are_sorted),
        cmocka_unit_test(reynolds_and_viscosity_are_alternatives),
        cmocka_unit_test(the_amplitude_does_not_follow_the_reference),
        cmocka_unit_test(damaged_texts_get_one_line),
        cmocka_unit_test(long_values_are_cut),
        cmocka_unit_test(nothing_of_a_body_stays),
    };
    return cmocka_run_group_tests(tests, setup_files, scratch_teardown);
}
