/* A correlation for the page, and as a table for other tools. docs/correlate.md has the fields. */
#include "correlate/correlate.h"

#include "results/put.h"

#include <math.h>

static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *point_json(const struct correlate_point *p)
{
    json_t *o = json_object(), *silicon = json_array(), *ours = json_array(), *errors = json_array();
    put(o, "program", json_string(p->program));
    put(o, "size", json_string(p->size));
    put(o, "kernel", json_string(p->kernel));
    put(o, "half", json_string(correlate_half_names[p->half]));
    put(o, "grid", triple_json(p->grid));
    put(o, "block", triple_json(p->block));
    put(o, "launches", json_integer(p->launches));
    for (int i = 0; i < CORRELATE_COMPARED; i++) {
        json_array_append_new(silicon, real(correlate_value((enum correlate_compared)i, p->silicon)));
        json_array_append_new(ours, real(correlate_value((enum correlate_compared)i, p->ours)));
        json_array_append_new(errors, real(correlate_error((enum correlate_compared)i, p)));
    }
    put(o, "silicon", silicon);
    put(o, "ours", ours);
    put(o, "errors", errors);
    put(o, "cause", json_string(p->cause));
    return o;
}

static json_t *score_json(const struct correlate_score *s)
{
    json_t *o = json_object();
    put(o, "kernels", real(s->kernels));
    put(o, "points", json_integer(s->points));
    put(o, "within", real(s->within));
    put(o, "far", json_integer(s->far));
    put(o, "mean", real(s->mean));
    put(o, "median", real(s->median));
    put(o, "most", real(s->most));
    put(o, "correlation", real(s->correlation));
    return o;
}

static json_t *scores_json(const struct correlation *c, int half)
{
    json_t *list = json_array();
    for (int i = 0; i < CORRELATE_COMPARED; i++)
        json_array_append_new(list, score_json(&c->scores[half][i]));
    return list;
}

static json_t *rows_json(void)
{
    json_t *list = json_array();
    for (int i = 0; i < CORRELATE_COMPARED; i++) {
        const struct correlate_row *r = &correlate_rows[i];
        json_t *o = json_object();
        put(o, "name", json_string(r->name));
        put(o, "title", json_string(r->title));
        put(o, "kind", json_string(r->kind == CORRELATE_POINTS ? "points" : "relative"));
        put(o, "bound", json_real(r->bound));
        put(o, "within", json_string(r->within));
        json_array_append_new(list, o);
    }
    return list;
}

json_t *correlation_json(const struct correlation *c)
{
    json_t *o = json_object(), *points = json_array(), *scores = json_object(), *notes = json_array();
    for (int half = 0; half < CORRELATE_HALVES; half++)
        if (c->halves[half])
            put(scores, correlate_half_names[half], scores_json(c, half));
    put(scores, "all", scores_json(c, CORRELATE_HALVES));
    for (uint32_t i = 0; i < c->point_count; i++)
        json_array_append_new(points, point_json(&c->points[i]));
    for (uint32_t i = 0; i < c->note_count; i++)
        json_array_append_new(notes, json_string(c->notes[i]));
    put(o, "format", json_integer(1));
    put(o, "compared", rows_json());
    put(o, "scores", scores);
    put(o, "points", points);
    put(o, "notes", notes);
    return o;
}

/* A field of CSV: in quotes, which are doubled inside. */
static void csv_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void csv_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, ",%.10g", value);
    else
        putc(',', out);
}

void correlation_csv(const struct correlation *c, FILE *out)
{
    fputs("program,size,kernel,half,grid,block,launches", out);
    for (int i = 0; i < CORRELATE_COUNTS; i++)
        fprintf(out, ",%s_silicon,%s_ours", correlate_count_names[i], correlate_count_names[i]);
    fputs(",cause\n", out);
    for (uint32_t i = 0; i < c->point_count; i++) {
        const struct correlate_point *p = &c->points[i];
        csv_text(out, p->program);
        fprintf(out, ",%s,", p->size);
        csv_text(out, p->kernel);
        fprintf(out, ",%s,%ux%ux%u,%ux%ux%u,%u", correlate_half_names[p->half], p->grid[0], p->grid[1], p->grid[2],
                p->block[0], p->block[1], p->block[2], p->launches);
        for (int n = 0; n < CORRELATE_COUNTS; n++) {
            csv_number(out, p->silicon[n]);
            csv_number(out, p->ours[n]);
        }
        putc(',', out);
        csv_text(out, p->cause);
        putc('\n', out);
    }
}
