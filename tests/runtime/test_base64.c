#include <stdlib.h>

#include "runtime/base64.h"
#include "tests/check.h"

/* RFC 4648, section 10, and bytes above 127. */
static void test_vectors(void **state)
{
    static const struct {
        const char *plain, *text;
    } cases[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"},
                 {"\xff\xfe\xfb\xef", "//777w=="}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        PS_SCOPED_MEMORY char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        assert_non_null(file);
        ps_base64_write(file, cases[i].plain, (int64_t)strlen(cases[i].plain));
        fclose(file);
        assert_string_equal(text, cases[i].text);
    }
}
