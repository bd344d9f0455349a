/*
 * figure_table: what penstock-dgtd-march may print through runtime/report.h; main.c alone includes
 * it.
 */
#ifndef PS_COMPUTE_DGTD_MARCH_FIGURE_TABLE_H
#define PS_COMPUTE_DGTD_MARCH_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"run.backend", "text", "what computes"},
    {"run.elements", "1", "tetrahedra"},
    {"run.order", "1", "polynomial order"},
    {"run.unknowns", "1", "field values"},
    {"run.ranks", "1", "ranks"},
    {"run.steps", "1", "steps of the run"},
    {"run.local_levels", "1", "classes of smaller steps inside of a step"},
    {"run.updates_a_step", "1", "updates of elements in a step"},
    {"run.steps_done", "1", "steps that are done"},
    {"run.steps_in_this_start", "1", "steps since this start"},
    {"run.step", "s", "time step"},
    {"run.steps_a_period", "1", "steps in a period of the transforms"},
    {"run.probes", "1", "probes"},
    {"run.frequencies", "1", "frequencies of the transforms"},
    {"fields.electric_energy", "J", "at the end"},
    {"fields.largest_electric_energy", "J", "largest of the run"},
    {"fields.left", "1", "energy of the fields at the end, of the largest of its samples"},
    {"fields.mode_error", "1", "relative L2 error of a cavity's mode"},
    {"seconds.opening", "s", "up to the first step"},
    {"seconds.stepping", "s", "stepping"},
    {"seconds.enqueuing", "s", "enqueuing work for the device"},
    {"seconds.waiting", "s", "waiting for other ranks, devices or disk"},
    {"seconds.keeping", "s", "samples, snapshots, checkpoints"},
    {"rates.elements_a_second", "1/s", "elements and steps over the time of stepping"},
    {"rates.unknowns_a_second", "1/s", "field values and steps over it"},
    {"tiles.ranges", "1", "ranges of elements"},
    {"tiles.largest_range", "1", "elements of the largest"},
    {"tiles.ranges_a_tile", "1", "ranges of a tile"},
    {"tiles.steps_a_visit", "1", "steps that a visit advances"},
    {"tiles.half_steps_a_step", "1",
     "half steps that tiles make a step of, with those of local steps that go over all ranges"},
    {"tiles.phases_a_tile", "1", "phases of a tile"},
    {"tiles.part_on_device", "1", "part of the elements that is on the device at once"},
    {"tiles.geometry_on_device", "flag", "whether geometry stays on the device"},
    {"tiles.to_device", "B", "copied to the device"},
    {"tiles.to_host", "B", "copied from it"},
    {"file.read", "B", "read from the file of the fields"},
    {"file.written", "B", "written to it"},
    {"file.read_seconds", "s", "reading it"},
    {"file.write_seconds", "s", "writing it"},
    {"file.waited_seconds", "s", "waiting for it"},
    {"placement.fields_in_memory", "flag", "whether fields stay in memory, not in a file"},
    {"placement.fields_on_device", "flag", "whether they stay on the device"},
    {"placement.device_budget", "B", "memory of the device that may be used"},
    {NULL, NULL, NULL}};

#endif
