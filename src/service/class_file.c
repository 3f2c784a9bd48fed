/* SPDX-License-Identifier: Apache-2.0 */
#include "service/class_file.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "base/spelling.h"
#include "base/yaml.h"

#define MEMBER(name) offsetof(struct hf_class, name)

const struct hf_class_field hf_class_fields[] = {
#define HF_CLASS_SPAN(path_, member, least_, most_, standard_, sentence_)      \
    {.path = path_,                                                            \
     .kind = HF_CLASS_FIELD_SPAN,                                              \
     .offset = MEMBER(member),                                                 \
     .least = least_,                                                          \
     .most = most_,                                                            \
     .standard = standard_,                                                    \
     .sentence = sentence_},
#define HF_CLASS_CHOICE(path_, member, values_, standard_, sentence_)          \
    {.path = path_,                                                            \
     .kind = HF_CLASS_FIELD_CHOICE,                                            \
     .offset = MEMBER(member),                                                 \
     .values = values_,                                                        \
     .standard = standard_,                                                    \
     .sentence = sentence_},
#define HF_CLASS_FIXED(path_, value, later_, sentence_)                        \
    {.path = path_,                                                            \
     .kind = HF_CLASS_FIELD_FIXED,                                             \
     .values = value,                                                          \
     .later = later_,                                                          \
     .standard = value,                                                        \
     .sentence = sentence_},
#define HF_CLASS_TEMPLATE(path_, member, standard_, sentence_)                 \
    {.path = path_,                                                            \
     .kind = HF_CLASS_FIELD_TEMPLATE,                                          \
     .offset = MEMBER(member),                                                 \
     .standard = standard_,                                                    \
     .sentence = sentence_},
#define HF_CLASS_LATER(path_, sentence_)                                       \
    {.path = path_, .kind = HF_CLASS_FIELD_LATER, .sentence = sentence_},
#include "service/class_file.def"
#undef HF_CLASS_SPAN
#undef HF_CLASS_CHOICE
#undef HF_CLASS_FIXED
#undef HF_CLASS_TEMPLATE
#undef HF_CLASS_LATER
    {.path = NULL}};

enum { FIELDS = sizeof(hf_class_fields) / sizeof(hf_class_fields[0]) - 1 };

struct reader {
    struct hf_yaml yaml;
    struct hf_class class;
    struct hf_error *error;
    /* Where each field was said, by its place in the table; or NULL. */
    const struct hf_yaml_node *said[FIELDS];
};

static enum hf_err read_span(struct reader *reader, const char *text,
                             const struct hf_class_field *field,
                             struct hf_yaml_mark mark, int64_t *to)
{
    struct hf_error inner;
    struct hf_span span;
    int64_t ms;

    if (hf_duration_parse(text, &span, &inner))
        return hf_yaml_error(&reader->yaml, mark, reader->error, "%s: %s",
                             field->path, inner.text);
    ms = hf_span_to_ms_up(span);
    if (ms < field->least || ms > field->most)
        return hf_yaml_error(&reader->yaml, mark, reader->error,
                             "%s: %.64s is not from %s to %s", field->path,
                             text,
                             hf_duration_print(hf_span_ms(field->least)).text,
                             hf_duration_print(hf_span_ms(field->most)).text);
    *to = ms;
    return HF_ERR_OK;
}

/* The place of `word` in a list with blanks between, or -1. */
static int place_in(const char *list, const char *word)
{
    size_t size = strlen(word);
    int place = 0;

    while (list && *list) {
        size_t next = strcspn(list, " ");

        if (next == size && memcmp(list, word, size) == 0)
            return place;
        list += next + strspn(list + next, " ");
        place++;
    }
    return -1;
}

static enum hf_err refuse_value(const struct reader *reader,
                                const struct hf_class_field *field,
                                const struct hf_yaml_node *node)
{
    bool one = !strchr(field->values, ' ');

    if (place_in(field->later, node->text) >= 0)
        return hf_yaml_error(&reader->yaml, node->mark, reader->error,
                             "%s: %s is known, but nothing in this version "
                             "obeys it; %s is what happens",
                             field->path, node->text, field->values);
    return hf_yaml_error(&reader->yaml, node->mark, reader->error,
                         "%s: \"%.64s\" is not known; it takes %s%s",
                         field->path, node->text,
                         one ? "" : "one of: ", field->values);
}

