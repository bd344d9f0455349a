#include "postprocess/help/help.h"

#include <stdio.h>
#include <string.h>

static void print_options(const program_entry *program, const help_text *help)
{
    printf("        %s) echo \"", program->name);
    for (int i = 0; i < help->option_count; ++i)
        printf("%s--%s", i ? " " : "", help->options[i].name);
    printf("\" ;;\n");
}

/* Choices are written a|b|c in lower case; a bracketed part stands for something to fill in. */
static int is_choice(const help_option *option)
{
    return strchr(option->argument, '|') && !strpbrk(option->argument, " \"'$`\\;&<>()");
}

static void print_choices(const program_entry *program, const help_text *help)
{
    for (int i = 0; i < help->option_count; ++i) {
        const help_option *option = &help->options[i];
        if (!is_choice(option)) continue;
        printf("        %s:--%s) echo \"", program->name, option->name);
        for (const char *at = option->argument; *at;) {
            size_t length = strcspn(at, "|"), shown = strcspn(at, "|[");
            printf("%.*s ", (int)(shown < length ? shown : length), at);
            at += length + (at[length] == '|');
        }
        printf("\" ;;\n");
    }
}

static ps_status for_each_help(void (*print)(const program_entry *, const help_text *))
{
    char path[4096];
    for (int i = 0; i < program_count; ++i) {
        if (!program_path(&programs[i], path, sizeof path)) continue;
        help_text help;
        PS_TRY(help_text_read(&programs[i], &help));
        print(&programs[i], &help);
        help_text_release(&help);
    }
    return PS_OK;
}

ps_status completion_print(void)
{
    printf("# bash completion for penstock; made by penstock-help --completion\n"
           "_penstock_options()\n{\n    case $1 in\n");
    PS_TRY(for_each_help(print_options));
    printf("    esac\n}\n_penstock_choices()\n{\n    case $1:$2 in\n");
    PS_TRY(for_each_help(print_choices));
    printf("    esac\n}\n_penstock()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local program=${COMP_WORDS[0]##*/} choices\n"
           "    program=${program#penstock-}\n"
           "    if [[ $program == penstock ]]; then\n"
           "        if ((COMP_CWORD == 1)) || [[ $before == help && COMP_CWORD -eq 2 ]]; then\n"
           "            COMPREPLY=($(compgen -W \"");
    for (int i = 0; i < program_count; ++i) printf("%s ", programs[i].name);
    printf("--version\" -- \"$word\"))\n            return\n        fi\n"
           "        program=${COMP_WORDS[1]}\n    fi\n"
           "    choices=$(_penstock_choices \"$program\" \"$before\")\n"
           "    if [[ -n $choices ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
           "    elif [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$(_penstock_options \"$program\")\" -- \"$word\"))\n"
           "    else\n        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n"
           "complete -o filenames -F _penstock penstock");
    for (int i = 0; i < program_count; ++i) printf(" penstock-%s", programs[i].name);
    printf("\n");
    return PS_OK;
}
