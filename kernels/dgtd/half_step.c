#include "kernels/dgtd/half_step.h"

#include "kernels/dgtd/dispersion.h"

enum { GROUPS_AT_ONCE = 8, THREADED_GROUPS = 64, THREADED_FACES = 1024 };

PS_ISA_SELECT(struct ps_dgtd_half_step_functions, ps_dgtd_half_step)

void ps_dgtd_half_step(const ps_dgtd_system *system, ps_dgtd_field field, void *target,
                       const void *source, int64_t begin, int64_t end)
{
    ps_dgtd_sweep_arguments arguments = {system, field, target, source};
    const struct ps_dgtd_half_step_functions *functions = ps_dgtd_half_step_select();
    void (*sweep)(const ps_dgtd_sweep_arguments *, int64_t, int64_t) =
        functions->sweep[system->precision][system->order - 1];
    const int32_t *rows =
        field == PS_DGTD_E && system->dispersion ? system->dispersion->row_of : NULL;
#pragma omp parallel for schedule(static) if (end - begin > THREADED_GROUPS)
    for (int64_t g = begin; g < end; g += GROUPS_AT_ONCE) {
        int64_t last = g + GROUPS_AT_ONCE < end ? g + GROUPS_AT_ONCE : end;
        for (int64_t i = g; rows && i < last; ++i)
            if (rows[i] >= 0) functions->respond[system->precision](&arguments, i);
        sweep(&arguments, g, last);
    }
}

void ps_dgtd_inner_groups(const ps_dgtd_system *system, const double *weights, const void *a,
                          const void *b, int64_t begin, int64_t end, double *partial)
{
    ps_dgtd_inner_arguments arguments = {system, weights, a, b};
    double (*inner)(const ps_dgtd_inner_arguments *, int64_t) =
        ps_dgtd_half_step_select()->inner[system->precision];
#pragma omp parallel for schedule(static) if (end - begin > THREADED_GROUPS)
    for (int64_t g = begin; g < end; ++g) partial[g] = inner(&arguments, g);
}

double ps_dgtd_inner(const ps_dgtd_system *system, const double *weights, const void *a,
                     const void *b, double *partial)
{
    double sum = 0;
    ps_dgtd_inner_groups(system, weights, a, b, 0, system->groups, partial);
    for (int64_t g = 0; g < system->groups; ++g) sum += partial[g];
    return sum;
}

/* value of the trace at (component, node m), between a field and the halo's buffer */
static void move_face(const ps_dgtd_system *system, void *field, int32_t face, void *buffer,
                      int out)
{
    const ps_dgtd_reference *x = system->reference;
    int lanes = ps_dgtd_lanes(system->precision);
    int64_t base = ps_dgtd_offset(system, face / 4);
    for (int c = 0; c < 3; ++c)
        for (int m = 0; m < x->face_nodes; ++m) {
            int64_t from = base + (int64_t)(c * x->nodes + x->face[face % 4][m]) * lanes;
            int to = c * x->face_nodes + m;
            if (system->precision == PS_SINGLE) {
                float *f = (float *)field + from, *b = (float *)buffer + to;
                *(out ? b : f) = *(out ? f : b);
            } else {
                double *f = (double *)field + from, *b = (double *)buffer + to;
                *(out ? b : f) = *(out ? f : b);
            }
        }
}

static void move_faces(const ps_dgtd_system *system, void *field, const int32_t *faces,
                       int64_t count, void *buffer, int out)
{
    int64_t size = ps_dgtd_face_bytes(system);
#pragma omp parallel for schedule(static) if (count > THREADED_FACES)
    for (int64_t i = 0; i < count; ++i)
        move_face(system, field, faces[i], (char *)buffer + i * size, out);
}

int64_t ps_dgtd_face_bytes(const ps_dgtd_system *system)
{
    return 3 * (int64_t)system->reference->face_nodes * (system->precision == PS_SINGLE ? 4 : 8);
}

void ps_dgtd_halo_pack(const ps_dgtd_system *system, const void *field, const int32_t *faces,
                       int64_t count, void *buffer)
{
    move_faces(system, (void *)field, faces, count, buffer, 1);
}

void ps_dgtd_halo_unpack(const ps_dgtd_system *system, void *field, const int32_t *faces,
                         int64_t count, const void *buffer)
{
    move_faces(system, field, faces, count, (void *)buffer, 0);
}
