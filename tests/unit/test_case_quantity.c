/* Quantities: which texts are numbers with units, and their size in SI and lattice units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/quantity.h"
#include "case/unit_words.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void units_become_si(void **state)
{
    static const struct {
        const char *text;
        double value; /* exact: powers of ten are multiplied or divided by, once */
        struct dimension dimension;
    } good[] = {
        {"5 mm", 5e-3, {1, 0, 0, 0}},
        {"5mm", 5e-3, {1, 0, 0, 0}},
        {"41 cm", 0.41, {1, 0, 0, 0}},
        {"3 um", 3e-6, {1, 0, 0, 0}},
        {"7 nm", 7e-9, {1, 0, 0, 0}},
        {"2 km", 2000, {1, 0, 0, 0}},
        {"-1.5e1 m", -15, {1, 0, 0, 0}},
        {"30 s", 30, {0, 1, 0, 0}},
        {"1 ms", 1e-3, {0, 1, 0, 0}},
        {"0.5 min", 30, {0, 1, 0, 0}},
        {"2 h", 7200, {0, 1, 0, 0}},
        {"0.2 m/s", 0.2, {1, -1, 0, 0}},
        {"1e-3 m2/s", 1e-3, {2, -1, 0, 0}},
        {"1e-3 m^2/s", 1e-3, {2, -1, 0, 0}},
        {"1 mm2/s", 1e-6, {2, -1, 0, 0}},
        {"1 kg/m3", 1, {-3, 0, 1, 0}},
        {"1 g/cm3", 1e6 / 1e3, {-3, 0, 1, 0}},
        {"9.81 m/s2", 9.81, {1, -2, 0, 0}},
        {"9.81 m s-2", 9.81, {1, -2, 0, 0}},
        {"9.81 m*s^-2", 9.81, {1, -2, 0, 0}},
        {"10 kg/m/s2", 10, {-1, -2, 1, 0}},
        {"10 Pa", 10, {-1, -2, 1, 0}},
        {"1.5 kPa", 1500, {-1, -2, 1, 0}},
        {"1013 hPa", 101300, {-1, -2, 1, 0}},
        {"0.25 MPa", 250000, {-1, -2, 1, 0}},
        {"1.5 mbar", 150, {-1, -2, 1, 0}},
        {"3 mPa s", 3e-3, {-1, -1, 1, 0}},
        {"1 cP", 1e-3, {-1, -1, 1, 0}},
        {"7 cSt", 7e-6, {2, -1, 0, 0}},
        {"2 St", 2e-4, {2, -1, 0, 0}},
        {"2 atm", 202650, {-1, -2, 1, 0}},
        {"2 mmHg", 2 * 133322387415.0 / 1e9, {-1, -2, 1, 0}},
        {"3 in", 3 * 254 / 1e4, {1, 0, 0, 0}},
        {"2 ft/s", 2 * 3048 / 1e4, {1, -1, 0, 0}},
        {"2 d", 172800, {0, 1, 0, 0}},
        {"5 uL", 5e-9, {3, 0, 0, 0}},
        {"5 rad/s", 5, {0, -1, 0, 0}},
        {"2 bar", 200000, {-1, -2, 1, 0}},
        {"3 bar m2/N", 300000, {0, 0, 0, 0}},
        {"2 N", 2, {1, -2, 1, 0}},
        {"3 N/m2", 3, {-1, -2, 1, 0}},
        {"2 Pa s", 2, {-1, -1, 1, 0}},
        {"1 L/s", 1e-3, {3, -1, 0, 0}},
        {"5 mL", 5e-6, {3, 0, 0, 0}},
        {"6 L/min", 6.0 / (1e3 * 60), {3, -1, 0, 0}},
        {"3 1/s", 3, {0, -1, 0, 0}},
        {"3 /s", 3, {0, -1, 0, 0}},
        {"3 s-1", 3, {0, -1, 0, 0}},
        {".5 m", 0.5, {1, 0, 0, 0}},
        {"5. m", 5, {1, 0, 0, 0}},
        {"+5E+2 m", 500, {1, 0, 0, 0}},
        {"36 km/h", 36.0 * 1000 / 3600, {1, -1, 0, 0}},
        {"0 m", 0, {1, 0, 0, 0}},
        {"2 m/m", 2, {0, 0, 0, 0}},
        {"300 K", 300, {0, 0, 0, 1}},
        {"27 degC", 27 + 273.15, {0, 0, 0, 1}},
        {"-40degC", -40 + 273.15, {0, 0, 0, 1}},
        {"3 1/K", 3, {0, 0, 0, -1}},
        {"2 kJ", 2000, {2, -2, 1, 0}},
        {"3 MJ/m3", 3e6, {-1, -2, 1, 0}},
        {"5 mW", 5e-3, {2, -3, 1, 0}},
        {"5 kW/m2", 5000, {0, -3, 1, 0}},
        {"2 MW/m2", 2e6, {0, -3, 1, 0}},
        {"148 W/m/K", 148, {1, -3, 1, -1}},
        {"148 W/(m K)", 148, {1, -3, 1, -1}},
        {"148 W/(m*K)", 148, {1, -3, 1, -1}},
        {"10 W/(m^2 K)", 10, {0, -3, 1, -1}},
        {"4180 J/(kg K)", 4180, {2, -2, 0, -1}},
        {"4.18 kJ/kg/K", 4180, {2, -2, 0, -1}},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++) {
        struct quantity q;
        const char *problem = quantity_parse(good[i].text, &q);
        if (problem || q.value != good[i].value || q.bare ||
            !dimension_equal(q.dimension, good[i].dimension))
            fail_msg("%s: %s, %.17g, %d %d %d %d", good[i].text, problem ? problem : "read",
                     q.value, q.dimension.m, q.dimension.s, q.dimension.kg, q.dimension.kelvin);
    }
}

