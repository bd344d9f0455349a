#include "kernels/fmm/kernel_function.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef double vreal;
#define KERNEL_INLINE static inline
#define v_rsqrt(x) (1 / sqrt(x))
#define v_exp(x) exp(x)
#define v_of(x) (x)
#define v_negated_product(a, b) (-((a) * (b)))
#include "kernels/fmm/kernel_function_body.h"

static void cosine(double r2, double b, double *k, double *c)
{
    double r = sqrt(r2);
    *k = cos(b * r) / r;
    *c = -(b * r * sin(b * r) + cos(b * r)) / (r2 * r);
}

static void sine(double r2, double b, double *k, double *c)
{
    double r = sqrt(r2);
    *k = sin(b * r) / r;
    *c = (b * r * cos(b * r) - sin(b * r)) / (r2 * r);
}

#ifdef PS_FMM_USER_DEGREE
enum { USER_HAS_DEGREE = 1, USER_DEGREE = PS_FMM_USER_DEGREE };
#else
enum { USER_HAS_DEGREE = 0, USER_DEGREE = 0 };
#endif

static const struct {
    const char *name;
    bool has_degree;
    int degree;
    void (*at)(double r2, double b, double *k, double *c);
} kernels[PS_FMM_FUNCTION_COUNT] = {
    [PS_FMM_INVERSE] = {"inverse", true, -1, v_kernel_inverse},
    [PS_FMM_INVERSE_SQUARE] = {"inverse-square", true, -2, v_kernel_inverse_square},
    [PS_FMM_INVERSE_FOURTH] = {"inverse-fourth", true, -4, v_kernel_inverse_fourth},
    [PS_FMM_DISTANCE] = {"distance", true, 1, v_kernel_distance},
    [PS_FMM_EXPONENTIAL] = {"exponential", false, 0, v_kernel_exponential},
    [PS_FMM_YUKAWA] = {"yukawa", false, 0, v_kernel_yukawa},
    [PS_FMM_GAUSSIAN] = {"gaussian", false, 0, v_kernel_gaussian},
    [PS_FMM_SQUARE] = {"square", true, 2, v_kernel_square},
    [PS_FMM_FOURTH] = {"fourth", true, 4, v_kernel_fourth},
    [PS_FMM_USER] = {"user", USER_HAS_DEGREE, USER_DEGREE, v_kernel_user},
    [PS_FMM_COSINE] = {"cosine", false, 0, cosine},
    [PS_FMM_SINE] = {"sine", false, 0, sine},
};

const char *ps_fmm_kernel_name(ps_fmm_kernel kernel) { return kernels[kernel].name; }

ps_status ps_fmm_kernel_parse(const char *name, ps_fmm_kernel *kernel)
{
    char list[256] = "";
    for (int k = 0; k < PS_FMM_KERNEL_COUNT; ++k) {
        if (strcmp(name, kernels[k].name) == 0) {
            *kernel = (ps_fmm_kernel)k;
            return PS_OK;
        }
        if (k) strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, kernels[k].name, sizeof list - strlen(list) - 1);
    }
    return ps_fail(PS_USAGE, "no kernel is called \"%s\"; there are %s", name, list);
}

bool ps_fmm_kernel_degree(ps_fmm_kernel kernel, int *degree)
{
    *degree = kernels[kernel].degree;
    return kernels[kernel].has_degree;
}

void ps_fmm_function_at(const ps_fmm_function *function, double r, double *k, double *c)
{
    kernels[function->kernel].at(r * r, function->parameter, k, c);
}
