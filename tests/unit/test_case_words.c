/* Words of the field: the search finds the key that is meant, and messages say what to write
 * instead of a word or a unit that is none here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/keys.h"
#include "case/nearest.h"
#include "case/search.h"
#include "case/words.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void paths_of_synonyms_are_keys(void **state)
{
    size_t length;
    (void)state;
    for (const struct synonym *s = synonyms; s->words; s++) {
        const char *list = s->keys, *choice;
        int count = 0;
        for (const char *item; (item = word_item(&list, ' ', &length)); count++)
            if (!word_key(item, length, &choice))
                fail_msg("%s: %.*s is no key", s->words, (int)length, item);
        assert_true(count > 0 || s->note);
    }
}

/* Two rows with the same word would hide each other. */
static void a_word_has_one_row(void **state)
{
    char plain[WORD_SIZE];
    size_t length;
    (void)state;
    for (const struct synonym *s = synonyms; s->words; s++) {
        const char *list = s->words;
        for (const char *item; (item = word_item(&list, ',', &length));) {
            word_plain(item, length, plain);
            assert_true(*plain);
            for (const struct synonym *other = s + 1; other->words; other++)
                if (word_listed(other->words, plain))
                    fail_msg("%.*s is in two rows of synonyms", (int)length, item);
        }
    }
}

/* A hint stands where the word is no key and no choice. */
static void hints_are_for_unknown_words(void **state)
{
    char child[KEYS_PATH], place[KEYS_PATH], word[WORD_SIZE];
    size_t length, size;
    (void)state;
    for (const struct hint *h = hints; h->words; h++) {
        const char *places = h->places;
        for (const char *at; (at = word_item(&places, ' ', &length));) {
            snprintf(place, sizeof place, "%.*s", *at == '.' ? 0 : (int)length, at);
            const struct key *const key = keys_row(place);
            if (*place && !key)
                fail_msg("%s: %s is no key", h->words, place);
            const char *list = h->words;
            for (const char *item; (item = word_item(&list, ',', &size));) {
                snprintf(word, sizeof word, "%.*s", (int)size, item);
                if (key && key->type != KEY_NAMES && key->choices &&
                    choice_index(key->choices, word) >= 0)
                    fail_msg("%s is a choice of %s", word, place);
                if (keys_step(place, word, child))
                    fail_msg("%s is a key in '%s'", word, place);
            }
        }
    }
}

