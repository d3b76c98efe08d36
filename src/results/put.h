/* Words for building JSON. */
#ifndef HEDDLE_RESULTS_PUT_H
#define HEDDLE_RESULTS_PUT_H

#include <jansson.h>
#include <stdint.h>

static inline void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value ? value : json_null());
}
static inline json_t *count_json(uint64_t n) { return json_integer((json_int_t)n); }
static inline void put_count(json_t *object, const char *key, uint64_t n) { put(object, key, count_json(n)); }
static inline json_t *triple_json(const uint32_t v[3])
{
    json_t *list = json_array();
    for (int i = 0; i < 3; i++)
        json_array_append_new(list, count_json(v[i]));
    return list;
}
static inline json_t *list_json(const uint64_t *values, uint64_t length)
{
    json_t *list = json_array();
    for (uint64_t i = 0; i < length; i++)
        json_array_append_new(list, count_json(values[i]));
    return list;
}

#endif
