/* GeoTIFF: one band of heights, by libtiff and libgeotiff. */
#include "preprocess/terrain_import/terrain.h"

#ifdef PS_WITH_GEOTIFF
#if __has_include(<geotiff/geotiffio.h>)
#include <geotiff/geo_normalize.h>
#include <geotiff/geotiffio.h>
#include <geotiff/xtiffio.h>
#else
#include <geo_normalize.h>
#include <geotiffio.h>
#include <xtiffio.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

enum {
    TAG_SCALE = 33550,
    TAG_TIES = 33922,
    TAG_TRANSFORM = 34264,
    TAG_METADATA = 42112,
    TAG_NO_DATA = 42113
};

static char said[400]; /* the last error of libtiff, which has no other way to tell */

static void keep_error(const char *module, const char *format, va_list list)
{
    vsnprintf(said, sizeof said, format, list);
}

typedef struct image {
    const char *path;
    TIFF *tiff;
    uint16_t bits, format;
    uint32_t width, height, block[2]; /* of a tile, or rows of a strip */
    bool tiled;
} image;

static ps_status failed(const image *m, const char *what)
{
    return ps_fail(PS_INVALID, "%s: %s%s%s", m->path, what, said[0] ? ": " : "", said);
}

/* A text that GDAL wrote; NULL: none. */
static const char *gdal_text(const image *m, uint32_t tag)
{
    const TIFFField *field = TIFFFindField(m->tiff, tag, TIFF_ANY);
    char *text = NULL;
    uint32_t count = 0;
    if (!field) return NULL;
    int got = TIFFFieldPassCount(field) ? TIFFGetField(m->tiff, tag, &count, &text)
                                        : TIFFGetField(m->tiff, tag, &text);
    return got && text ? text : NULL;
}

/* ---- layout ---- */

