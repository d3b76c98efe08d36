/* `heddle run bfs -s gto`: what follows the program is the program's, so that the scheduler would not be gto. */
#include "cli/misplaced.h"

#include "base/shell_quote.h"
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* How many words the option takes that stands at the front; 0: it is none of these. */
static int words_of_long(const char *word, const struct option *known, bool next)
{
    size_t length = strcspn(word + 2, "=");
    for (; known->name; known++) {
        if (strlen(known->name) != length || strncmp(known->name, word + 2, length))
            continue;
        if (!strcmp(known->name, "size") || !strcmp(known->name, "help"))
            return 0; /* workloads have these */
        return 1 + (known->has_arg == required_argument && !word[2 + length] && next);
    }
    return 0;
}

static int words_of(char **words, int count, const struct misplaced_options *known)
{
    const char *word = words[0], *letter = word[0] == '-' && word[1] ? strchr(known->letters, word[1]) : NULL;
    if (!strncmp(word, "--", 2))
        return words_of_long(word, known->table, count > 1);
    if (!letter || word[1] == 'h' || word[1] == ':' || word[1] == '+')
        return 0;
    return 1 + (letter[1] == ':' && !word[2] && count > 1);
}

int misplaced_find(char **words, int count, const struct misplaced_options *known)
{
    for (int i = 0; i < count; i++)
        if (words_of(&words[i], count - i, known))
            return i;
    return -1;
}

static void add_words(struct arena *a, const char **line, char **words, int count)
{
    for (int i = 0; i < count; i++)
        *line = arena_printf(a, "%s %s", *line, shell_quote(words[i], a));
}

int misplaced_say(char **argv, int program, int argc, const struct misplaced_options *known)
{
    struct arena a = {0};
    const char *ours = "", *rest = "", *before = "", *first = NULL;
    add_words(&a, &before, argv + 1, program - 1);
    for (int i = program + 1, taken; i < argc; i += taken ? taken : 1) {
        taken = words_of(&argv[i], argc - i, known);
        add_words(&a, taken ? &ours : &rest, &argv[i], taken ? taken : 1);
        if (taken && !first)
            first = argv[i];
    }
    fprintf(stderr,
            "heddle run: %s comes after the program's name, where options are the program's own; options of heddle "
            "come before it:\n  heddle run%s%s %s%s\n",
            first, before, ours, shell_quote(argv[program], &a), rest);
    arena_free(&a);
    return EXIT_USAGE;
}
