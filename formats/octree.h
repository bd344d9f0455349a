/*
 * octree: a tree of uniform depth over particles, in memory and as a file, "penstock-octree"
 * (specs/octree.md).
 *
 * Levels 0 .. height-1; a cell is a Morton key of 3 bits a level, x the most significant of each
 * triple; only non-empty cells exist, ascending on every level. The children of a cell, and the
 * particles of a leaf, are consecutive. A group is `group_size` consecutive cells of a level, the
 * last one shorter.
 */
#ifndef PS_FORMATS_OCTREE_H
#define PS_FORMATS_OCTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/particles.h"

enum {
    PS_OCTREE_VERSION = 2,    /* 1: charges alone */
    PS_OCTREE_LEVELS_MAX = 21 /* heights 1 .. 21: leaves on level 20 at most */
};
#define PS_OCTREE_FORMAT "penstock-octree"

typedef struct ps_octree_box {
    double corner[3], width; /* a cube */
} ps_octree_box;

/* The cube around [lower, upper] with the same middle; width 1 where all is one point. */
ps_octree_box ps_octree_bounding_box(const double lower[3], const double upper[3]);

/* ---- in memory ---- */

typedef struct ps_octree {
    int height;
    ps_octree_box box;
    int64_t particles;
    int64_t cells[PS_OCTREE_LEVELS_MAX];
    uint64_t *keys[PS_OCTREE_LEVELS_MAX];       /* [cells], ascending                        */
    int64_t *child_start[PS_OCTREE_LEVELS_MAX]; /* [cells + 1] into the next level; above the
                                                   leaves only                               */
    int64_t *particle_start;                    /* [leaves + 1] into the sorted particles    */
    int64_t group_size;                         /* n_g                                       */
    void *memory;                               /* what all of these arrays are parts of     */
} ps_octree;

/* Bytes of all arrays of a tree with these numbers of cells. */
int64_t ps_octree_bytes(int height, const int64_t *cells);
/* Allocates the arrays for cells[height], not filled (kernels/fmm/tree.h fills them). PS_USAGE for
 * a height outside 1 .. 21. */
ps_status ps_octree_init(ps_octree *tree, int height, const ps_octree_box *box,
                         const int64_t *cells, int64_t group_size);
void ps_octree_release(ps_octree *tree); /* frees the arrays, zeroes the struct */
/* One root, ascending keys within the level, children and particles consecutive, none empty,
 * parents' keys those of their children. PS_INVALID with the first fault. */
ps_status ps_octree_check(const ps_octree *tree);

int64_t ps_octree_leaves(const ps_octree *tree);
int64_t ps_octree_groups(const ps_octree *tree, int level); /* ceil(cells / n_g) */
/* The cells of a group: [*first, *end). */
void ps_octree_group(const ps_octree *tree, int level, int64_t group, int64_t *first, int64_t *end);
int64_t ps_octree_group_cells(const ps_octree *tree, int level, int64_t group);
int64_t ps_octree_group_particles(const ps_octree *tree, int64_t group); /* of a leaf group */

/* Particles that a chunk of a tree of so many may have. */
int64_t ps_octree_tile_room(int64_t particles);
/* Chunks of particles: whole groups as many as fit `capacity`, or a part of one larger group.
 * *start ([*tiles + 1], first particle of each) is the caller's to free. */
ps_status ps_octree_tiles(const ps_octree *tree, int64_t **start, int64_t *tiles,
                          int64_t *capacity);

/* For every group a list of numbers: items[start[g] .. start[g + 1]), ascending. */
typedef struct ps_group_list {
    int64_t groups;
    int64_t *start; /* [groups + 1] */
    int64_t *items;
} ps_group_list;
void ps_group_list_release(ps_group_list *list);

/* ---- in a file ---- */

typedef enum ps_octree_side { PS_OCTREE_SOURCES, PS_OCTREE_TARGETS } ps_octree_side;