static ps_status check_layout(image *m)
{
    uint16_t samples = 1;
    TIFFGetFieldDefaulted(m->tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetFieldDefaulted(m->tiff, TIFFTAG_BITSPERSAMPLE, &m->bits);
    TIFFGetFieldDefaulted(m->tiff, TIFFTAG_SAMPLEFORMAT, &m->format);
    if (!TIFFGetField(m->tiff, TIFFTAG_IMAGEWIDTH, &m->width) ||
        !TIFFGetField(m->tiff, TIFFTAG_IMAGELENGTH, &m->height))
        return failed(m, "an image without a size");
    if (samples != 1)
        return ps_fail(PS_INVALID, "%s has %d bands: an elevation model has one", m->path, samples);
    bool real = m->format == SAMPLEFORMAT_IEEEFP && (m->bits == 32 || m->bits == 64);
    bool whole = (m->format == SAMPLEFORMAT_INT || m->format == SAMPLEFORMAT_UINT) &&
                 (m->bits == 16 || m->bits == 32);
    if (!real && !whole)
        return ps_fail(PS_INVALID,
                       "%s has samples of %d bits, format %d: integers of 16 or 32 bits or reals "
                       "of 32 or 64 are heights",
                       m->path, m->bits, m->format);
    m->tiled = TIFFIsTiled(m->tiff);
    m->block[0] = m->width;
    int got = m->tiled ? TIFFGetField(m->tiff, TIFFTAG_TILEWIDTH, &m->block[0]) &&
                             TIFFGetField(m->tiff, TIFFTAG_TILELENGTH, &m->block[1])
                       : TIFFGetFieldDefaulted(m->tiff, TIFFTAG_ROWSPERSTRIP, &m->block[1]);
    if (!got || m->block[0] == 0 || m->block[1] == 0) return failed(m, "no tiles and no strips");
    if (m->block[1] > m->height && !m->tiled) m->block[1] = m->height;
    return PS_OK;
}

static double sample_of(const image *m, const unsigned char *at)
{
    union {
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        float f32;
        double f64;
    } v;
    memcpy(&v, at, m->bits / 8);
    if (m->format == SAMPLEFORMAT_IEEEFP) return m->bits == 32 ? (double)v.f32 : v.f64;
    if (m->format == SAMPLEFORMAT_INT) return m->bits == 16 ? v.i16 : v.i32;
    return m->bits == 16 ? v.u16 : v.u32;
}

static ps_status read_block(const image *m, uint32_t x, uint32_t y, unsigned char *room,
                            tmsize_t size, elevation *e)
{
    tmsize_t got =
        m->tiled ? TIFFReadEncodedTile(m->tiff, TIFFComputeTile(m->tiff, x, y, 0, 0), room, size)
                 : TIFFReadEncodedStrip(m->tiff, TIFFComputeStrip(m->tiff, y, 0), room, size);
    if (got < 0) return failed(m, "heights cannot be read");
    uint32_t columns = m->width - x < m->block[0] ? m->width - x : m->block[0];
    uint32_t rows = m->height - y < m->block[1] ? m->height - y : m->block[1];
    tmsize_t line = (tmsize_t)m->block[0] * (m->bits / 8);
    if (got < (tmsize_t)(rows - 1) * line + (tmsize_t)columns * (m->bits / 8))
        return failed(m, "heights are cut short");
    for (uint32_t j = 0; j < rows; ++j)
        for (uint32_t i = 0; i < columns; ++i)
            e->height[(int64_t)(y + j) * m->width + x + i] =
                sample_of(m, room + (tmsize_t)j * line + (tmsize_t)i * (m->bits / 8));
    return PS_OK;
}

static ps_status read_samples(const image *m, const reading *how, elevation *e)
{
    PS_SCOPED_MEMORY unsigned char *room = NULL;
    tmsize_t size = m->tiled ? TIFFTileSize(m->tiff) : TIFFStripSize(m->tiff);
    if (size <= 0 || size / m->block[0] / m->block[1] < m->bits / 8)
        return failed(m, "tiles or strips without a size");
    if (size > how->run->host_memory) return failed(m, "one tile or strip is beyond --host-memory");
    PS_TRY(elevation_allocate(how->run, e));
    PS_TRY(PS_ALLOC(&room, size, "a tile of an image"));
    for (uint32_t y = 0; y < m->height; y += m->block[1])
        for (uint32_t x = 0; x < m->width; x += m->block[0])
            PS_TRY(read_block(m, x, y, room, size, e));
    return PS_OK;
}

/* ---- places ---- */

/* Of the first and last points along both axes; pixels stand for areas unless keys say points. */
static ps_status read_places(const image *m, bool points, elevation *e)
{
    uint16_t ties = 0, scales = 0, numbers = 0;
    double *tie = NULL, *scale = NULL, *matrix = NULL, origin[2], step[2];
    if (TIFFGetField(m->tiff, TAG_TRANSFORM, &numbers, &matrix) && numbers >= 16) {
        if (matrix[1] != 0 || matrix[4] != 0)
            return ps_fail(PS_INVALID, "%s is rotated: resample it to a grid along x and y",
                           m->path);
        origin[0] = matrix[3], origin[1] = matrix[7];
        step[0] = matrix[0], step[1] = matrix[5];
    } else if (TIFFGetField(m->tiff, TAG_SCALE, &scales, &scale) && scales >= 2 &&
               TIFFGetField(m->tiff, TAG_TIES, &ties, &tie) && ties == 6) {
        step[0] = scale[0], step[1] = -scale[1];
        for (int d = 0; d < 2; ++d) origin[d] = tie[3 + d] - tie[d] * step[d];
    } else {
        return ps_fail(PS_INVALID,
                       "%s does not say where its pixels lie: one tie point and a scale, or a "
                       "matrix, are expected",
                       m->path);
    }
    e->count[0] = m->width, e->count[1] = m->height;
    for (int d = 0; d < 2; ++d) {
        double first = origin[d] + (points ? 0 : step[d] / 2);
        PS_TRY(elevation_axis(e, d, first, step[d]));
    }
    return PS_OK;
}

static void scale_places(elevation *e, double unit)
{
    for (int d = 0; d < 2; ++d) {
        e->first[d] *= unit;
        e->step[d] *= unit;
    }
}

/* The unit of both axes; where it is not known only a user who says what x and y are may go on. */
static ps_status take_unit(const image *m, const reading *how, bool known, double unit,
                           elevation *e)
{
    if (how->coordinates == COORDINATES_UNKNOWN && !known)
        return ps_fail(PS_INVALID,
                       "%s: the unit of its coordinates is not known; where it is m or degrees "
                       "--coordinates projected|geographic says so",
                       m->path);
    if (known && unit > 0) scale_places(e, unit);
    return PS_OK;
}

static ps_status read_horizontal(const image *m, const reading *how, GTIF *keys, elevation *e)
{
    unsigned short model = 0, code = 0;
    GTIFDefn all = {0};
    GTIFKeyGetSHORT(keys, GTModelTypeGeoKey, &model, 0, 1);
    bool read = GTIFGetDefn(keys, &all);
    bool degrees = model == ModelTypeGeographic;
    if (degrees || model == ModelTypeProjected) {
        double size;
        bool known = (read && (degrees ? all.UOMAngle : all.UOMLength) != KvUserDefined) ||
                     GTIFKeyGetDOUBLE(
                         keys, degrees ? GeogAngularUnitSizeGeoKey : ProjLinearUnitSizeGeoKey,
                         &size, 0, 1);
        e->coordinates = degrees ? COORDINATES_GEOGRAPHIC : COORDINATES_PROJECTED;
        GTIFKeyGetSHORT(keys, degrees ? GeographicTypeGeoKey : ProjectedCSTypeGeoKey, &code, 0, 1);
        PS_TRY(
            take_unit(m, how, known, degrees ? all.UOMAngleInDegrees : all.UOMLengthInMeters, e));
    } else if (model != 0) {
        return ps_fail(PS_INVALID, "%s is neither projected nor geographic (model %d)", m->path,
                       model);
    }
    if (code > 0 && code < KvUserDefined)
        snprintf(e->reference, sizeof e->reference, "EPSG:%d", code);
    else
        GTIFKeyGetASCII(keys, GTCitationGeoKey, e->reference, 200);
    return PS_OK;
}

/* Vertical reference systems of EPSG whose heights or depths are not in m upwards. */
static const struct vertical {
    int code;
    double unit;
    positive positive;
} other_verticals[] = {{5702, 1200. / 3937, POSITIVE_UP},
                       {6360, 1200. / 3937, POSITIVE_UP},
                       {8052, 1200. / 3937, POSITIVE_UP},
                       {8050, 0.3048, POSITIVE_UP},
                       {8228, 0.3048, POSITIVE_UP},
                       {5715, 1, POSITIVE_DOWN},
                       {6357, 1, POSITIVE_DOWN},
                       {5831, 1, POSITIVE_DOWN},
                       {5861, 1, POSITIVE_DOWN},
                       {6358, 1200. / 3937, POSITIVE_DOWN},
                       {6359, 1200. / 3937, POSITIVE_DOWN},
                       {8053, 1200. / 3937, POSITIVE_DOWN},
                       {8051, 0.3048, POSITIVE_DOWN}};

/* Usual ones in m upwards: of the Earth, of Europe and its countries, of other continents. */
static const int metres_up[] = {3855, 5714, 5773, 5798, 5621, 5730, 9389, 3900, 5613, 5699, 5701,
                                5705, 5709, 5710, 5717, 5720, 5728, 5775, 5776, 5780, 5782, 5783,
                                5784, 5799, 5941, 7837, 5703, 5711, 5713, 6647, 7839};

/* By --height-unit where the system is none of these. */
static ps_status take_vertical(const image *m, const reading *how, int code, elevation *e)
{
    for (size_t k = 0; k < sizeof other_verticals / sizeof *other_verticals; ++k)
        if (other_verticals[k].code == code) {
            e->height_unit = other_verticals[k].unit;
            e->positive = other_verticals[k].positive;
            return PS_OK;
        }
    for (size_t k = 0; k < sizeof metres_up / sizeof *metres_up; ++k)
        if (metres_up[k] == code) e->height_unit = 1;
    if (e->height_unit > 0 || how->height_unit > 0) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: heights are of the vertical system EPSG:%d, whose unit is not known here: "
                   "--height-unit says it",
                   m->path, code);
}

