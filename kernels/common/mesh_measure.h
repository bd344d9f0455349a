/*
 * mesh_measure: lengths, areas, volumes and qualities of triangles and tetrahedra.
 *
 * Vertices are positions[..][3]; cells name them. No allocation, no state.
 */
#ifndef PS_KERNELS_COMMON_MESH_MEASURE_H
#define PS_KERNELS_COMMON_MESH_MEASURE_H

#include <stdint.h>

double ps_triangle_area(const double *a, const double *b, const double *c);
/* Vector of the length of twice the area, counterclockwise side up. */
void ps_triangle_normal(const double *a, const double *b, const double *c, double out[3]);
/* det(b-a, c-a, d-a)/6: positive if b, c, d turn counterclockwise seen from a's far side. */
double ps_tetrahedron_volume(const double *a, const double *b, const double *c, const double *d);

/* Radius ratios, 1 for regular cells, 0 for flat ones: 2 r_in/R_circ of a triangle,
 * 3 r_in/R_circ of a tetrahedron. */
double ps_triangle_quality(const double *a, const double *b, const double *c);
double ps_tetrahedron_quality(const double *a, const double *b, const double *c, const double *d);

enum { PS_QUALITY_BINS = 10000 };

/* Figures of a set of cells. */
typedef struct ps_cell_figures {
    double size_sum, size_min; /* areas or (signed) volumes                                  */
    double quality_min, quality_mean;
    double quality_low;    /* 1 % of the cells are below, to 1e-4                               */
    double worst_place[3]; /* centroid of the cell of least quality                          */
} ps_cell_figures;

/* cells[count][size], size 3 or 4. Sums go in the order of the cells. histogram: workspace. */
void ps_cells_measure(const double *vertices, const int32_t *cells, int64_t count, int size,
                      int64_t histogram[PS_QUALITY_BINS], ps_cell_figures *out);

typedef struct ps_edge_figures {
    int64_t count;
    double min, mean, max;
} ps_edge_figures;
void ps_edge_figures_start(ps_edge_figures *figures);
void ps_edge_figures_add(ps_edge_figures *figures, const double *a, const double *b);
void ps_edge_figures_end(ps_edge_figures *figures);

/* Volume inside each of `parts` closed parts of a surface, positive where the normals point
 * outwards: sum of a . (b x c) / 6 about `origin` (divergence theorem). flip: triangles to be
 * counted with their normals turned, or NULL. volumes[parts]. */
void ps_parts_volumes(const double *vertices, const int32_t *triangles, int64_t count,
                      const int32_t *part, const uint8_t *flip, const double origin[3],
                      int64_t parts, double *volumes);

/* Of a triangle as seen from a point; positive behind it. */
double ps_solid_angle(const double *a, const double *b, const double *c, const double *point);

/* Winding number of part `which` (part NULL: of the whole surface) about a point: 1 inside a closed
 * part with outward normals, -1 inside one with inward normals, 0 outside. Solid angles: A. Van
 * Oosterom, J. Strackee, IEEE Trans. Biomed. Eng. 30 (1983) 125-126, eq. 8. */
double ps_winding_number(const double *vertices, const int32_t *triangles, int64_t count,
                         const int32_t *part, const uint8_t *flip, int32_t which,
                         const double point[3]);

/* Distance of a place from the surface, and the longest edge of the triangle that is nearest (m). */
double ps_surface_distance(const double *vertices, const int32_t *triangles, int64_t count,
                           const double place[3], double *edge);

#endif
