/* Made by `tagflow selftest --print`: the state of each flow of selftest_cases.h after its last
 * step. */
X(cavity, "75436e8e13f04741")
X(vortices, "d0e3878c98f72088")
X(layer, "8748076707b7c274")
X(duct, "410a384ced1666bf")
X(stream, "83312b37323e35c8")
X(openings, "67ffc5f29041c866")
X(rotor, "60fa6347f7c8bbb4")
X(pores, "b334d867d8960dda")
X(pump, "1e7f4a5cb5834d5f")
X(heat, "9c7785a3bd8753ac")
X(levels, "c20601a846740ed8")
X(profile, "7604282c1c889460")
