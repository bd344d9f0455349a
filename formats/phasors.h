/*
 * phasors: fields of a dgtd run at chosen frequencies, per element and node,
 * "penstock-dgtd-phasors" (specs/dgtd_phasors.md).
 *
 * E(t) = Re(E^ e^{+iwt}), peak values. A row is an element; its values are [6][nodes]: real parts
 * of x, y, z, then imaginary parts, at the nodes of the reference tetrahedron with the vertices
 * ascending by their numbers in the mesh file.
 */
#ifndef PS_FORMATS_PHASORS_H
#define PS_FORMATS_PHASORS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/store.h"
#include "runtime/program.h"

#define PS_PHASORS_FORMAT "penstock-dgtd-phasors"
enum { PS_PHASORS_VERSION = 2, PS_PHASORS_FREQUENCIES_MAX = 64, PS_PHASORS_MATERIALS_MAX = 256 };

typedef struct ps_phasors_material {
    int tag;                        /* physical group of the mesh       */
    double eps, mu, sigma, density; /* relative, relative, S/m, kg/m3; density 0: not known */
    char name[48];                  /* no line ends; may be ""          */
    bool dispersive; /* eps and sigma are those of a frequency (ps_phasors_choose), or eps is the
                        least one of a tensor */
} ps_phasors_material;

typedef struct ps_phasors_header {
    int order;             /* p = 1..4; nodes (p+1)(p+2)(p+3)/6                                */
    int64_t rows;          /* elements in this file (of all parts, when read)                  */
    int64_t mesh_elements; /* tetrahedra of the mesh                                           */
    char mesh_hash[17];    /* content hash of the mesh file                                    */
    int frequencies, materials;
    double frequency[PS_PHASORS_FREQUENCIES_MAX]; /* Hz, ascending                           */
    double source[PS_PHASORS_FREQUENCIES_MAX][2]; /* the same sum over the source's function */
    char source_units[16];                        /* "V/m", "A m", "1"                       */
    bool magnetic;
    double unsettled; /* share of the fields that had not died away or become steady when they were
                         transformed; negative: not known                                       */
    bool has_accepted;
    double accepted[PS_PHASORS_FREQUENCIES_MAX]; /* W: by ports, of the fields undivided         */
    bool has_incident;
    double incident[PS_PHASORS_FREQUENCIES_MAX]; /* W: that came into driven ports, likewise; 0:
                                                    below a cut-off */
    ps_phasors_material material[PS_PHASORS_MATERIALS_MAX];
    /* Of dispersive materials, at each frequency: relative permittivity and all losses, S/m */
    double eps_at[PS_PHASORS_FREQUENCIES_MAX][PS_PHASORS_MATERIALS_MAX];
    double sigma_at[PS_PHASORS_FREQUENCIES_MAX][PS_PHASORS_MATERIALS_MAX];
} ps_phasors_header;

typedef enum ps_phasors_field { PS_PHASORS_ELECTRIC, PS_PHASORS_MAGNETIC } ps_phasors_field;

typedef struct ps_phasors ps_phasors;

/* Above this share of unsettled fields transforms are warned of. */
#define PS_PHASORS_SETTLED 1e-2
/* Powers that are one another's sum are warned of where they are off by more. */
#define PS_PHASORS_BALANCE 1e-2
/* Above this share what is made of the transforms, or of the powers, is refused. */
#define PS_PHASORS_WRONG .1
/* Sources that have less than this at a frequency, of what their samples could add up to, are
 * refused. */
#define PS_PHASORS_FAINT 1e-3

int ps_phasors_nodes(int order);

/* ---- writing: every rank its own file (ps_store_part_path), then ps_store_write_master ---- */

/* PS_INVALID if the header is not one that a reader takes. */
ps_status ps_phasors_create(const char *path, const ps_store_identity *identity,
                            const ps_phasors_header *header, ps_phasors **out);
ps_store *ps_phasors_store(ps_phasors *file); /* borrowed: for inputs and attributes */

/* Rows a chunk; rows are written a chunk at a time: */
int64_t ps_phasors_chunk_rows(const ps_phasors *file);

/* All rows: number[rows] (tetrahedron of the mesh) and material[rows]. */
ps_status ps_phasors_write_elements(ps_phasors *file, const int32_t *number,
                                    const int32_t *material);

/* Optional, bytes of all rows: faces[rows][4], the condition on each face (ps_dgtd_face), 0 between
 * elements, faces opposite the vertices in their ascending order; driven[rows], 1 where a current,
 * a port or a wire acts. */
typedef enum ps_phasors_mark { PS_PHASORS_FACES, PS_PHASORS_DRIVEN } ps_phasors_mark;
ps_status ps_phasors_write_marks(ps_phasors *file, ps_phasors_mark what, const uint8_t *bytes);

/* Values of rows [first * chunk_rows, ..) of one frequency, `chunks` chunks of them, which threads
 * compress at once: values[rows][6][nodes], undivided by the source. Thread-safe for different
 * chunks. */
ps_status ps_phasors_write_chunks(ps_phasors *file, int frequency, ps_phasors_field field,
                                  int64_t first, int64_t chunks, const float *values);
ps_status ps_phasors_commit(ps_phasors **file);
void ps_phasors_close(ps_phasors **file); /* before commit: discards. NULL is fine */

/* ---- reading ---- */

/* Checks the header and the arrays' shapes. */
ps_status ps_phasors_open(const char *path, ps_phasors **out);
const ps_phasors_header *ps_phasors_get_header(const ps_phasors *file);
/* W that the ports of the run give the fields at a frequency, per unit of the source squared.
 * PS_USAGE without ports, PS_INVALID where it is not positive. */
ps_status ps_phasors_accepted(const ps_phasors *file, int frequency, double *out);
/* The same where nothing but ports is a source, which is what powers add up to; false: the file
 * does not say it, or another source is beside them. */
bool ps_phasors_ports_give(const ps_phasors *file, int frequency, double *out);
/* Likewise what came into the ports that are driven, by their references; PS_USAGE if the file does
 * not say it. */
ps_status ps_phasors_incident(const ps_phasors *file, int frequency, double *out);
/* From now on the header's dispersive materials have eps and sigma of this frequency; those of the
 * first one before. */
void ps_phasors_choose(ps_phasors *file, int frequency);
/* Warns with the figure where fields had not settled, or where the file does not say; refuses where
 * more than PS_PHASORS_WRONG of them had not (--allow unsettled). */
ps_status ps_phasors_check_settled(const ps_phasors *file, const ps_run *run);

/* number[rows], material[rows]; PS_INVALID for one that is out of range or twice. */
ps_status ps_phasors_read_elements(ps_phasors *file, int32_t *number, int32_t *material);

/* True if the file has these marks. */
bool ps_phasors_has_marks(const ps_phasors *file, ps_phasors_mark what);
/* Likewise; PS_INVALID without, or of another shape. */
ps_status ps_phasors_read_marks(ps_phasors *file, ps_phasors_mark what, uint8_t *bytes);

/* PS_USAGE where elements that are driven lie outside of a far field's surface: sides[2] of them
 * outside and inside. */
ps_status ps_phasors_check_enclosed(const int64_t sides[2]);

/* Rows [first, first + count), divided by the source: values[count][6][nodes]. */
ps_status ps_phasors_read_rows(ps_phasors *file, int frequency, ps_phasors_field field,
                               int64_t first, int64_t count, float *values);

#endif
