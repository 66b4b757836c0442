/* The flows of `tagflow selftest`, each with a part of what the program can do. A row: name, what it has,
 * steps, case. Their hashes are in selftest_hashes.h. */
#ifndef TAGFLOW_SELFTEST_CASES_H
#define TAGFLOW_SELFTEST_CASES_H

static const struct selftest_case {
    const char *name, *what;
    int steps;
    const char *text;
} selftest_cases[] = {
    {"cavity", "moving wall, trt, fp32", 41,
     "domain:  {cells: [20, 12, 9]}\n"
     "fluid:   {reynolds: 100, velocity: 0.1, length: 20}\n"
     "solver:  {collision: trt, storage: fp32}\n"
     "faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.1, 0, 0.03]}}, z: wall}\n"},
    {"vortices", "Taylor-Green, bgk, fp64", 41,
     "domain:  {cells: [16, 16, 16]}\n"
     "fluid:   {viscosity: 0.01, velocity: 0.05, length: 16}\n"
     "solver:  {collision: bgk, storage: fp64}\n"
     "initial: {flow: taylor_green_3d}\n"
     "faces:   {x: periodic, y: periodic, z: periodic}\n"},
    {"layer", "shear layer, cumulant, Smagorinsky, fp16", 41,
     "domain:  {cells: [33, 18, 5]}\n"
     "fluid:   {viscosity: 0.004, velocity: 0.05, length: 18}\n"
     "solver:  {collision: cumulant, storage: fp16, subgrid: {smagorinsky: {constant: 0.15}}}\n"
     "initial: {flow: shear_layer}\n"
     "faces:   {x: periodic, y: periodic, z: periodic}\n"},
    {"duct", "force in time, mrt, stored in fp32, computed in fp64", 41,
     "domain:  {cells: [19, 11, 8]}\n"
     "fluid:   {viscosity: 0.05}\n"
     "solver:  {collision: mrt, storage: fp32, arithmetic: fp64}\n"
     "faces:   {x: periodic, y: wall, z: slip}\n"
     "force:   {acceleration: [1e-5, -2e-6, 3e-6], sine: {period: 13.3, phase: 0.2}}\n"},
    {"stream", "inlet, non-reflecting outlet, interpolated sphere, rr", 41,
     "domain:  {cells: [38, 18, 17]}\n"
     "fluid:   {viscosity: 0.02}\n"
     "solver:  {collision: rr, storage: fp32}\n"
     "faces:\n"
     "  xmin: {velocity: {value: [0.05, 0.002, 0], profile: duct, ramp: 9}}\n"
     "  xmax: {nonreflecting: {reflection: 0.01}}\n"
     "  y: wall\n"
     "  z: wall\n"
     "bodies:  {ball: {shape: {sphere: {center: [13.2, 9.1, 8.4], radius: 3.3}}, wall: interpolated}}\n"},
    {"openings", "pressure, outflow, patches, hermite", 41,
     "domain:  {cells: [21, 13, 9]}\n"
     "fluid:   {viscosity: 0.03}\n"
     "solver:  {collision: hermite, storage: fp64}\n"
     "initial: {flow: uniform, velocity: [0.03, 0.01, -0.01]}\n"
     "faces:\n"
     "  xmin: {velocity: {value: [0.03, 0.01, 0], rule: links}}\n"
     "  xmax: outflow\n"
     "  ymin: wall\n"
     "  ymax: {pressure: {density: 1.001}}\n"
     "  z: wall\n"
     "patches: {jet: {face: ymin, disc: {center: [9.2, 3.9], radius: 2.7}, velocity: {value: [0, 0.03, 0], "
     "profile: parabola}}}\n"},
    {"rotor", "turning and sliding surfaces in a closed box, gauss_hermite", 48,
     "domain:  {cells: [24, 22, 11]}\n"
     "fluid:   {viscosity: 0.02}\n"
     "solver:  {collision: gauss_hermite, storage: fp32}\n"
     "faces:   {x: wall, y: wall, z: periodic}\n"
     "bodies:\n"
     "  rod:  {shape: {cylinder: {center: [8.2, 10.8, 5], axis: z, radius: 4.3}}, wall: interpolated, rotation: {rate: "
     "[0, 0, -0.01]}}\n"
     "  ball: {shape: {sphere: {center: [17.7, 9.1, 5.4], radius: 2.8}}, wall: interpolated, velocity: [0.01, -0.02, "
     "0.005]}\n"},
    {"pores", "memory for fluid alone, pack of spheres, central", 41,
     "domain:  {cells: [40, 20, 20]}\n"
     "fluid:   {viscosity: 0.1}\n"
     "solver:  {collision: central, storage: fp32}\n"
     "faces:   {x: periodic, y: periodic, z: periodic}\n"
     "force:   {acceleration: [1e-5, 0, 3e-6]}\n"
     "bodies:  {pack: {shape: {pack: {lattice: body_centred, length: 20, share: 0.6, center: [1, 2, 3]}}, wall: "
     "halfway}}\n"
     "run:     {sparse: always}\n"},
    {"pump", "flow-rate controller, sponge, region, central_hermite", 41,
     "domain:  {cells: [37, 11, 8]}\n"
     "fluid:   {viscosity: 0.02}\n"
     "solver:  {collision: central_hermite, storage: fp32}\n"
     "faces:   {x: periodic, y: wall, z: periodic}\n"
     "force:   {flow_rate: {velocity: 0.03, axis: x, every: 4, time: 9}}\n"
     "regions:\n"
     "  thick:  {box: {from: [3, 0, 0], to: [22, 8, 6]}, viscosity: 0.1}\n"
     "  across: {box: {from: [0, 3, 3], to: [19, 11, 6]}, sponge: {towards: ymin, strength: 0.1, density: 1.01}}\n"},
    {"heat", "heat with buoyancy in a closed box", 41,
     "units:   {dx: 1 mm, dt: 0.3 ms, density: 1.2 kg/m3, heat_capacity: 1005 J/kg/K}\n"
     "domain:  {cells: [20, 17, 9]}\n"
     "fluid:   {viscosity: 0.02}\n"
     "solver:  {collision: trt, storage: fp32}\n"
     "force:   {gravity: [0, -9.81 m/s2, 0]}\n"
     "scalars: {T: {kind: heat, prandtl: 0.71, reference: 300 K, expansion: 3.3e-3 1/K}}\n"
     "faces:\n"
     "  xmin: {wall: {scalars: {T: {value: 305 K}}}}\n"
     "  xmax: {wall: {scalars: {T: {value: 295 K}}}}\n"
     "  y: wall\n"
     "  z: periodic\n"},
    {"levels", "a sphere on two levels", 24,
     "domain:  {cells: [32, 24, 24]}\n"
     "fluid:   {viscosity: 0.02, velocity: 0.05, length: 6}\n"
     "solver:  {collision: rr, storage: fp32}\n"
     "initial: {flow: uniform, velocity: [0.05, 0, 0]}\n"
     "faces:   {x: periodic, y: slip, z: periodic}\n"
     "bodies:  {ball: {shape: {sphere: {center: [12, 12, 12], radius: 2.6}}, wall: interpolated}}\n"
     "refine:  {near: {around: ball, distance: 3, level: 1}}\n"},
    {"profile", "a given profile, a moving lid, rr, stored in fp64", 41,
     "domain:  {cells: [25, 9, 12]}\n"
     "fluid:   {viscosity: 0.004}\n"
     "solver:  {collision: rr, storage: fp64}\n"
     "faces:\n"
     "  xmin: {velocity: {value: [0.04, 0, 0], profile: {power: 7}}}\n"
     "  xmax: {pressure: {density: 1}}\n"
     "  ymin: wall\n"
     "  ymax: {wall: {velocity: [0.02, 0, 0.01]}}\n"
     "  z: wall\n"},
};

#endif
