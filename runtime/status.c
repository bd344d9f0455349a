#include "runtime/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048 };

static _Thread_local char message[MESSAGE_SIZE];

ps_status ps_fail(ps_status code, const char *format, ...)
{
    char text[MESSAGE_SIZE]; /* the arguments may contain the old message */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    memcpy(message, text, sizeof text);
    return code;
}

ps_status ps_context(ps_status code, const char *format, ...)
{
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length >= 0 && length + 3 < MESSAGE_SIZE) {
        size_t kept = strnlen(message, (size_t)(MESSAGE_SIZE - 3 - length));
        memcpy(text + length, ": ", 2);
        memcpy(text + length + 2, message, kept);
        text[length + 2 + (int)kept] = '\0';
    }
    memcpy(message, text, sizeof text);
    return code;
}

const char *ps_message(void) { return message; }
