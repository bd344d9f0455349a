/*
 * spectrum: what the files of penstock-spectrum share: transforms of traces in time.
 *
 * X(w) = dt sum_n x(t_n) e^{+i w t_n}, the trace's own axis giving t_n (convention e^{-i w t}).
 */
#ifndef PS_POSTPROCESS_SPECTRUM_SPECTRUM_H
#define PS_POSTPROCESS_SPECTRUM_SPECTRUM_H

#include <stdint.h>

#include "formats/trace.h"
#include "kernels/tdbem/incident.h"

/* The step of a trace with equal steps; PS_INVALID if it is in frequency, complex, has one
 * sample, or steps that differ by more than 1e-6 of a step. */
ps_status spectrum_step(const ps_trace *trace, double *dt);

/* Direct sums at count frequencies (Hz): out->axis holds them; fills real and imaginary. Any
 * frequencies; samples * channels * count work, threaded over frequencies. */
void spectrum_direct(const ps_trace *trace, double dt, ps_trace *out);

/* Number of bins of the FFT of a trace padded to `padded` samples, and their spacing. */
int64_t spectrum_bins(int64_t padded);

/* All bins by FFT (FFTW), bins first .. first + out->samples - 1 of `padded` samples; sets the
 * axis too. PS_FAILED without FFTW. */
ps_status spectrum_fft(const ps_trace *trace, double dt, int64_t padded, int64_t first,
                       ps_trace *out);

/* Half a cosine over the last `fraction` of the samples. */
void spectrum_taper(ps_trace *trace, double fraction);

/* Largest |x| of the last twentieth of the samples relative to the largest of all, over the
 * worst channel: how far the signal has decayed when the trace ends. */
double spectrum_truncation(const ps_trace *trace);

/* Multiplies by the transform of the basis functions: sinc(w dt/2) for values constant over a
 * step, its square for hats, so that X becomes the spectrum of the function in time. The values
 * alone are nearer to the exact density (measured on the sphere: specs/trace.md). */
void spectrum_apply_basis(ps_trace *out, ps_trace_basis basis, double dt);

/* Divides by amplitude * F(w) of the pulse. Where |F| is below 1e-6 of its largest value over
 * the axis nothing is known: NaN; returns their number. */
int64_t spectrum_divide(ps_trace *out, const ps_emitter *pulse);

/* Frequencies (Hz, up to `highest`) at which the last half of the signal still rings: of densities
 * and pressures on a closed body these are its interior resonances, which do not radiate and near
 * which surface values are wrong by several per cent. At most `most`, to out; none in signals of
 * less than 64 samples or 16 lines. Up to 4,096 direct sums over a dozen channels. */
ps_status spectrum_resonances(const ps_trace *trace, double highest, int most, double *out,
                              int *found);

#endif
