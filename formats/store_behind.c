#include "formats/store_behind.h"

#include <fcntl.h>
#include <unistd.h>

#include "formats/store_private.h"

void ps_store_write_behind(const ps_store *store)
{
    int file = store->temporary ? open(store->temporary, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    (void)sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
    close(file);
}
