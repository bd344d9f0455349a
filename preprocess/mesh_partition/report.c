/* report: how good a partition is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

typedef struct quality {
    int64_t cut_faces, cut_faces_max, halo_max, neighbours_max, pieces_max, layer_largest;
    int64_t smallest, largest;
    double neighbours_mean, imbalance, link_distance;
} quality;

/* Pieces of a part that hang together across faces; seen[..] and queue[..] of the part. */
static int64_t pieces_of(const ps_partition *p, int64_t first, int64_t end, uint8_t *seen,
                         int32_t *queue)
{
    int64_t pieces = 0, head = 0, tail = 0;
    memset(seen, 0, (size_t)(end - first));
    for (int64_t e = first; e < end; ++e) {
        if (seen[e - first]) continue;
        ++pieces;
        seen[e - first] = 1;
        for (queue[tail++] = (int32_t)e; head < tail; ++head)
            for (int f = 0; f < 4; ++f) {
                int32_t link = p->links[4 * (int64_t)queue[head] + f];
                if (link < 0 || link / 4 < first || link / 4 >= end || seen[link / 4 - first])
                    continue;
                seen[link / 4 - first] = 1;
                queue[tail++] = link / 4;
            }
    }
    return pieces;
}

typedef struct survey {
    int32_t *last; /* [elements] last part that counted an element of another part as halo */
    int64_t *met;  /* [parts] likewise, for parts */
    int64_t links;
    double distance;
} survey;

static void survey_part(const ps_partition *p, int64_t q, survey *s, quality *out)
{
    int64_t cut = 0, halo = 0, neighbours = 0;
    for (int64_t f = 4 * p->part_start[q]; f < 4 * p->part_start[q + 1]; ++f) {
        int32_t other = p->links[f] / 4;
        if (p->links[f] < 0) continue;
        int64_t part = ps_range_of(p->part_start, p->parts, other);
        if (part == q) {
            s->distance += fabs((double)other - (double)(f / 4));
            ++s->links;
            continue;
        }
        ++cut;
        halo += s->last[other] != q + 1;
        neighbours += s->met[part] != q + 1;
        s->last[other] = (int32_t)(q + 1);
        s->met[part] = q + 1;
    }
    out->cut_faces += cut; /* from both sides */
    out->cut_faces_max = ps_larger(out->cut_faces_max, cut);
    out->halo_max = ps_larger(out->halo_max, halo);
    out->neighbours_max = ps_larger(out->neighbours_max, neighbours);
    out->neighbours_mean += (double)neighbours / (double)p->parts;
}

static void weigh_parts(const job *j, quality *out)
{
    const ps_partition *p = &j->mesh;
    double total = 0, most = 0;
    out->smallest = p->elements;
    for (int64_t q = 0; q < p->parts; ++q) {
        int64_t size = p->part_start[q + 1] - p->part_start[q];
        double weight = (double)size;
        if (j->weights) {
            weight = 0;
            for (int64_t e = p->part_start[q]; e < p->part_start[q + 1]; ++e)
                weight += j->weights[e];
        }
        total += weight;
        most = fmax(most, weight);
        out->largest = ps_larger(out->largest, size);
        out->smallest = size < out->smallest ? size : out->smallest;
    }
    out->imbalance = most * (double)p->parts / total;
    for (int64_t l = 0; l < p->layer_count; ++l)
        out->layer_largest =
            ps_larger(out->layer_largest, p->layer_start[l + 1] - p->layer_start[l]);
}

static ps_status judge(const job *j, quality *out)
{
    const ps_partition *p = &j->mesh;
    PS_SCOPED_MEMORY int32_t *last = NULL, *queue = NULL;
    PS_SCOPED_MEMORY int64_t *met = NULL;
    PS_SCOPED_MEMORY uint8_t *seen = NULL;
    memset(out, 0, sizeof *out);
    PS_TRY(PS_ALLOC(&last, p->elements, "the report"));
    PS_TRY(PS_ALLOC(&met, p->parts, "the report"));
    PS_TRY(PS_ALLOC(&seen, p->elements, "the report"));
    PS_TRY(PS_ALLOC(&queue, p->elements, "the report"));
    survey s = {.last = last, .met = met};
    for (int64_t q = 0; q < p->parts; ++q) {
        survey_part(p, q, &s, out);
        out->pieces_max = ps_larger(
            out->pieces_max, pieces_of(p, p->part_start[q], p->part_start[q + 1], seen, queue));
    }
    out->cut_faces /= 2;
    out->link_distance = s.links ? s.distance / (double)s.links : 0;
    weigh_parts(j, out);
    return PS_OK;
}

void report_partition(const job *j)
{
    const ps_partition *p = &j->mesh;
    quality q;
    if (judge(j, &q) != PS_OK) {
        ps_warning("no report: %s", ps_message());
        return;
    }
    ps_report *r = ps_report_new(j->run);
    ps_report_text(r, "method", p->method);
    ps_report_text(r, "order", p->order);
    ps_report_int(r, "elements", p->elements);
    ps_report_int(r, "vertices", p->vertex_count);
    ps_report_int(r, "components", p->components);
    ps_report_int(r, "outer_faces", j->outer_faces);
    ps_report_int(r, "tagged_faces", p->face_count);
    ps_report_int(r, "parts", p->parts);
    ps_report_int(r, "elements_min", q.smallest);
    ps_report_int(r, "elements_max", q.largest);
    ps_report_real(r, "imbalance", q.imbalance);
    ps_report_int(r, "cut_faces", q.cut_faces);
    ps_report_int(r, "cut_faces_max", q.cut_faces_max);
    ps_report_int(r, "halo_elements_max", q.halo_max);
    ps_report_int(r, "neighbours_max", q.neighbours_max);
    ps_report_real(r, "neighbours_mean", q.neighbours_mean);
    ps_report_int(r, "pieces_max", q.pieces_max);
    ps_report_real(r, "link_distance", q.link_distance);
    if (p->layer_count) ps_report_int(r, "layer_count", p->layer_count);
    if (p->layer_count) ps_report_int(r, "layer_largest", q.layer_largest);
    ps_report_real(r, "reading", j->seconds[0]);
    ps_report_real(r, "linking", j->seconds[1]);
    ps_report_real(r, "cutting", j->seconds[2]);
    ps_report_real(r, "ordering", j->seconds[3]);
    ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
}
