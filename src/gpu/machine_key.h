/* The table of machine keys (machine_keys.def) and rules (rules.def), and what the loader, its checks and the importer
 * share. Inside gpu/ only. */
#ifndef HEDDLE_GPU_MACHINE_KEY_H
#define HEDDLE_GPU_MACHINE_KEY_H

#include "gpu/machine.h"

enum machine_key_type {
    MACHINE_U32,
    MACHINE_U64,
    MACHINE_MHZ,
    MACHINE_BOOL,
    MACHINE_TEXT,
    MACHINE_LIST,
    MACHINE_MULTIPLY,
    MACHINE_INDEX,
    MACHINE_WRITES,
    MACHINE_ALLOCATE,
    MACHINE_DRAM,
    MACHINE_EMPTIES,
    MACHINE_BOOK,
    MACHINE_NETWORK, /* choices */
    MACHINE_TYPE_COUNT
};
enum {
    MACHINE_LIST_LENGTH = 5,
    MACHINE_BOOKS = 0
#define RULEBOOK(name, whose) +1
#include "gpu/rules.def"
};

struct machine_key {
    const char *section, *name;
    enum machine_key_type type;
    size_t offset, bytes;             /* of its field in struct machine */
    const char *value[MACHINE_BOOKS]; /* in each rulebook; of a key its default, in all of them */
    uint64_t least, most;
    const char *unit, *help;
    const char *mistake, *read; /* of a rule; NULL for a key */
};
extern const struct machine_key machine_keys[]; /* keys, then rules, which are the section "rules" */
extern const uint32_t machine_key_count;
enum { MACHINE_RULEBOOK = 0 }; /* the first of them: machine.rules */
struct machine_book {
    const char *name, *whose;
};
extern const struct machine_book machine_books[MACHINE_BOOKS];
/* Names of a choice in the order of its enum, NULL after the last; NULL for other types. */
const char *const *machine_choices(enum machine_key_type type);
/* What one of them is, where the key's own help does not say it; else NULL. */
const char *machine_choice_help(enum machine_key_type type, int choice);

/* A value as one would write it. */
void machine_format(const struct machine *m, const struct machine_key *key, char *out, size_t size);
/* What is wrong with a value, and where in its text. */
struct machine_complaint {
    char expected[256];
    const char *at;
};
/* The value of a text, which needs no end mark, as the key's field. */
bool machine_parse(struct machine *m, const struct machine_key *key, const char *text, size_t length,
                   struct machine_complaint *why);
void machine_set_defaults(struct machine *m);
/* The rule as the machine's rulebook has it. */
void machine_follow(struct machine *m, const struct machine_key *rule);

/* A whole file (its text to be freed, also on failure); what is the word for it in messages. Files beyond a megabyte
 * are refused. */
bool machine_read_text(const char *path, const char *what, struct source *s, struct error *e);

/* Where the value of a key was given; line 0: nowhere, it is the default, or what the rulebook says. */
struct machine_place {
    const struct source *source;
    int line, column;
    uint32_t order; /* of all values that were given */
    uint32_t layer; /* MACHINE_FILE, the files it is based on from there on, or MACHINE_OVERRIDES */
};
enum { MACHINE_FILE = 0, MACHINE_OVERRIDES = 255 };

/* What the checks need to point at the culprit. */
struct machine_checker {
    const struct machine *machine;
    const struct machine_place *places; /* by key */
    struct error *error;
};

/* Whether the keys fit together; the message points at the one given last of those that do not. */
bool machine_check(const struct machine_checker *c);

#endif