static ps_status read_vertical(const image *m, const reading *how, GTIF *keys, elevation *e)
{
    unsigned short unit = 0, code = 0;
    if (GTIFKeyGetSHORT(keys, VerticalUnitsGeoKey, &unit, 0, 1)) {
        e->height_unit = unit == 9001   ? 1
                         : unit == 9002 ? 0.3048
                         : unit == 9003 ? 1200. / 3937
                                        : how->height_unit;
        if (!(e->height_unit > 0))
            return ps_fail(PS_INVALID, "%s: heights are in units of EPSG:%d: m and feet are taken",
                           m->path, unit);
    }
    double by_key = e->height_unit;
    if (!GTIFKeyGetSHORT(keys, VerticalCSTypeGeoKey, &code, 0, 1) || code == KvUserDefined)
        return PS_OK;
    PS_TRY(take_vertical(m, how, code, e));
    if (by_key > 0) e->height_unit = by_key;
    return PS_OK;
}

static ps_status read_keys(const image *m, const reading *how, GTIF *keys, elevation *e)
{
    unsigned short raster = RasterPixelIsArea;
    GTIFKeyGetSHORT(keys, GTRasterTypeGeoKey, &raster, 0, 1);
    PS_TRY(read_places(m, raster == RasterPixelIsPoint, e));
    PS_TRY(read_horizontal(m, how, keys, e));
    return read_vertical(m, how, keys, e);
}

