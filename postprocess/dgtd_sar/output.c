/* What penstock-dgtd-sar writes and says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dgtd_model.h"
#include "formats/field.h"
#include "formats/receivers.h"
#include "kernels/common/vec3.h"
#include "postprocess/dgtd_sar/sar.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"

/* ---- points ---- */

ps_status sar_point_add(sar_job *job, const char *text)
{
    sar_point *p = &job->point[job->points];
    if (job->points == SAR_POINTS_MAX)
        return ps_fail(PS_USAGE, "--at: at most %d points", SAR_POINTS_MAX);
    *p = (sar_point){.place = {.step = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .size = {1, 1, 1}}};
    PS_TRY(ps_parse_vector(text, p->place.origin));
    ps_dgtd_lattice_owners(&p->place, &job->tets, NULL, &p->owner);
    if (p->owner == INT32_MAX || job->row_of[p->owner] < 0)
        return ps_fail(PS_USAGE, "--at %s: there is no field", text);
    ++job->points;
    return PS_OK;
}

static void report_point(const sar_job *job, ps_report *r, int index)
{
    char name[32];
    const sar_point *p = &job->point[index];
    double field[6], square = 0, scale = sqrt(job->scale);
    for (int q = 0; q < 6; ++q) {
        field[q] = p->field[q] * scale;
        square += field[q] * field[q];
    }
    snprintf(name, sizeof name, "at_%d", index + 1);
    ps_report_section(r, name);
    ps_report_reals(r, "place", p->place.origin, 3);
    ps_report_real(r, "electric", sqrt(square));
    ps_report_reals(r, "real", field, 3);
    ps_report_reals(r, "imaginary", field + 3, 3);
}

/* ---- the cut ---- */

/* Points of the plane as a lattice of one layer: the second direction runs fastest. */
ps_status sar_cut_make(sar_job *job, const char *text)
{
    PS_SCOPED(ps_receivers_release) ps_receivers plane = {.count = 0};
    sar_cut *cut = &job->cut;
    PS_TRY(ps_receivers_add_plane(&plane, text));
    const double *x = plane.places;
    ps_dgtd_lattice *l = &cut->points;
    if (plane.grid[0] < 2 || plane.grid[1] < 2)
        return ps_fail(PS_USAGE, "--cut \"%s\": two points in each direction at least", text);
    for (int c = 0; c < 3; ++c) {
        l->origin[c] = x[c];
        l->step[0][c] = x[3 + c] - x[c];
        l->step[1][c] = x[3 * plane.grid[1] + c] - x[c];
    }
    ps_cross3(l->step[0], l->step[1], l->step[2]);
    l->size[0] = plane.grid[1];
    l->size[1] = plane.grid[0];
    l->size[2] = 1;
    cut->count = plane.count;
    PS_TRY(PS_ALLOC(&cut->owner, cut->count, "points of the cut"));
    PS_TRY(PS_ALLOC(&cut->squares, cut->count, "points of the cut"));
    PS_TRY(PS_ALLOC(&cut->values, cut->count, "points of the cut"));
    ps_dgtd_lattice_owners(l, &job->tets, NULL, cut->owner);
    return PS_OK;
}

static double cut_value(const sar_job *job, int64_t i, sar_cut_quantity what)
{
    const sar_cut *cut = &job->cut;
    double point[3];
    int32_t row = cut->owner[i] == INT32_MAX ? -1 : job->row_of[cut->owner[i]];
    if (row < 0) return NAN;
    double square = cut->squares[i] * job->scale;
    int m = job->material[row];
    if (what == SAR_CUT_ELECTRIC) return sqrt(square);
    if (!(job->density[m] > 0)) return NAN;
    if (what == SAR_CUT_POINT)
        return job->header->material[m].sigma * square / (2 * job->density[m]);
    ps_dgtd_lattice_point(&cut->points, i, point);
    return sar_voxels_at(job, point);
}

ps_status sar_cut_write(sar_job *job, const char *text, const char *path, sar_cut_quantity what,
                        const ps_product *product)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    PS_SCOPED(ps_receivers_release) ps_receivers plane = {.count = 0};
    PS_TRY(ps_trace_init(&trace, 1, job->cut.count, false));
    PS_TRY(ps_receivers_add_plane(&plane, text));
    ps_receivers_put(&plane, &trace);
    for (int64_t i = 0; i < job->cut.count; ++i) trace.real[i] = cut_value(job, i, what);
    trace.axis[0] = job->header->frequency[job->frequency];
    trace.in_frequency = true;
    snprintf(trace.quantity, sizeof trace.quantity, "%s",
             what == SAR_CUT_ELECTRIC ? "electric field" : "SAR");
    if (what == SAR_CUT_AVERAGE)
        snprintf(trace.quantity, sizeof trace.quantity, "SAR over %g g",
                 1e3 * job->mass[job->masses - 1]);
    strcpy(trace.units, what == SAR_CUT_ELECTRIC ? "V/m" : "W/kg");
    return ps_trace_save(path, &trace, &product->identity, product->input_count, product->roles,
                         product->inputs);
}

