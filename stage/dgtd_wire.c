#include "stage/dgtd_wire.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

static ps_status take_path(int64_t nodes, ps_dgtd_wire *x)
{
    PS_TRY(PS_ALLOC(&x->ends, nodes, "a wire"));
    PS_TRY(PS_ALLOC(&x->directions, nodes, "a wire"));
    PS_TRY(PS_ALLOC(&x->lengths, nodes, "a wire"));
    PS_TRY(PS_ALLOC(&x->covered, nodes, "a wire"));
    PS_TRY(PS_ALLOC(&x->inductance, nodes * nodes, "a wire"));
    PS_TRY(PS_ALLOC(&x->factor, nodes * nodes, "a wire"));
    PS_TRY(PS_ALLOC(&x->elastance, nodes * nodes, "a wire"));
    PS_TRY(PS_ALLOC(&x->measured, nodes, "a wire"));
    PS_TRY(PS_ALLOC(&x->scratch, 2 * nodes, "a wire"));
    return PS_ALLOC(&x->work, 2 * nodes * nodes + 3 * nodes, "a wire");
}

ps_status ps_dgtd_wire_open(const ps_dgtd_wire_shape *shape, const ps_dgtd_reference *reference,
                            const ps_dgtd_body *body, ps_dgtd_wire *x)
{
    memset(x, 0, sizeof *x);
    PS_TRY(take_path(shape->nodes, x));
    ps_dgtd_wire_path(shape, body, x);
    PS_TRY(PS_ALLOC(&x->slots, x->elements, "a wire"));
    PS_TRY(PS_ALLOC(&x->first, x->elements + 1, "a wire"));
    PS_TRY(PS_ALLOC(&x->pair, x->pairs, "a wire"));
    PS_TRY(PS_ALLOC(&x->values, x->pairs * 4 * reference->nodes, "a wire"));
    return ps_dgtd_wire_fill(shape, reference, body, x);
}

void ps_dgtd_wire_close(ps_dgtd_wire *x)
{
    free(x->ends), free(x->directions), free(x->lengths), free(x->covered), free(x->inductance);
    free(x->factor), free(x->elastance), free(x->measured), free(x->scratch), free(x->work);
    free(x->slots), free(x->first), free(x->pair), free(x->values);
    memset(x, 0, sizeof *x);
}
