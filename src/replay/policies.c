/* Policies of a replay by name: one, and sets of them as an option or an experiment gives them. */
#include "replay/replay.h"

#include <stdio.h>
#include <string.h>

const char *const replay_policy_names[REPLAY_POLICIES] = {"lru", "fifo", "srrip", "belady", "belady-reads"};
const char *const replay_metric_names[REPLAY_POLICIES] = {"lru", "fifo", "srrip", "belady", "belady_reads"};

static const char all_of_them[] = "all";

/* The bits that a name stands for; 0: none. */
static uint32_t named(const char *name, size_t length)
{
    if (length == strlen(all_of_them) && !memcmp(name, all_of_them, length))
        return (1u << REPLAY_POLICIES) - 1;
    for (uint32_t i = 0; i < REPLAY_POLICIES; i++)
        if (strlen(replay_policy_names[i]) == length && !memcmp(name, replay_policy_names[i], length))
            return 1u << i;
    return 0;
}

bool replay_policies_read(const char *text, size_t length, uint32_t *set, const char **unknown, size_t *unknown_length)
{
    const char *end = text + length;
    *set = 0;
    while (true) {
        const char *comma = memchr(text, ',', (size_t)(end - text)), *last = comma ? comma : end;
        while (text < last && *text == ' ')
            text++;
        while (last > text && last[-1] == ' ')
            last--;
        uint32_t bits = named(text, (size_t)(last - text));
        *set |= bits;
        *unknown = text;
        *unknown_length = (size_t)(last - text);
        if (!bits || !comma)
            return bits != 0;
        text = comma + 1;
    }
}

void replay_policies_write(uint32_t set, char out[REPLAY_SET_BYTES])
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < REPLAY_POLICIES; i++)
        if (set >> i & 1)
            used +=
                (size_t)snprintf(out + used, REPLAY_SET_BYTES - used, "%s%s", used ? "," : "", replay_policy_names[i]);
}