/* ---- the field ---- */

enum { FIELDS_MAX = 4 + SAR_MASSES_MAX };

typedef struct columns {
    float *sar, *electric, *density, *material; /* [tetrahedra] */
    char names[SAR_MASSES_MAX][24];
    ps_field fields[FIELDS_MAX];
    int count;
} columns;

static ps_status fill_columns(const sar_job *job, columns *c)
{
    int64_t count = job->tets.count;
    PS_TRY(PS_ALLOC(&c->sar, count, "SAR of elements"));
    PS_TRY(PS_ALLOC(&c->electric, count, "fields of elements"));
    PS_TRY(PS_ALLOC(&c->density, count, "power of elements"));
    PS_TRY(PS_ALLOC(&c->material, count, "materials of elements"));
    for (int64_t e = 0; e < count; ++e) {
        int32_t r = job->row_of[e];
        c->material[e] = -1;
        if (r < 0) continue;
        double rho = job->density[job->material[r]];
        double power = sar_element_power(job, r) / job->volumes[e];
        c->material[e] = (float)job->material[r];
        c->electric[e] = (float)sqrt(job->mean[r] * job->scale);
        c->density[e] = (float)power;
        c->sar[e] = rho > 0 ? (float)(power / rho) : 0;
    }
    return PS_OK;
}

static void add_column(columns *c, const char *name, const char *units, const float *values)
{
    c->fields[c->count++] = (ps_field){name, units, PS_F32, 1, false, values};
}

ps_status sar_write_field(const sar_job *job, const char *path)
{
    columns c = {.count = 0};
    ps_status status = fill_columns(job, &c);
    add_column(&c, "SAR", "W/kg", c.sar);
    for (int m = 0; m < job->masses && job->grid > 0; ++m) {
        snprintf(c.names[m], sizeof c.names[m], "SAR_%gg", 1e3 * job->mass[m]);
        add_column(&c, c.names[m], "W/kg", job->element_average[m]);
    }
    add_column(&c, "electric", "V/m", c.electric);
    add_column(&c, "power_density", "W/m3", c.density);
    add_column(&c, "material", "1", c.material);
    ps_field_snapshot snapshot = {.grid = {job->mesh.vertex_count, job->tets.count, 4,
                                           job->mesh.vertices, job->mesh.tetrahedra, true},
                                  .field_count = c.count,
                                  .fields = c.fields,
                                  .creator = ps_version(),
                                  .options = job->run->record,
                                  .mesh_hash = job->mesh.content_hash};
    if (status == PS_OK) status = ps_field_save(path, &snapshot);
    PS_FREE(c.sar, c.electric, c.density, c.material);
    return status;
}

/* ---- the figures ---- */

typedef struct total {
    double volume, mass, power, peak;
    int64_t elements;
} total;

static void add_rows(const sar_job *job, total *of, total *all)
{
    for (int64_t r = 0; r < job->header->rows; ++r) {
        int m = job->material[r];
        double volume = job->volumes[job->number[r]], power = sar_element_power(job, r);
        double sigma = job->header->material[m].sigma;
        total *both[2] = {&of[m], all};
        for (int k = 0; k < 2; ++k) {
            both[k]->volume += volume;
            both[k]->mass += volume * job->density[m];
            both[k]->power += power;
            ++both[k]->elements;
            if (job->density[m] > 0)
                both[k]->peak =
                    fmax(both[k]->peak, .5 * sigma * job->most[r] * job->scale / job->density[m]);
        }
    }
}

/* Media of one tag and name are one material: slivers that were made heavier, say. */
static void join_materials(const ps_phasors_header *h, total *of)
{
    for (int m = 1; m < h->materials; ++m)
        for (int k = 0; k < m; ++k) {
            const ps_phasors_material *a = &h->material[k], *b = &h->material[m];
            if (a->tag != b->tag || strcmp(a->name, b->name) != 0 || of[m].elements == 0) continue;
            of[k].volume += of[m].volume;
            of[k].mass += of[m].mass;
            of[k].power += of[m].power;
            of[k].elements += of[m].elements;
            of[k].peak = fmax(of[k].peak, of[m].peak);
            of[m] = (total){0};
        }
}

