/* sin, cos, exp, log and tanh made of + - * / alone: the same bits on every machine (the C
 * library's results depend on the processor). For tables at set-up; accurate to a few units in the
 * last place. */
#ifndef TAGFLOW_ELEMENTARY_H
#define TAGFLOW_ELEMENTARY_H

#include <stdint.h>

/* Sine and cosine of 2 pi turns / of, exactly reduced. of > 0; of and |turns| below 2^57. */
double sin_turns(int64_t turns, int64_t of);
double cos_turns(int64_t turns, int64_t of);

/* e^x for |x| <= 700, tanh x for any x. */
double exact_exp(double x);
double exact_tanh(double x);

/* Natural logarithm of a normal x > 0. */
double exact_log(double x);

#endif
