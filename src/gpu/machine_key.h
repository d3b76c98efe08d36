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
    MACHINE_NETWORK,
    MACHINE_CORE_KIND, /* choices */
    MACHINE_TYPE_COUNT
};
enum { MACHINE_LIST_LENGTH = 5 };
enum machine_book_id {
#define RULEBOOK(id, name, whose) BOOK_##id,
#include "gpu/rules.def"
    MACHINE_BOOKS
};

struct machine_key {
    const char *section, *name;
    enum machine_key_type type;
    size_t offset, bytes; /* of its field in struct machine */
    const char *value;    /* the default of a key; the value of a rule in most rulebooks */
    uint64_t least, most;
    const char *unit, *help;
    /* Of a rule alone. */
    const char *in[MACHINE_BOOKS]; /* the value in a rulebook that has another one; NULL means the value above */
    const char *mistake;           /* the value that copies a mistake of the reference; NULL means that there is none */
    const char *read;              /* where the rule was read; NULL means that this is a key */
};
extern const struct machine_key machine_keys[]; /* keys, then rules, which are the section "rules" */
extern const uint32_t machine_key_count;
enum { MACHINE_RULEBOOK = 0 }; /* the index of machine.rules */
struct machine_book {
    const char *name, *whose;
};
extern const struct machine_book machine_books[MACHINE_BOOKS];
/* The value of a rule in a rulebook; of a key its default. */
const char *machine_value_in(const struct machine_key *key, uint32_t book);
/* Names of a choice in the order of its enum, NULL after the last; NULL for other types. */
const char *const *machine_choices(enum machine_key_type type);
/* What one of them is, where the key's own help does not say it; else NULL. */
const char *machine_choice_help(enum machine_key_type type, int choice);

/* Writes the value of a key as a machine file has it. */
void machine_format(const struct machine *m, const struct machine_key *key, char *out, size_t size);
/* What was expected instead of a value, and the place in its text. */
struct machine_complaint {
    char expected[256];
    const char *at;
};
/* Sets a key's field from a text, which needs no end mark. */
bool machine_parse(struct machine *m, const struct machine_key *key, const char *text, size_t length,
                   struct machine_complaint *why);
void machine_set_defaults(struct machine *m);
/* Sets a rule as the machine's rulebook has it. */
void machine_follow(struct machine *m, const struct machine_key *rule);

/* Reads a whole file; the caller frees its text, also on failure. what: the word for it in messages. Files beyond a
 * megabyte are refused. */
bool machine_read_text(const char *path, const char *what, struct source *s, struct error *e);

/* Where the value of a key was given. Line 0 means that it was not: it is the default, or what the rulebook says. */
struct machine_place {
    const struct source *source;
    int line, column;
    uint32_t order; /* the number of this value among all that were given */
    uint32_t layer; /* MACHINE_FILE; higher numbers for the files that it is based on; MACHINE_OVERRIDES */
};
enum { MACHINE_FILE = 0, MACHINE_OVERRIDES = 255 };

/* What the checks need, to point at the wrong value. */
struct machine_checker {
    const struct machine *machine;
    const struct machine_place *places; /* by key */
    struct error *error;
};

/* Do the keys fit together? If not, the message points at the one that was given last. */
bool machine_check(const struct machine_checker *c);

#endif
