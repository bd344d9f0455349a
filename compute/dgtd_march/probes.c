/* Where probes are asked for, and which elements hold them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

static ps_status add_point(problem *p, int64_t *capacity, const double point[3])
{
    if (p->probe_count == PROBES_MAX) return ps_fail(PS_USAGE, "more than %d probes", PROBES_MAX);
    PS_TRY(ps_grow((void **)&p->points, capacity, p->probe_count + 1, 3 * sizeof(double),
                   "the probes"));
    memcpy(p->points + 3 * p->probe_count++, point, 3 * sizeof(double));
    return PS_OK;
}

static ps_status read_file(const char *path, problem *p, int64_t *capacity)
{
    char text[256];
    FILE *file;
    ps_status status = ps_path_open_input(path, "a file of points", &file);
    if (status != PS_OK) return ps_context(status, "--probes");
    for (int line = 1; status == PS_OK && fgets(text, sizeof text, file); ++line) {
        double x[3];
        char rest[2];
        if (text[strspn(text, " \t\r\n")] == 0 || text[0] == '#') continue;
        if (sscanf(text, "%lf%*[ ,\t]%lf%*[ ,\t]%lf %1s", x, x + 1, x + 2, rest) == 3)
            status = add_point(p, capacity, x);
        else
            status = ps_fail(PS_INVALID, "%s: line %d is not three numbers", path, line);
    }
    fclose(file);
    return status;
}

ps_status probes_read(const march_options *options, problem *p)
{
    int64_t capacity = 0;
    for (int i = 0; i < options->probes.count; ++i) {
        double point[3];
        int count;
        PS_TRY(ps_parse_reals(options->probes.items[i], ',', point, 3, &count));
        if (count != 3)
            return ps_fail(PS_USAGE, "--probe %s: expected X,Y,Z in m", options->probes.items[i]);
        PS_TRY(add_point(p, &capacity, point));
    }
    return options->probe_file ? read_file(options->probe_file, p, &capacity) : PS_OK;
}

unsigned long long probes_hash(const problem *p)
{
    return ps_receivers_hash(&(ps_receivers){.count = p->probe_count, .places = p->points});
}

/* For each point the element of this rank that holds it, by number in the mesh; -1: none. */
static ps_status find_all(const problem *p, int64_t *elements, int64_t *numbers)
{
    for (int64_t i = 0; i < p->probe_count; ++i) {
        elements[i] = ps_dgtd_probe_find(&p->body, p->domain.source, p->points + 3 * i);
        numbers[i] = elements[i] < 0 ? INT64_MAX : p->domain.source[elements[i]];
    }
    return ps_comm_min_i64(numbers, p->probe_count);
}

typedef struct found {
    int64_t element, place;
} found;

static int by_element(const void *a, const void *b)
{
    const found *x = a, *y = b;
    if (x->element != y->element) return (x->element > y->element) - (x->element < y->element);
    return (x->place > y->place) - (x->place < y->place);
}

static ps_status keep_own(const problem *p, const int64_t *elements, const int64_t *numbers,
                          found *list, int64_t *count)
{
    for (int64_t i = 0; i < p->probe_count; ++i) {
        const double *x = p->points + 3 * i;
        if (numbers[i] == INT64_MAX)
            return ps_fail(PS_USAGE, "the probe at %g,%g,%g lies in no element of the mesh", x[0],
                           x[1], x[2]);
        if (elements[i] < 0 || p->domain.source[elements[i]] != numbers[i]) continue;
        if (p->domain.layer && p->domain.layer[elements[i]])
            return ps_fail(PS_USAGE,
                           "the probe at %g,%g,%g lies in the matched layer, where fields are not "
                           "those of open space",
                           x[0], x[1], x[2]);
        list[(*count)++] = (found){elements[i], i};
    }
    qsort(list, (size_t)*count, sizeof *list, by_element);
    return PS_OK;
}

ps_status probes_find(const problem *p, ps_dgtd_probe **own, int64_t **places, int64_t *count)
{
    PS_SCOPED_MEMORY int64_t *elements = NULL, *numbers = NULL;
    PS_SCOPED_MEMORY found *list = NULL;
    *count = 0;
    PS_TRY(PS_ALLOC(&elements, p->probe_count, "the probes"));
    PS_TRY(PS_ALLOC(&numbers, p->probe_count, "the probes"));
    PS_TRY(PS_ALLOC(&list, p->probe_count, "the probes"));
    PS_TRY(find_all(p, elements, numbers));
    PS_TRY(keep_own(p, elements, numbers, list, count));
    PS_TRY(PS_ALLOC(own, *count, "the probes"));
    PS_TRY(PS_ALLOC(places, *count, "the probes"));
    for (int64_t k = 0; k < *count; ++k) {
        (*places)[k] = list[k].place;
        ps_dgtd_probe_set(*own + k, &p->body, &p->reference, list[k].element,
                          p->points + 3 * list[k].place);
    }
    return PS_OK;
}