typedef struct ps_octree_header {
    int height, right_hand_sides;
    ps_moments moments; /* what the columns of charges are */
    int64_t group_size;
    ps_octree_box box;
    bool same;        /* targets are the sources: only PS_OCTREE_SOURCES is there              */
    bool sorted;      /* false: of a file of particles, in its order                           */
    int64_t count[2]; /* particles of each side; of the sources twice if the same              */
    int64_t coincident, clamped; /* particles at the place of an earlier one; moved into the
                                    box's cells though outside it; both sides together       */
    char length_units[32], charge_units[32];
} ps_octree_header;

typedef struct ps_octree_file ps_octree_file;

/* What lists there are, each for the groups of the target side (specs/octree.md). */
typedef enum ps_octree_list {
    PS_OCTREE_FAR_GROUPS,  /* a level: source groups of its M2L                              */
    PS_OCTREE_NEAR_GROUPS, /* leaves: source groups of its P2P, other than itself if the same */
    PS_OCTREE_AUGMENTED    /* leaves, only if the same: neighbour leaves of later groups      */
} ps_octree_list;
/* Forecasts, a number a group. */
typedef enum ps_octree_forecast {
    PS_OCTREE_FAR_PAIRS,      /* a level: cell pairs of M2L                                  */
    PS_OCTREE_NEAR_PAIRS,     /* leaves: particle pairs within the group, mutual if the same;
                                 otherwise all ordered pairs                                 */
    PS_OCTREE_AUGMENTED_PAIRS /* leaves: mutual pairs with augmented leaves; 0 if not the same */
} ps_octree_forecast;

ps_status ps_octree_create(const char *path, const ps_store_identity *identity,
                           const ps_octree_header *header, ps_octree_file **out);
/* Writes the levels of a side, and prepares its tiles. Targets have no charges. */
ps_status ps_octree_put_tree(ps_octree_file *file, ps_octree_side side, const ps_octree *tree);
/* One tile of sorted particles: columns as in formats/particles.h (targets: 3), place in the
 * caller's order. Every tile once; thread-safe for different tiles. */
ps_status ps_octree_write_tile(ps_octree_file *file, ps_octree_side side, int64_t tile,
                               const double *const *columns, const int64_t *permutation);
ps_status ps_octree_put_list(ps_octree_file *file, ps_octree_list which, int level,
                             const ps_group_list *list);
ps_status ps_octree_put_forecast(ps_octree_file *file, ps_octree_forecast which, int level,
                                 const int64_t *values, int64_t groups);
/* Records the two counts, commits and frees, on failure too. */
ps_status ps_octree_commit(ps_octree_file **file, int64_t coincident, int64_t clamped);
void ps_octree_close(ps_octree_file **file); /* before commit: discards. NULL is fine */

/* Also a file of particles: it is a tree of height 1, whose leaf has them in the order of the file.
 */
ps_status ps_octree_open(const char *path, ps_octree_file **out);
const ps_octree_header *ps_octree_file_header(const ps_octree_file *file);
ps_store *ps_octree_file_store(const ps_octree_file *file); /* borrowed */
/* Reads and checks the tree of a side; of the sources for PS_OCTREE_TARGETS if they are the
 * same. Release it with ps_octree_release. */
ps_status ps_octree_load_tree(ps_octree_file *file, ps_octree_side side, ps_octree *out);
/* Tiles of a side; tile t holds particles [start[t], start[t + 1]), borrowed. */
const int64_t *ps_octree_tile_start(const ps_octree_file *file, ps_octree_side side,
                                    int64_t *tiles);
/* Reads sorted particles [first, first + count), which may span tiles; whole tiles cost no
 * copy. permutation may be NULL; column_count 0: only the permutation. Thread-safe. */
ps_status ps_octree_read(ps_octree_file *file, ps_octree_side side, int64_t first, int64_t count,
                         double *const *columns, int column_count, int64_t *permutation);
/* Lists and forecasts; *values ([groups]) and the list are the caller's to free / release. */
ps_status ps_octree_get_list(ps_octree_file *file, ps_octree_list which, int level,
                             ps_group_list *out);
ps_status ps_octree_get_forecast(ps_octree_file *file, ps_octree_forecast which, int level,
                                 int64_t **values, int64_t *groups);

#endif
