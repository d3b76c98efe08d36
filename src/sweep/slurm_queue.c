/* What Slurm's programs answer, read into values. Lines that are not understood are left out: squeue is asked again
 * soon. */
#include "sweep/slurm.h"

#include <stdlib.h>
#include <string.h>

const char *slurm_next_line(const char **text, size_t *length)
{
    const char *from = *text + strspn(*text, "\n");
    *length = strcspn(from, "\n");
    *text = from + *length;
    return *length ? from : NULL;
}

bool slurm_alive(enum slurm_state s) { return s == SLURM_PENDING || s == SLURM_RUNNING || s == SLURM_STUCK; }

/* Slurm's job states; what is not named here is on its way (CONFIGURING, COMPLETING, SUSPENDED, REQUEUED, ...). */
enum slurm_state slurm_state_of(const char *word, const char *reason)
{
    static const char *const ended[] = {"BOOT_FAIL",     "CANCELLED", "DEADLINE", "FAILED", "NODE_FAIL",
                                        "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",  "TIMEOUT"};
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        if (!strcmp(word, ended[i]))
            return SLURM_ENDED;
    if (!strcmp(word, "COMPLETED"))
        return SLURM_COMPLETED;
    if (!strcmp(word, "REQUEUE_HOLD") || !strcmp(word, "SPECIAL_EXIT"))
        return SLURM_STUCK;
    if (!strcmp(word, "PENDING"))
        return strstr(reason, "requeued held") || strstr(reason, "requeued_held") ? SLURM_STUCK : SLURM_PENDING;
    return SLURM_RUNNING;
}

/* "17_3"; a range that stands for many tasks ("17_[4-9]") is not one. */
static bool task_number(const char *text, size_t length, struct slurm_line *out)
{
    char word[48], *end;
    if (length >= sizeof word || !length)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    out->array = strtoull(word, &end, 10);
    if (end == word || *end != '_' || end[1] < '0' || end[1] > '9')
        return false;
    out->task = (uint32_t)strtoul(end + 1, &end, 10);
    return *end == '\0' && out->array && out->task;
}

/* The next word up to the separator, into out; what does not fit is cut. */
static const char *take(const char *from, const char *end, char separator, char *out, size_t size)
{
    const char *stop = memchr(from, separator, (size_t)(end - from));
    stop = stop ? stop : end;
    size_t length = (size_t)(stop - from) < size - 1 ? (size_t)(stop - from) : size - 1;
    memcpy(out, from, length);
    out[length] = '\0';
    return stop < end ? stop + 1 : end;
}

bool slurm_queue_line(const char *line, size_t length, struct slurm_line *out)
{
    const char *end = line + length;
    char number[48];
    *out = (struct slurm_line){0};
    const char *at = take(line, end, ' ', number, sizeof number);
    if (!task_number(number, strlen(number), out))
        return false;
    at = take(at, end, ' ', out->word, sizeof out->word);
    at = take(at, end, ' ', out->name, sizeof out->name);
    take(at, end, '\0', out->reason, sizeof out->reason);
    out->state = slurm_state_of(out->word, out->reason);
    return out->word[0] != '\0';
}

/* "17_3|CANCELLED by 0" */
bool slurm_accounting_line(const char *line, size_t length, struct slurm_line *out)
{
    const char *end = line + length;
    char number[48], state[48];
    *out = (struct slurm_line){0};
    const char *at = take(line, end, '|', number, sizeof number);
    if (!task_number(number, strlen(number), out))
        return false;
    at = take(at, end, '|', state, sizeof state);
    take(state, state + strlen(state), ' ', out->word, sizeof out->word);
    out->state = slurm_state_of(out->word, "");
    return out->word[0] != '\0';
}

uint64_t slurm_job_number(const char *answer)
{
    char *end;
    uint64_t number = strtoull(answer, &end, 10);
    return end != answer && (*end == '\0' || *end == '\n' || *end == ';') ? number : 0;
}

uint32_t slurm_array_limit(const char *config)
{
    size_t length;
    for (const char *line; (line = slurm_next_line(&config, &length));) {
        if (strncmp(line, "MaxArraySize", 12))
            continue;
        const char *equals = memchr(line, '=', length);
        unsigned long most = equals ? strtoul(equals + 1, NULL, 10) : 0;
        return most > 1 && most < UINT32_MAX ? (uint32_t)most - 1
                                             : 0; /* it is one more than the greatest index, and ours begin at 1 */
    }
    return 0;
}
