/*
 * view: a surface, its regions and fields as one page that a browser turns (plot_view): what is
 * read from files, thinned to what a page can hold, and written into the page.
 */
#ifndef PS_PLOT_VIEW_H
#define PS_PLOT_VIEW_H

#include "postprocess/plot/plot.h"
#include "postprocess/plot/skin.h"

enum { VIEW_FIELDS_MAX = 8, VIEW_FRAMES_MAX = 40, VIEW_TRIANGLES_MAX = 60000 };

typedef struct view_field {
    char name[64], units[32];
    bool at_vertices;
    int frames;
    double times[VIEW_FRAMES_MAX]; /* s; NAN: there are none                                   */
    double *values;                /* [frames][vertices or triangles]                          */
} view_field;

typedef struct view {
    ps_surface_mesh mesh;
    view_field fields[VIEW_FIELDS_MAX];
    int field_count, fields_there; /* shown, and in the file                                   */
    int64_t triangles_there;       /* before thinning                                          */
    double merged;                 /* m: vertices closer than about this are one; 0: none are  */
} view;

/* Reads MESH or FIELD, MESH and HISTORY, or FIELDs that are frames of one another. */
ps_status view_load(const plot_request *request, view *out);
void view_release(view *v);
/* Merges vertices on a grid, the finest that leaves at most VIEW_TRIANGLES_MAX triangles. */
ps_status view_thin(view *v);

#endif
