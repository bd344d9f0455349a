/* The potential that is written: parts of the ranks and their master, or the last iterate. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compute/schwarz_solve/solve.h"
#include "runtime/memory.h"

const char *solve_method_name(const solve_options *o)
{
    return solve_method_names[o->substructured ? METHOD_DIRECT : o->method];
}

/* Parts of several ranks have one writer at a time. */
ps_status output_begin_set(solve_problem *p, const char *path)
{
    return ps_comm_size() > 1 ? ps_store_set_begin(path, &p->set) : PS_OK;
}

/* Of this rank; the output itself where there is but one. */
ps_status output_create(solve_problem *p, const char *path)
{
    ps_box_field_header header = p->load.header;
    char part[4096];
    strcpy(header.quantity, "potential");
    strcpy(header.units, "m2/s2");
    snprintf(part, sizeof part, "%s", path);
    if (ps_comm_size() > 1) ps_store_part_path(path, p->set.generation, ps_comm_rank(), part);
    PS_TRY(ps_box_field_create_part(part, &p->product.identity, &header, p->first_plane,
                                    p->end_plane, &p->out));
    return ps_product_record(&p->product, p->out.store);
}

/* What a load says of its model and of gravity goes on with the potential; loads of older versions
 * do not say what they are of. */
static ps_status put_origin(solve_problem *p)
{
    char file[512], hash[17], source[16];
    double gravity;
    const ps_store *load = p->load.store;
    if (!ps_store_has(load, "/inputs/model", NULL) || !ps_store_has(load, "/", "source"))
        return PS_OK;
    PS_TRY(ps_store_get_text(load, "/inputs/model", "file", file, sizeof file));
    PS_TRY(ps_store_get_text(load, "/inputs/model", "content_hash", hash, sizeof hash));
    PS_TRY(ps_store_get_text(load, "/", "source", source, sizeof source));
    PS_TRY(ps_store_get_real(load, "/", "gravity", &gravity));
    PS_TRY(ps_store_put_text(p->out.store, "/", "model_file", file));
    PS_TRY(ps_store_put_text(p->out.store, "/", "model_hash", hash));
    PS_TRY(ps_store_put_text(p->out.store, "/", "source", source));
    return ps_store_put_real(p->out.store, "/", "gravity", gravity);
}

static ps_status put_figures(solve_problem *p)
{
    const solve_options *o = &p->options;
    ps_store *s = p->out.store;
    const double t[4] = {1000 * o->transmission.p[0], o->transmission.q[0] / 1000,
                         1000 * o->transmission.p[1], o->transmission.q[1] / 1000};
    PS_TRY(put_origin(p));
    PS_TRY(ps_store_put_text(s, "/", "method", solve_method_name(o)));
    PS_TRY(ps_store_put_int(s, "/", "slabs", o->slabs));
    PS_TRY(ps_store_put_int(s, "/", "iterations", p->result.iterations));
    PS_TRY(ps_store_put_int(s, "/", "converged", p->result.converged));
    if (o->slabs > 1) PS_TRY(ps_store_put_reals(s, "/", "transmission", t, 4));
    if (p->result.iterations == 0) return PS_OK;
    /* Parts are joined: the first one has it all. */
    ps_dataset_spec spec = {.name = "/history/residual",
                            .type = PS_F64,
                            .rank = 1,
                            .dims = {ps_comm_rank() == 0 ? p->result.iterations : 0},
                            .dimensions = {"/history/iteration"},
                            .units = "1",
                            .description = "relative residual after each iteration; 0: not known"};
    return ps_store_write_array(s, &spec, p->history);
}

static ps_status write_planes(solve_problem *p, void *state)
{
    plane_writer writer;
    double start = ps_clock(), others = p->seconds[SECONDS_READ] + p->seconds[SECONDS_CHECK];
    ps_status status = plane_writer_open(p, &writer);
    if (status == PS_OK) status = p->way->write(state, &writer);
    status = ps_comm_agree(status);
    if (status == PS_OK) status = plane_writer_residual(&writer, &p->residual);
    plane_writer_close(&writer);
    others = p->seconds[SECONDS_READ] + p->seconds[SECONDS_CHECK] - others;
    p->seconds[SECONDS_WRITE] += ps_clock() - start - others;
    return status;
}

static ps_status commit_part(solve_problem *p)
{
    PS_TRY(put_figures(p));
    return ps_box_field_commit(&p->out);
}

ps_status output_write(solve_problem *p, const char *path, void *state,
                       ps_status (*judge)(const solve_problem *p))
{
    PS_TRY(ps_comm_agree(p->out.store ? PS_OK : output_create(p, path)));
    PS_TRY(write_planes(p, state));
    if (judge) PS_TRY(judge(p));
    ps_status status = ps_comm_agree(commit_part(p));
    if (status != PS_OK || ps_comm_size() == 1) return status;
    if (ps_comm_rank() == 0)
        status =
            ps_store_write_master(path, &p->product.identity, p->set.generation, ps_comm_size());
    return ps_comm_agree(status);
}

/* A solve that has not converged: its best iterate goes beside the output. */
ps_status output_keep_iterate(solve_problem *p, ps_status failure, void *state)
{
    char message[1024], path[4096];
    if (p->trial || p->result.iterations < p->options.limit || !isfinite(p->result.residual))
        return failure;
    const char *out = p->run->output, *dot = strrchr(out, '.');
    int stem = dot && !strchr(dot, '/') ? (int)(dot - out) : (int)strlen(out);
    snprintf(message, sizeof message, "%s", ps_message());
    snprintf(path, sizeof path, "%.*s.unconverged%s", stem, out, out + stem);
    ps_box_field_close(&p->out);
    ps_store_set_release(&p->set);
    if (output_begin_set(p, path) != PS_OK || output_write(p, path, state, NULL) != PS_OK)
        return ps_fail(failure, "%s", message);
    return ps_fail(failure, "%s. The best iterate, of residual %.3g, is %s", message,
                   p->result.residual, path);
}