static void report_material(ps_report *r, const ps_phasors_material *x, const total *t)
{
    char name[64];
    if (t->elements == 0) return;
    if (x->name[0])
        snprintf(name, sizeof name, "%s", x->name);
    else
        snprintf(name, sizeof name, "tag_%d", x->tag);
    ps_report_section(r, name);
    ps_report_int(r, "elements", t->elements);
    ps_report_real(r, "volume", t->volume);
    ps_report_real(r, "absorbed", t->power);
    if (!(t->mass > 0)) return;
    ps_report_real(r, "mass", t->mass);
    ps_report_real(r, "mean_sar", t->power / t->mass);
    ps_report_real(r, "largest_sar", t->peak);
}

static void report_peak(const sar_job *job, ps_report *r, int which, const sar_peak *p)
{
    static const char *const how[] = {"", "centre of its cube", "inside a cube",
                                      "at faces of cubes"};
    char name[32];
    snprintf(name, sizeof name, "average_%gg", 1e3 * job->mass[which]);
    ps_report_section(r, name);
    ps_report_real(r, "largest", p->value);
    ps_report_int(r, "voxels_without", p->none);
    if (p->material < 0) return;
    ps_report_reals(r, "place", p->place, 3);
    ps_report_text(r, "voxel", how[p->status]);
    if (p->side > 0) ps_report_real(r, "side", p->side);
    ps_report_int(r, "tag", job->header->material[p->material].tag);
}

/* Absorbed power and outflow are what the ports give (dgtd.md: the balance of the march, of a
 * frequency). Wires and networks may take some of it, but add none. */
ps_status sar_check_balance(const sar_job *job)
{
    static const char said[] =
        "the ports accept %.4g W, and %.4g W are absorbed or flow out, off by %.2g: fields that "
        "had not died away, elements too large for the waves at a matched layer, or wires and "
        "networks that absorb";
    double accepted, sum = job->outflow * job->scale;
    if (!isfinite(sum) || !ps_phasors_ports_give(job->phasors, job->frequency, &accepted))
        return PS_OK;
    accepted *= job->scale;
    for (int64_t r = 0; r < job->header->rows; ++r) sum += sar_element_power(job, r);
    double balance = sum / accepted - 1;
    if (balance > PS_PHASORS_WRONG)
        return ps_refuse(job->run, "imbalance", said, accepted, sum, balance);
    if (fabs(balance) > PS_PHASORS_BALANCE) ps_warning(said, accepted, sum, balance);
    return PS_OK;
}

static void report_balance(const sar_job *job, ps_report *r, double sum)
{
    double accepted;
    if (!ps_phasors_ports_give(job->phasors, job->frequency, &accepted)) return;
    ps_report_real(r, "port_power", accepted * job->scale);
    ps_report_real(r, "balance", sum / (accepted * job->scale) - 1);
}

static void report_sums(const sar_job *job, ps_report *r, const total *all)
{
    double power = all->power, flow = job->outflow * job->scale;
    ps_report_real(r, "frequency", job->header->frequency[job->frequency]);
    ps_report_quantity(r, "amplitude", sqrt(job->scale), job->header->source_units);
    ps_report_real(r, "absorbed", power);
    if (isfinite(flow)) {
        ps_report_real(r, "outflow", flow);
        ps_report_real(r, "accepted", power + flow);
        report_balance(job, r, power + flow);
    }
    if (strcmp(job->header->source_units, "V/m") == 0)
        ps_report_real(r, "absorption_cross_section", power / job->scale * 2 * PS_DGTD_Z0);
    if (all->mass > 0) {
        ps_report_real(r, "mass", all->mass);
        ps_report_real(r, "largest_sar", all->peak);
    }
}

void sar_report(const sar_job *job, const sar_peak *peaks)
{
    ps_report *r = ps_report_new(job->run);
    total of[PS_PHASORS_MATERIALS_MAX] = {{0}}, all = {0};
    add_rows(job, of, &all);
    report_sums(job, r, &all);
    if (job->header->unsettled >= 0) ps_report_real(r, "unsettled", job->header->unsettled);
    if (job->grid > 0) {
        double mass, power;
        sar_voxels_totals(job, &mass, &power);
        if (fabs(mass - all.mass) > 0.05 * all.mass)
            ps_warning(
                "the voxels of --grid hold %.4g kg of tissue, its elements %.4g kg: averages "
                "over cubes are as wrong, take smaller ones",
                mass, all.mass);
        ps_report_int(r, "voxels", job->voxels.count);
        ps_report_real(r, "voxel_mass", mass);
        ps_report_real(r, "voxel_power", power);
        for (int m = 0; m < job->masses; ++m) report_peak(job, r, m, &peaks[m]);
    }
    for (int i = 0; i < job->points; ++i) report_point(job, r, i);
    join_materials(job->header, of);
    for (int m = 0; m < job->header->materials; ++m)
        report_material(r, &job->header->material[m], &of[m]);
    ps_report_print(&r);
}
