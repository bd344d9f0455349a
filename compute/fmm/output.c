/* The result as a file (specs/fmm_result.md). */
#include "compute/fmm/run.h"
#include "runtime/memory.h"

static ps_status put_sums(const fmm_run *r, ps_store *store)
{
    double energy[PS_RIGHT_HAND_SIDES_MAX], momentum[PS_RIGHT_HAND_SIDES_MAX];
    if (!r->problem.same || !ps_fmm_sum_is_plain(&r->problem.sum)) return PS_OK;
    fmm_total_sums(r, energy, momentum);
    PS_TRY(ps_store_put_reals(store, "/", "energy", energy, r->problem.fmm.sides));
    return ps_store_put_reals(store, "/", "momentum", momentum, r->problem.fmm.sides);
}

static ps_status put_check(const fmm_run *r, ps_store *store)
{
    double potential[PS_RIGHT_HAND_SIDES_MAX], gradient[PS_RIGHT_HAND_SIDES_MAX],
        hessian[PS_RIGHT_HAND_SIDES_MAX];
    if (!r->work.check) return PS_OK;
    int sides = r->problem.sum.sides;
    fmm_check_errors(r->work.check, potential, gradient, hessian);
    if (r->problem.sum.derivatives > 1)
        PS_TRY(ps_store_put_reals(store, "/", "check_hessian", hessian, sides));
    PS_TRY(ps_store_put_int(store, "/", "check_samples", fmm_check_samples(r->work.check)));
    PS_TRY(ps_store_put_reals(store, "/", "check_potential", potential, sides));
    return ps_store_put_reals(store, "/", "check_gradient", gradient, sides);
}

static ps_status put_accuracy(const fmm_run *r, ps_store *store)
{
    if (!r->work.samples) return PS_OK;
    PS_TRY(ps_store_put_real(store, "/", "accuracy", r->problem.accuracy));
    PS_TRY(ps_store_put_int(store, "/", "samples", fmm_check_samples(r->work.samples)));
    PS_TRY(ps_store_put_real(store, "/", "reached_potential", r->reached.potential));
    if (!r->options->gradient) return PS_OK;
    if (r->problem.sum.derivatives > 1)
        PS_TRY(ps_store_put_real(store, "/", "reached_hessian", r->reached.hessian));
    return ps_store_put_real(store, "/", "reached_gradient", r->reached.gradient);
}

static ps_status put_attributes(const fmm_run *r, ps_store *store)
{
    const fmm_problem *p = &r->problem;
    const char *kernel = fmm_kernel_name(p);
    PS_TRY(ps_product_record(&r->product, store));
    PS_TRY(ps_store_put_text(store, "/", "kernel", kernel));
    PS_TRY(ps_store_put_real(store, "/", "parameter", p->fmm.function.parameter));
    PS_TRY(ps_moments_put(store, p->sum.moments));
    PS_TRY(ps_store_put_int(store, "/", "order", p->fmm.interpolation.order));
    PS_TRY(ps_store_put_real(store, "/", "epsilon", p->epsilon));
    PS_TRY(ps_store_put_int(store, "/", "height", p->header->height));
    PS_TRY(ps_store_put_int(store, "/", "group_size", p->header->group_size));
    PS_TRY(ps_store_put_text(store, "/", "tree", r->adaptive ? "adaptive" : "uniform"));
    PS_TRY(fmm_periodic_put(p, store));
    PS_TRY(put_sums(r, store));
    PS_TRY(put_accuracy(r, store));
    return put_check(r, store);
}

static ps_fmm_result_header header_of(const fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    const char *charge = fmm_charge_units(p), *length = p->header->length_units;
    int degree = 0;
    bool has = ps_fmm_kernel_degree(p->fmm.function.kernel, &degree);
    ps_fmm_result_header h = {.count = p->header->count[1],
                              .right_hand_sides = p->sum.sides,
                              .gradient = r->options->gradient,
                              .hessian = p->sum.derivatives > 1,
                              .components = ps_fmm_sum_components(&p->sum)};
    if (!has) degree = 0;
    if (p->sum.field == PS_FIELD_HELMHOLTZ) degree = -1;
    ps_fmm_result_units(charge, length, degree, h.potential_units, sizeof h.potential_units);
    ps_fmm_result_units(charge, length, degree - 1, h.gradient_units, sizeof h.gradient_units);
    ps_fmm_result_units(charge, length, degree - 2, h.hessian_units, sizeof h.hessian_units);
    return h;
}

int fmm_result_version(const fmm_run *r)
{
    ps_fmm_result_header header = header_of(r);
    return ps_fmm_result_version(&header);
}

ps_status fmm_make_result(fmm_run *r)
{
    ps_fmm_result_header header = header_of(r);
    return ps_fmm_result_create(r->product.path, &r->product.identity, &header, &r->file);
}

ps_status fmm_write_result(fmm_run *r)
{
    double start = ps_clock();
    if (!r->file) PS_TRY(fmm_make_result(r));
    PS_TRY(put_attributes(r, ps_fmm_result_store(r->file)));
    PS_TRY(fmm_sink_write(r->work.sink, r->writing, r->file));
    PS_TRY(ps_fmm_result_commit(&r->file));
    r->write_seconds = ps_clock() - start;
    return PS_OK;
}
