/* The input file: compressed or not, and which reader takes it. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "formats/gzip_file.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/path.h"

enum { BLOCK_BYTES = 1 << 18 };

static void suffix_of(const char *name, size_t length, char out[16])
{
    size_t dot = length;
    while (dot > 0 && name[dot - 1] != '.' && name[dot - 1] != '/') --dot;
    out[0] = '\0';
    if (dot == 0 || name[dot - 1] != '.' || length - dot > 13) return;
    out[0] = '.';
    for (size_t i = dot; i < length; ++i) out[i - dot + 1] = (char)tolower((unsigned char)name[i]);
    out[length - dot + 1] = '\0';
}

static ps_status check_file(const char *name)
{
    FILE *file;
    PS_TRY(ps_path_open_input(name, "a mesh or geometry file", &file));
    fclose(file);
    return PS_OK;
}

/* Text of meshes packs to a tenth or so; a thousandth is an attack on the disk. */
static ps_status check_expansion(const char *name, int64_t expanded)
{
    enum { MOST = 100, FREE_BYTES = 64 << 20 };
    struct stat info;
    if (stat(name, &info) != 0 || expanded <= FREE_BYTES + MOST * (int64_t)info.st_size)
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: its %lld bytes expand to more than %d times as many; decompress it "
                   "yourself if it is what you think",
                   name, (long long)info.st_size, MOST);
}

static ps_status put_block(FILE *out, const void *data, size_t bytes, const char *name)
{
    PS_TRY(check_expansion(name, (int64_t)ftello(out) + (int64_t)bytes));
    if (fwrite(data, 1, bytes, out) == bytes) return PS_OK;
    return ps_fail(PS_EXHAUSTED, "%s: no room to decompress it (%s); set TMPDIR to a larger disk",
                   name, strerror(errno));
}

static ps_status gunzip(const char *name, FILE *out, void *block)
{
    gzFile in;
    ps_status status = ps_gzip_open(name, "a mesh", &in);
    if (status != PS_OK) return status;
    int got = 0;
    while (status == PS_OK && (got = gzread(in, block, BLOCK_BYTES)) > 0)
        status = put_block(out, block, (size_t)got, name);
    if (status == PS_OK) status = ps_gzip_check(in, name);
    if (status == PS_OK && gzdirect(in))
        status = ps_fail(PS_INVALID, "%s: not gzip data, whatever its suffix says", name);
    gzclose(in);
    return status;
}

static ps_status unzstd_blocks(const char *name, FILE *in, FILE *out, char *block,
                               ZSTD_DStream *stream)
{
    char *raw = block + BLOCK_BYTES;
    size_t got, left = 1;
    while ((got = fread(block, 1, BLOCK_BYTES, in)) > 0) {
        ZSTD_inBuffer from = {block, got, 0};
        while (from.pos < from.size) {
            ZSTD_outBuffer to = {raw, BLOCK_BYTES, 0};
            left = ZSTD_decompressStream(stream, &to, &from);
            if (ZSTD_isError(left))
                return ps_fail(PS_INVALID, "%s: the zstd data are broken (%s)", name,
                               ZSTD_getErrorName(left));
            PS_TRY(put_block(out, raw, to.pos, name));
        }
    }
    return left == 0 ? PS_OK : ps_fail(PS_INVALID, "%s: the zstd data are cut short", name);
}

static ps_status unzstd(const char *name, FILE *out, void *block)
{
    FILE *in = fopen(name, "rb");
    ZSTD_DStream *stream = ZSTD_createDStream();
    ps_status status = in && stream ? unzstd_blocks(name, in, out, block, stream)
                                    : ps_fail(PS_EXHAUSTED, "%s: cannot be opened", name);
    ZSTD_freeDStream(stream);
    if (in) fclose(in);
    return status;
}

/* Into a file of the inner name in a folder of its own, as readers go by the suffix. */
static ps_status decompress(import_input *input, bool gzip)
{
    void *block = NULL;
    PS_TRY(ps_scratch_folder_make(&input->folder));
    snprintf(input->path, sizeof input->path, "%s/mesh%s", input->folder.path, input->suffix);
    FILE *out = fopen(input->path, "wb");
    if (!out) return ps_fail(PS_EXHAUSTED, "%s: %s", input->path, strerror(errno));
    ps_status status = ps_alloc(&block, 2 * BLOCK_BYTES, 1, "decompression");
    if (status == PS_OK)
        status = gzip ? gunzip(input->name, out, block) : unzstd(input->name, out, block);
    free(block);
    if (fclose(out) != 0 && status == PS_OK)
        status =
            ps_fail(PS_EXHAUSTED, "%s: no room to decompress it: %s", input->name, strerror(errno));
    if (status == PS_OK) status = check_file(input->path);
    return status;
}

ps_status import_input_open(const char *name, import_input *input)
{
    memset(input, 0, sizeof *input);
    input->name = name;
    size_t length = strlen(name);
    PS_TRY(check_file(name));
    if (length >= sizeof input->path)
        return ps_fail(PS_USAGE, "the name %.60s... is too long", name);
    suffix_of(name, length, input->suffix);
    bool gzip = strcmp(input->suffix, ".gz") == 0, zstd = strcmp(input->suffix, ".zst") == 0;
    if (gzip || zstd) {
        suffix_of(name, length - (gzip ? 3 : 4), input->suffix);
        ps_status status = decompress(input, gzip);
        if (status != PS_OK) import_input_release(input);
        return status;
    }
    strcpy(input->path, name);
    return PS_OK;
}

void import_input_release(import_input *input) { ps_scratch_folder_remove(&input->folder); }

bool import_has_suffix(const import_input *input, const char *const *list)
{
    for (; *list; ++list)
        if (strcmp(input->suffix, *list) == 0) return true;
    return false;
}

bool import_is_geometry(const import_input *input)
{
    static const char *const suffixes[] = {".geo", ".step", ".stp", ".iges", ".igs", ".brep", NULL};
    return import_has_suffix(input, suffixes);
}

bool import_word(FILE *file, char *out, int room)
{
    int c = getc_unlocked(file), length = 0;
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t') c = getc_unlocked(file);
    for (; c > ' ' && length < room - 1; c = getc_unlocked(file)) out[length++] = (char)c;
    out[length] = '\0';
    ungetc(c, file);
    return length > 0;
}