static enum hf_err read_template(struct reader *reader,
                                 const struct hf_class_field *field,
                                 const struct hf_yaml_node *node, char *to)
{
    struct hf_error inner;

    if (node->size >= HF_CLASS_TEMPLATE_SIZE)
        return hf_yaml_error(&reader->yaml, node->mark, reader->error,
                             "%s: longer than %d bytes", field->path,
                             HF_CLASS_TEMPLATE_SIZE - 1);
    if (hf_key_check_template(node->text, &inner))
        return hf_yaml_error(&reader->yaml, node->mark, reader->error, "%s: %s",
                             field->path, inner.text);
    memcpy(to, node->text, node->size + 1);
    return HF_ERR_OK;
}

static enum hf_err read_value(struct reader *reader,
                              const struct hf_class_field *field,
                              const struct hf_yaml_node *node)
{
    char *to = (char *)&reader->class + field->offset;
    int64_t ms;
    enum hf_err err;
    int place;

    switch (field->kind) {
    case HF_CLASS_FIELD_SPAN:
        err = read_span(reader, node->text, field, node->mark, &ms);
        if (!err)
            memcpy(to, &ms, sizeof(ms));
        return err;
    case HF_CLASS_FIELD_CHOICE:
    case HF_CLASS_FIELD_FIXED:
        place = place_in(field->values, node->text);
        if (place < 0)
            return refuse_value(reader, field, node);
        if (field->kind == HF_CLASS_FIELD_CHOICE)
            *(bool *)to = place == 1;
        return HF_ERR_OK;
    case HF_CLASS_FIELD_TEMPLATE:
        return read_template(reader, field, node, to);
    case HF_CLASS_FIELD_LATER:
        break;
    }
    return hf_yaml_error(&reader->yaml, node->name_mark, reader->error,
                         "%s is known (%s), but nothing in this version obeys "
                         "it: take it out",
                         field->path, field->sentence);
}

/* Is `word` what the field is called within `group` ("" at the top)? A path
 * with its dot is none: it would be a second way to say the same. */
static bool is_called(const struct hf_class_field *field, const char *group,
                      const char *word)
{
    size_t size = strlen(group);

    return !strchr(word, '.') && strncmp(field->path, group, size) == 0 &&
           strcmp(field->path + size, word) == 0;
}

/* The first part of a path that has two: "ttl" of "ttl.min". */
static bool group_of(const struct hf_class_field *field, char to[16])
{
    size_t size = strcspn(field->path, ".");

    if (!field->path[size] || size >= 15)
        return false;
    memcpy(to, field->path, size);
    to[size] = '\0';
    return true;
}

static enum hf_err unknown(const struct reader *reader, const char *group,
                           const struct hf_yaml_node *node)
{
    struct hf_spelling spelling;
    char groups[FIELDS][16];
    size_t size = strlen(group);
    size_t i;

    hf_spelling_begin(&spelling, node->name);
    for (i = 0; i < FIELDS; i++) {
        const struct hf_class_field *field = &hf_class_fields[i];

        if (*group == '\0' && group_of(field, groups[i]))
            hf_spelling_offer(&spelling, groups[i]);
        else if (strncmp(field->path, group, size) == 0)
            hf_spelling_offer(&spelling, field->path + size);
    }
    if (!*group &&
        (strcmp(node->name, "class") == 0 || strcmp(node->name, "name") == 0))
        return hf_yaml_error(&reader->yaml, node->name_mark, reader->error,
                             "a class is called what its file is called: take "
                             "%s out",
                             node->name);
    return hf_yaml_error(&reader->yaml, node->name_mark, reader->error,
                         "\"%s%.64s\" is not a field of a class%s%s%s", group,
                         node->name, spelling.best ? "; did you mean \"" : "",
                         spelling.best ? spelling.best : "",
                         spelling.best ? "\"?" : "");
}

static enum hf_err read_leaf(struct reader *reader, const char *group,
                             const struct hf_yaml_node *node)
{
    size_t i;

    for (i = 0; i < FIELDS; i++) {
        const struct hf_class_field *field = &hf_class_fields[i];

        if (!is_called(field, group, node->name))
            continue;
        if (field->kind != HF_CLASS_FIELD_LATER && node->kind != HF_YAML_SCALAR)
            return hf_yaml_error(&reader->yaml, node->mark, reader->error,
                                 "%s takes one value", field->path);
        reader->said[i] = node;
        return read_value(reader, field, node);
    }
    return unknown(reader, group, node);
}

