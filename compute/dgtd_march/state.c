/* What checkpoints of a run hold, and what a run is. */
#include <stdio.h>
#include <string.h>

#include "compute/dgtd_march/tiles.h"

/* The states of poles and of the layer, which are in memory wherever the fields are. */
static int describe_layer(const problem *p, ps_type type, ps_checkpoint_array *arrays)
{
    int64_t item = type == PS_F32 ? 4 : 8, count = layer_state_bytes(p) / item;
    if (p->special) {
        *arrays = (ps_checkpoint_array){"/polarisation", "V/m", type, media_state_bytes(p) / item,
                                        p->dispersion.state};
        if (p->pml.rows == 0) return 1;
        ++arrays;
    }
    if (p->pml.rows == 0) return 0;
    arrays[0] = (ps_checkpoint_array){"/electric_layer", "V/m", type, count, p->pml.state[0]};
    arrays[1] = (ps_checkpoint_array){"/magnetic_layer", "V/m", type, count, p->pml.state[1]};
    return 2 + p->special;
}

/* What is in memory wherever the fields are. */
static int describe_more(const problem *p, ps_type type, ps_checkpoint_array *arrays)
{
    int count = describe_layer(p, type, arrays);
    if (p->port_count > 0)
        arrays[count++] =
            (ps_checkpoint_array){"/ports", "1", PS_F64, p->port_state_count, p->port_states};
    if (p->wire_count > 0)
        arrays[count++] =
            (ps_checkpoint_array){"/wires", "1", PS_F64, p->wire_state_count, p->wire_states};
    if (far_is_asked(p))
        arrays[count++] = (ps_checkpoint_array){"/far_sums", "V", PS_F64, far_sums(p), p->far.sums};
    return count;
}

static int describe(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    march *m = context;
    const problem *p = m->problem;
    ps_type type = p->system.precision == PS_SINGLE ? PS_F32 : PS_F64;
    arrays[0] = (ps_checkpoint_array){"/figures", "1", PS_F64, FIGURES, &m->figures};
    if (m->tiles && m->tiles->paged) {
        arrays[1] =
            (ps_checkpoint_array){"/hashes", "1", PS_I64, m->tiles->ranges, m->tiles->hashes};
        return 2 + describe_more(p, type, arrays + 2);
    }
    int64_t item = type == PS_F32 ? 4 : 8;
    int64_t field = p->system.groups * 3 * p->reference.nodes * PS_DGTD_ALIGN / item;
    int64_t sums = p->frequency_count
                       ? (int64_t)ps_dgtd_dft_bytes(&p->system, (int)p->frequency_count) / item
                       : 0;
    const ps_checkpoint_array fields[] = {
        {"/electric", "V/m", type, field, m->march.electric},
        {"/magnetic", "V/m", type, field, m->march.magnetic},
        {"/electric_sums", "V/m", type, sums, m->sums[PS_DGTD_E]},
        {"/magnetic_sums", "V/m", type, sums, m->sums[PS_DGTD_H]}};
    memcpy(arrays + 1, fields, sizeof fields);
    return 5 + describe_more(p, type, arrays + 5);
}

/* Where the state is, is part of what a run is. */
ps_status march_name(march *m, const ps_product *product)
{
    const march_plan *plan = m->plan;
    const char *place = plan->file && plan->backend == &backend_device ? "cuda-file"
                        : plan->file                                   ? "file"
                        : plan->backend                                ? plan->backend->name
                                                                       : "memory";
    char more[64];
    snprintf(more, sizeof more, "ranks=%d\nstate=%s\n", ps_comm_size(), place);
    PS_TRY(ps_state_name(product->path, m->name));
    return ps_product_identity(product, more, &m->identity);
}

ps_state_spec march_spec(march *m)
{
    static const char *const files[] = {".state0", ".state1", NULL};
    return (ps_state_spec){.run = m->run,
                           .name = m->name,
                           .identity = m->identity,
                           .unit = "step",
                           .every_rank = true,
                           .series = true,
                           .every = m->options->checkpoint_every,
                           .describe = describe,
                           .adopt = m->plan->file ? tiles_adopt : NULL,
                           .others = files,
                           .context = m};
}