static void numbers_without_unit_are_bare(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},    {"1", 1},  {"-2.5", -2.5},     {"1e-3", 1e-3},   {"1e-400", 0},
                {"010", 10}, {"3 ", 3}, {"0.1875", 0.1875}, {"1e308", 1e308}, {"+.5", 0.5}};
    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++) {
        struct quantity q;
        assert_null(quantity_parse(good[i].text, &q));
        assert_true(q.bare && q.value == good[i].value);
        assert_true(dimension_equal(q.dimension, (struct dimension){0, 0, 0, 0}));
    }
}

/* The list that a message gives. */
static void units_of_the_list_are_known(void **state)
{
    static const char list[] = QUANTITY_UNITS;
    char text[64];
    int count = 0;
    (void)state;
    for (const char *unit = list; *unit; count++) {
        struct quantity q;
        const size_t length = strcspn(unit, " ,");
        snprintf(text, sizeof text, "1 %.*s", (int)length, unit);
        if (quantity_parse(text, &q) || q.bare)
            fail_msg("%s is no quantity", text);
        unit += length;
        unit += strspn(unit, " ,");
    }
    assert_true(count > 40);
}

static void anything_else_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "m",
        "mm 5",
        "nan",
        "inf",
        "-infinity",
        "0x10",
        "0x1p3 m",
        "1e",
        "1e+ m",
        "1e999",
        "-1e999 m",
        "1e308 km",
        "--1",
        "1,5 m",
        "1.5.2 m",
        "5 M",
        "5 pa",
        "5 l",
        "5 mpa",
        "5 Mm",
        "5 yd",
        "5 Hz",
        "5 rad",
        "5 m//s",
        "5 m/",
        "5 m*",
        "5 m0",
        "5 m^",
        "5 m^m",
        "5 m12",
        "5 m-",
        "5 m-0",
        "5 *m",
        "5 m s- 1",
        "5  m  s",
        "5 (m)",
        "5 (m s",
        "5 W/(m K",
        "5 W/(m K))",
        "5 W/(m/K)",
        "5 W/()",
        "5 W/( m K)",
        "5 W/((m K) s)",
        "5 W/(m s m s m)",
        "5 degC/s",
        "5 1/degC",
        "5 degC2",
        "5 C",
        "5 k",
        "5 /",
        "5 1/",
        "5 1",
        "5 m/s m/s m/s m/s m/s",
        "5 \xc2\xb5m",
        "5 m\n",
        ". m",
        "e5",
        "+",
        "1_000",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct quantity q;
        if (!quantity_parse(bad[i], &q))
            fail_msg("'%s' was read as %g", bad[i], q.value);
    }
}

static void a_number_ends_where_it_ends(void **state)
{
    const char *end;
    double value;
    (void)state;
    assert_null(number_parse("1.5e3xyz", &end, &value));
    assert_true(value == 1500);
    assert_string_equal(end, "xyz");
    assert_non_null(number_parse("x1", &end, &value));
}

static void lattice_units_follow_dx_dt_and_density(void **state)
{
    const struct quantity_scale scale = {0.5, 0.25, 1000};
    (void)state;
    assert_true(quantity_unit((struct dimension){0, 0, 0, 0}, &scale) == 1);
    assert_true(quantity_unit((struct dimension){1, 0, 0, 0}, &scale) == 0.5);
    assert_true(quantity_unit((struct dimension){2, -1, 0, 0}, &scale) == 1);
    assert_true(quantity_unit((struct dimension){1, -2, 0, 0}, &scale) == 8);
    assert_true(quantity_unit((struct dimension){-3, 0, 1, 0}, &scale) == 1000);
    assert_true(quantity_unit((struct dimension){-1, -2, 1, 0}, &scale) == 4000);
}

