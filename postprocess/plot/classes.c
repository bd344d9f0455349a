/* Classes of local steps of a dgtd model: elements and updates by class. */

#include "formats/dgtd_model.h"
#include "kernels/dgtd/local_steps.h"
#include "postprocess/plot/plot.h"
#include "runtime/scope.h"

typedef struct class_counts {
    int64_t elements[PS_DGTD_MODEL_LEVELS + 1];
    double updates[PS_DGTD_MODEL_LEVELS + 1], total; /* in a whole step */
} class_counts;

static void count_classes(const ps_dgtd_domain *whole, class_counts *out)
{
    for (int64_t e = 0; e < whole->elements; ++e) {
        int class = ps_dgtd_reach_q(whole->reach[e]);
        ++out->elements[class];
        out->updates[class] += ps_dgtd_local_updates(whole->reach + e, 1);
    }
    for (int l = 0; l <= PS_DGTD_MODEL_LEVELS; ++l) out->total += out->updates[l];
}

static void put_data(const class_counts *x, const ps_dgtd_model_header *h, int64_t elements,
                     canvas *c)
{
    double dt = h->dt / PS_DGTD_C0;
    canvas_put(c, "$C << END\n");
    for (int l = 0; l <= h->local_levels; ++l, dt *= ps_dgtd_local_ratio())
        canvas_put(c, "%d %.6g %.6g \"%d: %.3g ps\"\n", l,
                   100 * (double)x->elements[l] / (double)elements, 100 * x->updates[l] / x->total,
                   l, 1e12 * dt);
    canvas_put(c, "END\n");
}

ps_status plot_classes(const plot_request *request, canvas *c)
{
    PS_SCOPED(ps_dgtd_model_close) ps_dgtd_model_file *model = NULL;
    PS_SCOPED(ps_dgtd_domain_release) ps_dgtd_domain whole = {0};
    class_counts x = {0};
    PS_TRY(plot_need_files(request, 1, 1, "models of dgtd-setup"));
    PS_TRY(ps_dgtd_model_open(request->files[0], &model));
    const ps_dgtd_model_header *h = ps_dgtd_model_head(model);
    if (h->local_levels == 0)
        return ps_fail(PS_USAGE, "%s has one step for all elements (dgtd-setup --local-steps auto)",
                       request->files[0]);
    const int64_t parts[] = {0, h->parts};
    PS_TRY(ps_dgtd_model_load(model, parts, 1, 0, 16, &whole));
    count_classes(&whole, &x);
    put_data(&x, h, whole.elements, c);
    canvas_title(c, request->title ? request->title : "classes of local steps");
    canvas_put(c,
               "set xlabel 'class and step of H'\nset ylabel 'share (%%)'\n"
               "set style fill solid 0.9 noborder\nset boxwidth 0.4 absolute\n"
               "set grid noxtics ytics\nset xrange [-0.6:%d.6]\n%s\n"
               "plot $C using ($1 - .2):2:xtic(4) with boxes lc rgb '%s' title '%lld elements', "
               "$C using ($1 + .2):3 with boxes lc rgb '%s' title '%.4g updates in a step'\n",
               h->local_levels, request->log ? "set logscale y" : "set yrange [0:*]",
               canvas_colour(0), (long long)whole.elements, canvas_colour(1), x.total);
    return PS_OK;
}