/* A member of the file's map: a field, or a group of them. */
static enum hf_err read_member(struct reader *reader,
                               const struct hf_yaml_node *node)
{
    const struct hf_yaml_node *inner;
    char group[17];
    size_t i;

    for (i = 0; i < FIELDS; i++) {
        if (group_of(&hf_class_fields[i], group) &&
            strcmp(group, node->name) == 0)
            break;
    }
    if (i == FIELDS)
        return read_leaf(reader, "", node);
    if (node->kind != HF_YAML_MAP)
        return hf_yaml_error(&reader->yaml, node->mark, reader->error,
                             "%s takes a mapping, such as %s: {%s: %s}", group,
                             group, hf_class_fields[i].path + strlen(group) + 1,
                             hf_class_fields[i].standard);
    memcpy(group + strlen(group), ".", 2);
    for (inner = node->first; inner; inner = inner->next) {
        enum hf_err err = read_leaf(reader, group, inner);

        if (err)
            return err;
    }
    return HF_ERR_OK;
}

static int64_t span_of(const struct hf_class *class,
                       const struct hf_class_field *field)
{
    int64_t ms;

    memcpy(&ms, (const char *)class + field->offset, sizeof(ms));
    return ms;
}

static size_t index_of(const char *path)
{
    size_t i = 0;

    while (strcmp(hf_class_fields[i].path, path) != 0)
        i++;
    return i;
}

/* `low` may not be longer than `high`; says what was not said in the file. */
static enum hf_err in_order(const struct reader *reader, const char *low,
                            const char *high)
{
    size_t at[2] = {index_of(low), index_of(high)};
    const struct hf_yaml_node *where;
    const char *tail[2];
    int64_t ms[2];
    size_t i;

    for (i = 0; i < 2; i++) {
        ms[i] = span_of(&reader->class, &hf_class_fields[at[i]]);
        tail[i] = reader->said[at[i]] ? "" : " by default";
    }
    if (ms[0] <= ms[1])
        return HF_ERR_OK;
    /* Defaults are in order, so that one of the two was said. */
    where = reader->said[at[1]] ? reader->said[at[1]] : reader->said[at[0]];
    return hf_yaml_error(&reader->yaml, where->mark, reader->error,
                         "%s (%s%s) is longer than %s (%s%s)", low,
                         hf_duration_print(hf_span_ms(ms[0])).text, tail[0],
                         high, hf_duration_print(hf_span_ms(ms[1])).text,
                         tail[1]);
}

static enum hf_err read_all(struct reader *reader)
{
    const struct hf_yaml_node *root = reader->yaml.root;
    const struct hf_yaml_node *node;
    enum hf_err err = HF_ERR_OK;

    if (root->kind != HF_YAML_MAP)
        return hf_yaml_error(&reader->yaml, root->mark, reader->error,
                             "a class is a mapping of fields, such as "
                             "\"ttl: {default: 1m}\"");
    for (node = root->first; node && !err; node = node->next)
        err = read_member(reader, node);
    if (!err)
        err = in_order(reader, "ttl.min", "ttl.default");
    if (!err)
        err = in_order(reader, "ttl.default", "ttl.max");
    if (!err)
        err = in_order(reader, "wait.default", "wait.max");
    return err;
}

enum hf_err hf_class_parse(const char *name, const char *file,
                           const char *bytes, size_t size,
                           struct hf_class *class, struct hf_error *error)
{
    struct reader reader = {.error = error};
    enum hf_err err = hf_class_check_name(name, error);

    if (err)
        return err;
    /* What is not said is as in the built-in class, but for the name and the
     * key: two classes must not meet on one key by accident. */
    reader.class = hf_class_batch;
    memcpy(reader.class.name, name, strlen(name) + 1);
    snprintf(reader.class.key, sizeof(reader.class.key),
             "local/%s/{command path}", name);
    err = hf_yaml_parse(&reader.yaml, file, bytes, size, error);
    if (err)
        return err;
    err = read_all(&reader);
    hf_yaml_clear(&reader.yaml);
    if (!err)
        *class = reader.class;
    return err;
}

enum hf_err hf_class_field_print(const struct hf_class_field *field,
                                 const struct hf_class *class,
                                 struct hf_buf *to)
{
    const char *at = (const char *)class + field->offset;
    size_t first;
    int64_t ms;

    switch (field->kind) {
    case HF_CLASS_FIELD_SPAN:
        ms = span_of(class, field);
        if (ms < field->least)
            return hf_buf_add_str(to, "none");
        return hf_buf_add_str(to, hf_duration_print(hf_span_ms(ms)).text);
    case HF_CLASS_FIELD_CHOICE:
        first = strcspn(field->values, " ");
        if (*(const bool *)at)
            return hf_buf_add_str(to, field->values + first + 1);
        return hf_buf_add(to, field->values, first);
    case HF_CLASS_FIELD_FIXED:
        return hf_buf_add_str(to, field->values);
    case HF_CLASS_FIELD_TEMPLATE:
        return hf_buf_add_str(to, at);
    case HF_CLASS_FIELD_LATER:
        break;
    }
    return hf_buf_add_str(to, "none");
}