static void wrong_units_are_explained(void **state)
{
    static const struct {
        const char *text;
        enum key_unit unit;
        const char *reason;
    } cases[] = {
        {"2 Hz", UNIT_TIME, "is a frequency (its period is 0.5 s)"},
        {"4 1/s", UNIT_TIME, "is a frequency (its period is 0.25 s)"},
        {"120 bpm", UNIT_TIME, "is a frequency (its period is 0.5 s)"},
        {"3.141592653589793 rad/s", UNIT_TIME, "is a frequency (its period is 2 s)"},
        {"60 rpm", UNIT_ROTATION, "is a rate of turns (as an angular velocity: 6.283185307 rad/s)"},
        {"180 deg/s", UNIT_ROTATION,
         "is a rate of turns (as an angular velocity: 3.141592654 rad/s)"},
        {"2 Hz", UNIT_RATE, "is a frequency (write 2 1/s)"},
        {"0 Hz", UNIT_TIME, NULL},
        {"20 C", UNIT_TEMPERATURE, "has an unknown unit (write 20 degC)"},
        {"20 °C", UNIT_TEMPERATURE, "has an unknown unit (write 20 degC)"},
        {"-5 Celsius", UNIT_TEMPERATURE, "has an unknown unit (write -5 degC)"},
        {"10 W/m2/°C", UNIT_TRANSFER, "has an unknown unit (write 10 W/m2/K)"},
        {"3e-3 1/C", UNIT_EXPANSION, "has an unknown unit (write 3e-3 1/K)"},
        {"5 sec", UNIT_TIME, "has an unknown unit (write 5 s)"},
        {"1.5e-5 m²/sec", UNIT_VISCOSITY, "has an unknown unit (write 1.5e-5 m2/s)"},
        {"3 m³/s", UNIT_VELOCITY, "is a volume flow, not a velocity (divide it by the area)"},
        {"5 L/min", UNIT_VELOCITY, "is a volume flow, not a velocity (divide it by the area)"},
        {"5 µm", UNIT_LENGTH, "has an unknown unit (write 5 um)"},
        {"1 mPa.s", UNIT_VISCOSITY,
         "is a dynamic viscosity (divide it by the density: over 1000 kg/m3 it is 1e-06 m2/s)"},
        {"1 cP", UNIT_VISCOSITY,
         "is a dynamic viscosity (divide it by the density: over 1000 kg/m3 it is 1e-06 m2/s)"},
        {"500 Pa/m", UNIT_ACCELERATION,
         "is a pressure gradient (divide it by the density: over 1000 kg/m3 it is 0.5 m/s2)"},
        {"0.6 W/m/K", UNIT_DIFFUSIVITY,
         "is a thermal conductivity, not a diffusivity (divide it by density and heat capacity)"},
        {"5 l/min", UNIT_VELOCITY, "is a volume flow, not a velocity (divide it by the area)"},
        {"5 m", UNIT_PRESSURE, "is a height, not a pressure (multiply it by density and gravity)"},
        {"5 km", UNIT_TIME, NULL},
        {"5 parsec", UNIT_LENGTH, NULL},
        {"sec", UNIT_TIME, NULL},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char reason[UNIT_REASON] = "";
        const bool found = unit_words(cases[i].text, cases[i].unit, 1000, reason);
        if (found != (cases[i].reason != NULL) || (found && strcmp(reason, cases[i].reason) != 0))
            fail_msg("%s: %s", cases[i].text, reason);
    }
}

/* Without a density there is no number. */
static void density_must_be_known(void **state)
{
    char reason[UNIT_REASON];
    (void)state;
    assert_true(unit_words("1 Pa s", UNIT_VISCOSITY, 1, reason));
    assert_string_equal(reason,
                        "is a dynamic viscosity, not a viscosity (divide it by the density)");
    assert_true(unit_words("1 Pa s", UNIT_VISCOSITY, 0, reason));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_become_si),
        cmocka_unit_test(numbers_without_unit_are_bare),
        cmocka_unit_test(units_of_the_list_are_known),
        cmocka_unit_test(wrong_units_are_explained),
        cmocka_unit_test(density_must_be_known),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(a_number_ends_where_it_ends),
        cmocka_unit_test(lattice_units_follow_dx_dt_and_density),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