/* The key that a user wants is among the first three. */
static void words_find_their_keys(void **state)
{
    static const struct {
        const char *word, *path;
    } cases[] = {
        {"y+", "refine.*.y_plus"},
        {"number of iterations", "run.steps"},
        {"hydraulic head", "faces.<face>.pressure"},
        {"aneurysm", "bodies"},
        {"pump", "force.flow_rate"},
        {"temperature", "scalars"},
        {"radius", "bodies.*.shape.sphere.radius"},
        {"diameter", "bodies.*.shape.sphere.radius"},
        {"inlet", "faces.<face>.velocity"},
        {"outlet", "faces.<face>.outflow"},
        {"Outlets", "faces.<face>.outflow"},
        {"symmetry", "faces.<face>.slip"},
        {"frequency", "faces.<face>.velocity.sine.period"},
        {"period", "faces.<face>.velocity.sine.period"},
        {"periodicity", "faces.<face>"},
        {"periodic", "faces.<face>"},
        {"Reynolds", "fluid.reynolds"},
        {"gravity", "force.gravity"},
        {"buoyancy", "force.gravity"},
        {"wind", "faces.<face>.velocity.value"},
        {"rotation", "bodies.*.rotation"},
        {"angular velocity", "bodies.*.rotation.rate"},
        {"rpm", "bodies.*.rotation.rate"},
        {"pressure drop", "force.acceleration"},
        {"mass flow", "output.series.*.of"},
        {"restart", "checkpoint"},
        {"save", "output.fields"},
        {"snapshot", "output.fields"},
        {"vtk", "output.fields"},
        {"ParaView", "output.fields"},
        {"residual", "run.stop"},
        {"convergence", "run.stop"},
        {"steady state", "run.stop"},
        {"turbulence", "solver.subgrid.smagorinsky"},
        {"LES", "solver.subgrid.smagorinsky"},
        {"thermal conductivity", "bodies.*.scalars.*.conduct.conductivity"},
        {"concentration", "scalars"},
        {"dye", "scalars"},
        {"porosity", "bodies.*.image"},
        {"STL", "bodies.*.mesh"},
        {"geometry", "bodies"},
        {"mesh", "bodies.*.mesh"},
        {"voxel", "bodies.*.image"},
        {"image", "output.images"},
        {"no-slip", "faces.<face>.wall"},
        {"moving wall", "faces.<face>.wall.velocity"},
        {"lid", "faces.<face>.wall.velocity"},
        {"free slip", "faces.<face>.slip"},
        {"far field", "faces.<face>.nonreflecting"},
        {"outflow", "faces.<face>.outflow"},
        {"pulsatile", "faces.<face>.velocity.sine"},
        {"transient", "faces.<face>.velocity.table"},
        {"time step", "units.dt"},
        {"cell size", "units.dx"},
        {"resolution", "domain.cells"},
        {"refinement", "refine"},
        {"AMR", "refine"},
        {"CFL", "units.velocity.lattice"},
        {"relaxation time", "fluid.viscosity"},
        {"tau", "fluid.viscosity"},
        {"omega", "fluid.viscosity"},
        {"kinematic viscosity", "fluid.viscosity"},
        {"density", "units.density"},
        {"units", "units"},
        {"threads", "run.threads"},
        {"GPU", "run.transport"},
        {"MPI", "run.ranks"},
        {"probe", "output.series.*.of"},
        {"drag", "output.series.*.of"},
        {"lift", "output.series.*.of"},
        {"forces", "output.series.*.of"},
        {"torque", "output.series.*.of"},
        {"streamlines", "output.fields.*.of"},
        {"vorticity", "output.fields.*.of"},
        {"Q-criterion", "output.fields.*.of"},
        {"average", "output.averages"},
        {"statistics", "output.series.*.statistics"},
        {"Reynolds stress", "output.averages.*.of"},
        {"wall time", "run.time_limit"},
        {"checkpoint", "checkpoint"},
        {"cumulant", "solver.collision"},
        {"heat flux", "faces.<face>.wall.scalars.*.flux"},
        {"wss", "output.surfaces.*.of"},
        {"discharge", "output.series.*.of"},
        {"heartbeat", "faces.<face>.velocity.sine"},
        {"permeability", "output.series.*.of"},
        {"angle of attack", "bodies.*.mesh.rotate"},
        {"duration", "run.duration"},
        {"collision operator", "solver.collision"},
        {"sponge layer", "regions.*.sponge"},
        {"velocity", "faces.<face>.velocity.value"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct search_hit hit[SEARCH_SHOWN];
        char *word = strdup(cases[i].word);
        assert_non_null(word);
        const int found = search_keys(1, &word, hit);
        bool among = false;
        for (int k = 0; k < found && k < 3; k++)
            among = among || !strcmp(hit[k].key->path, cases[i].path);
        if (!among)
            fail_msg("%s finds %s, not %s", word, found ? hit[0].key->path : "nothing",
                     cases[i].path);
        free(word);
    }
}

/* All words must match, in any order; two that are one word count as one. */
static void several_words_narrow_the_search(void **state)
{
    char drop[] = "drop", pressure[] = "pressure", magic[] = "magic", upper[] = "SCALARS",
         no[] = "qqqq", heat[] = "heat", in[] = "inlet", step[] = "step", time[] = "time";
    char *const inlet[] = {in, heat}, *const phrase[] = {time, step},
                *const both[] = {magic, upper}, *const turned[] = {upper, magic},
                *const none[] = {magic, no}, *const apart[] = {pressure, drop};
    struct search_hit hit[SEARCH_SHOWN];
    (void)state;
    assert_true(search_keys(2, phrase, hit) > 0);
    assert_string_equal(hit[0].key->path, "units.dt");
    assert_true(search_keys(2, inlet, hit) > 0);
    assert_string_equal(hit[0].key->path, "faces.<face>.velocity.scalars");
    assert_int_equal(search_keys(2, both, hit), 1);
    assert_string_equal(hit[0].key->path, "scalars.*.magic");
    assert_int_equal(search_keys(2, turned, hit), 1);
    assert_int_equal(search_keys(2, none, hit), 0);
    assert_true(search_keys(2, apart, hit) > 0);
    assert_string_equal(hit[0].key->path, "force.acceleration");
}

/* Hits come in the order of their scores, and a key that several places share comes once. */
static void hits_are_sorted_and_differ(void **state)
{
    char word[] = "velocity";
    char *const words[] = {word};
    struct search_hit hit[SEARCH_SHOWN];
    (void)state;
    assert_true(search_keys(1, words, hit) > SEARCH_SHOWN);
    for (int k = 1; k < SEARCH_SHOWN; k++) {
        assert_true(hit[k].score <= hit[k - 1].score && hit[k].score > 0);
        for (int j = 0; j < k; j++)
            assert_ptr_not_equal(hit[k].key, hit[j].key);
    }
}

static void unknown_keys_that_are_words_get_an_example(void **state)
{
    static const char *const cases[][2] = {
        {"inlet", "an inlet is a face: faces: {xmin: {velocity:"},
        {"faces.outlet", "an outlet is a face: faces: {xmax: outflow}"},
        {"faces.xmin.inlet", "an inlet is {velocity: {value:"},
        {"patches.hole.symmetry", "a plane of symmetry is slip"},
        {"faces.top", "the faces are xmin"},
        {"faces.xmax.convective_outlet", "did you mean faces.xmax.outflow? for example outflow:"},
        {"faces.xmin.velocity.sine.frequency", "1 / frequency is `period`"},
        {"bodies.ball.shape.sphere.diameter", "half of the diameter is `radius`"},
        {"bodies.ball.shape.union.a.sphere.diameter", "half of the diameter is `radius`"},
        {"bodies.ball.rpm", "an angular velocity is rotation: {rate:"},
        {"bodies.ball.mesh.path", "did you mean bodies.ball.mesh.file? for example file:"},
        {"bodies.ball.shape.cube", "did you mean bodies.ball.shape.box? for example box:"},
        {"fluid.nu", "did you mean fluid.viscosity? for example viscosity:"},
        {"fluid.density", "the fluid's is units: {density:"},
        {"temperature", "a temperature is a scalar: scalars:"},
        {"bodies.ball.temperature", "did you mean bodies.ball.scalars? for example scalars:"},
        {"gravity", "for buoyancy force: {gravity:"},
        {"solver.les", "for turbulence smaller than a cell solver: {subgrid:"},
        {"solver.tau", "tau = 3 viscosity + 1/2"},
        {"time_step", "did you mean units.dt? for example dt:"},
        {"run.restart", "a run goes on with `tagflow run CASE.yaml --restart auto`"},
        {"output.vtk", "snapshots are output: {fields:"},
        {"output.drag", "forces are a series:"},
        {"fluid.non_newtonian", "did you mean fluid.law.power?"},
        {"output.fields.a.interval", "the interval is `every`"},
        /* names that another place has, and misspelt ones, go before words */
        {"solver.viscosity", "did you mean fluid.viscosity?"},
        {"forces", "did you mean force?"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char advice[KEYS_PATH];
        nearest_key(cases[i][0], advice, sizeof advice);
        if (strncmp(advice, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("%s: %s", cases[i][0], advice);
    }
}

static void words_for_choices_name_ours(void **state)
{
    static const char *const cases[][3] = {
        {"faces.<face>", "symmetry", "a plane of symmetry is slip"},
        {"faces.<face>", "No-Slip", "a wall without slip is wall"},
        {"faces.<face>", "periodicity", "did you mean periodic?"},
        {"faces.<face>", "farfield", "did you mean nonreflecting?"},
        {"solver.collision", "SRT", "did you mean bgk?"},
        {"solver.collision", "MRT", "did you mean mrt?"},
        {"solver.collision", "D3Q27", "the lattice is D3Q19 always"},
        {"output.series.*.of", "Flow-Rates", "did you mean flow_rate?"},
        {"initial.flow", "zero", "did you mean rest?"},
        {"output.series.*.of", "drag", "did you mean forces?"},
        {"output.fields.*.of", "p", "did you mean pressure?"},
        {"output.averages.*.of", "Reynolds_stresses", "did you mean stress?"},
        {"scalars.*.kind", "temperature", "did you mean heat?"},
        {"solver.storage", "double", "did you mean fp64?"},
        {"solver.storage", "temperature", NULL},
        {"solver.collision", "outlet", NULL},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char advice[256] = "";
        const bool found =
            word_for_choice(keys_row(cases[i][0]), cases[i][1], advice, sizeof advice);
        assert_int_equal(found, cases[i][2] != NULL);
        if (found && strcmp(advice, cases[i][2]) != 0)
            fail_msg("%s of %s: %s", cases[i][1], cases[i][0], advice);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_synonyms_are_keys),
        cmocka_unit_test(a_word_has_one_row),
        cmocka_unit_test(hints_are_for_unknown_words),
        cmocka_unit_test(words_find_their_keys),
        cmocka_unit_test(several_words_narrow_the_search),
        cmocka_unit_test(hits_are_sorted_and_differ),
        cmocka_unit_test(unknown_keys_that_are_words_get_an_example),
        cmocka_unit_test(words_for_choices_name_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