/* The value of an item of GDAL's metadata by its role; "": none. */
static void item_of(const char *metadata, const char *role, char *out, size_t size)
{
    char mark[2][32];
    out[0] = 0;
    for (int k = 0; k < 2; ++k) {
        snprintf(mark[k], sizeof mark[k], k ? "role='%s'" : "role=\"%s\"", role);
        const char *at = metadata ? strstr(metadata, mark[k]) : NULL;
        const char *begin = at ? strchr(at, '>') : NULL;
        if (begin) snprintf(out, size, "%.*s", (int)strcspn(begin + 1, "<"), begin + 1);
    }
}

static ps_status read_metadata(const image *m, const reading *how, elevation *e)
{
    static const char *const unapplied[] = {"scale", "offset"};
    const char *metadata = gdal_text(m, TAG_METADATA);
    char text[64];
    for (int k = 0; k < 2; ++k) {
        item_of(metadata, unapplied[k], text, sizeof text);
        if (text[0])
            return ps_fail(PS_INVALID,
                           "%s holds numbers with a scale or an offset, which are not applied "
                           "here: gdal_translate -unscale makes heights of them",
                           m->path);
    }
    item_of(metadata, "unittype", text, sizeof text);
    return elevation_height_unit(how, text, e);
}

/* Gaps as a mask of an image of its own, which GDAL writes beside pictures, and into files. */
static ps_status refuse_mask(const image *m)
{
    uint32_t kind;
    while (TIFFReadDirectory(m->tiff))
        if (TIFFGetField(m->tiff, TIFFTAG_SUBFILETYPE, &kind) && (kind & FILETYPE_MASK) &&
            !(kind & FILETYPE_REDUCEDIMAGE))
            return ps_fail(PS_INVALID,
                           "%s has its gaps as a mask, which is not read: gdal_translate -a_nodata "
                           "VALUE --config GDAL_TIFF_INTERNAL_MASK NO makes a value of it",
                           m->path);
    return PS_OK;
}

static ps_status read_gaps(const image *m, elevation *e)
{
    const char *text = gdal_text(m, TAG_NO_DATA);
    char *end;
    if (!text) return PS_OK;
    double flag = strtod(text, &end);
    if (end == text) return ps_fail(PS_INVALID, "%s: its flag of gaps is \"%s\"", m->path, text);
    elevation_drop(e, flag);
    return PS_OK;
}

static ps_status read_open(image *m, const reading *how, elevation *out)
{
    PS_TRY(check_layout(m));
    GTIF *keys = GTIFNew(m->tiff);
    if (!keys) return failed(m, "its keys cannot be read");
    ps_status status = read_keys(m, how, keys, out);
    GTIFFree(keys);
    PS_TRY(status);
    PS_TRY(read_metadata(m, how, out));
    PS_TRY(read_samples(m, how, out));
    PS_TRY(read_gaps(m, out));
    return refuse_mask(m);
}

ps_status read_geotiff(const char *path, const reading *how, elevation *out)
{
    image m = {.path = path, .bits = 1, .format = SAMPLEFORMAT_UINT};
    TIFFSetErrorHandler(keep_error);
    TIFFSetWarningHandler(NULL);
    m.tiff = XTIFFOpen(path, "r");
    if (!m.tiff) return failed(&m, "it cannot be read as TIFF");
    ps_status status = read_open(&m, how, out);
    XTIFFClose(m.tiff);
    return status;
}
#endif
