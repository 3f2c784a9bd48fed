/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/utf8.h"

/* ---- memory ---------------------------------------------------------------
 */

void hf_yaml_clear(struct hf_yaml *yaml)
{
    free(yaml->nodes);
    free(yaml->text);
    *yaml = (struct hf_yaml){.file = yaml->file};
}

/* ---- complaints
 * -------------------------------------------------------------- */

enum hf_err hf_yaml_error(const struct hf_yaml *yaml, struct hf_yaml_mark mark,
                          struct hf_error *error, const char *format, ...)
{
    va_list args;
    char sentence[HF_ERROR_TEXT_MAX];

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return hf_error_set(error, HF_ERR_CONFIG, "%s:%u:%u: %s", yaml->file,
                        mark.line, mark.column, sentence);
}

static struct hf_yaml_mark mark_of(yaml_mark_t mark)
{
    return (struct hf_yaml_mark){(unsigned int)mark.line + 1,
                                 (unsigned int)mark.column + 1};
}

/* The parser's own complaint. */
static enum hf_err syntax_error(const struct hf_yaml *yaml,
                                const yaml_parser_t *parser,
                                struct hf_error *error)
{
    struct hf_yaml_mark mark = mark_of(parser->problem_mark);
    const char *context = parser->context ? parser->context : "";
    const char *between = parser->context ? " " : "";

    if (parser->error == YAML_MEMORY_ERROR)
        return hf_error_set(error, HF_ERR_NOMEM, "%s: memory ran out",
                            yaml->file);
    if (parser->context &&
        parser->context_mark.line != parser->problem_mark.line)
        return hf_yaml_error(yaml, mark, error, "%s%s%s (begun in line %u)",
                             parser->problem, between, context,
                             mark_of(parser->context_mark).line);
    return hf_yaml_error(yaml, mark, error, "%s%s%s",
                         parser->problem ? parser->problem : "not YAML",
                         between, context);
}

/*
 * Every character, before the parser sees any: what it would take but a
 * reviewer could not see is refused, and what it refuses gets a place.
 */
static enum hf_err check_characters(const struct hf_yaml *yaml,
                                    const char *bytes, size_t size,
                                    struct hf_error *error)
{
    struct hf_yaml_mark mark = {1, 1};

    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = hf_utf8_read(bytes + at, size - at, &code);
        bool is_break = length > 0 && (code == '\n' || code == '\r');

        if (length == 0)
            return hf_yaml_error(yaml, mark, error,
                                 "the byte 0x%02x is no UTF-8",
                                 (unsigned int)(unsigned char)bytes[at]);
        if (!is_break && code != '\t' &&
            (hf_utf8_is_unsafe(code) || code == 0xFEFF))
            return hf_yaml_error(yaml, mark, error,
                                 "the invisible character U+%04X may not stand "
                                 "here",
                                 (unsigned int)code);
        at += length;
        mark.column++;
        if (is_break && !(code == '\r' && at < size && bytes[at] == '\n')) {
            mark.line++;
            mark.column = 1;
        }
    }
    return HF_ERR_OK;
}

/* ---- tree
 * -------------------------------------------------------------------- */

/* An open map or list. */
struct level {
    struct hf_yaml_node *node;
    struct hf_yaml_node *last;
    /* Of a map: the key whose value is due. */
    const char *name;
    struct hf_yaml_mark name_mark;
};

struct builder {
    struct hf_yaml *yaml;
    struct hf_error *error;
    struct level levels[HF_YAML_DEPTH_MAX];
    size_t depth;
    /* Neither grows while the tree is built: pointers into them hold. */
    size_t node_count;
    size_t node_room;
    size_t text_used;
    size_t text_room;
    unsigned int documents;
    bool is_done;
};

static enum hf_err no_memory(struct builder *builder)
{
    return hf_error_set(builder->error, HF_ERR_NOMEM, "%s: memory ran out",
                        builder->yaml->file);
}

static enum hf_err copy_text(struct builder *builder, const yaml_event_t *event,
                             const char **text)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t size = event->data.scalar.length;
    char *copy = builder->yaml->text + builder->text_used;

    if (memchr(value, '\0', size))
        return hf_yaml_error(builder->yaml, mark_of(event->start_mark),
                             builder->error, "a NUL may not stand in a text");
    if (size >= builder->text_room - builder->text_used)
        return hf_yaml_error(builder->yaml, mark_of(event->start_mark),
                             builder->error, "too much text for one file");
    memcpy(copy, value, size);
    copy[size] = '\0';
    builder->text_used += size + 1;
    *text = copy;
    return HF_ERR_OK;
}

static enum hf_err add_key(struct builder *builder, const yaml_event_t *event)
{
    struct level *level = &builder->levels[builder->depth - 1];
    struct hf_yaml_mark mark = mark_of(event->start_mark);
    const struct hf_yaml_node *former;
    const char *name;
    enum hf_err err;

    if (event->type != YAML_SCALAR_EVENT)
        return hf_yaml_error(builder->yaml, mark, builder->error,
                             "a key must be a word");
    err = copy_text(builder, event, &name);
    if (err)
        return err;
    if (name[0] == '\0')
        return hf_yaml_error(builder->yaml, mark, builder->error,
                             "a key must not be empty");
    if (strcmp(name, "<<") == 0 &&
        event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return hf_yaml_error(builder->yaml, mark, builder->error,
                             "merge keys (<<) are not allowed here");
    former = hf_yaml_find(level->node, name);
    if (former)
        return hf_yaml_error(builder->yaml, mark, builder->error,
                             "\"%.64s\" stands here a second time (first in "
                             "line %u)",
                             name, former->name_mark.line);
    level->name = name;
    level->name_mark = mark;
    return HF_ERR_OK;
}

/* Put a node where it belongs: below the open map or list, or at the root. */
static void attach(struct builder *builder, struct hf_yaml_node *node)
{
    struct level *level;

    if (builder->depth == 0) {
        builder->yaml->root = node;
        return;
    }
    level = &builder->levels[builder->depth - 1];
    node->name = level->name;
    node->name_mark = level->name_mark;
    level->name = NULL;
    if (level->last)
        level->last->next = node;
    else
        level->node->first = node;
    level->last = node;
    level->node->count++;
}

static enum hf_err add_node(struct builder *builder, const yaml_event_t *event,
                            enum hf_yaml_kind kind)
{
    struct hf_yaml_node *node;
    enum hf_err err;

    if (builder->node_count == builder->node_room)
        return hf_yaml_error(
            builder->yaml, mark_of(event->start_mark), builder->error,
            "more than %d values are too many for one file", HF_YAML_NODES_MAX);
    node = &builder->yaml->nodes[builder->node_count++];
    *node =
        (struct hf_yaml_node){.kind = kind, .mark = mark_of(event->start_mark)};
    if (kind == HF_YAML_SCALAR) {
        err = copy_text(builder, event, &node->text);
        if (err)
            return err;
        node->size = event->data.scalar.length;
        node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    }
    attach(builder, node);
    if (kind == HF_YAML_SCALAR)
        return HF_ERR_OK;
    if (builder->depth == HF_YAML_DEPTH_MAX)
        return hf_yaml_error(builder->yaml, node->mark, builder->error,
                             "nested deeper than %d", HF_YAML_DEPTH_MAX);
    builder->levels[builder->depth++] = (struct level){.node = node};
    return HF_ERR_OK;
}

/* What YAML can do and a reviewed file must not. */
static enum hf_err check_plainness(struct builder *builder,
                                   const yaml_event_t *event,
                                   const yaml_char_t *anchor,
                                   const yaml_char_t *tag, bool is_implicit)
{
    struct hf_yaml_mark mark = mark_of(event->start_mark);

    if (anchor)
        return hf_yaml_error(builder->yaml, mark, builder->error,
                             "anchors (&%.64s) are not allowed here",
                             (const char *)anchor);
    if (tag)
        return hf_yaml_error(builder->yaml, mark, builder->error,
                             "tags (%.64s) are not allowed here",
                             (const char *)tag);
    if (!is_implicit)
        return hf_yaml_error(builder->yaml, mark, builder->error,
                             "tags (!) are not allowed here");
    return HF_ERR_OK;
}

static enum hf_err add_value(struct builder *builder, const yaml_event_t *event)
{
    const struct level *level =
        builder->depth > 0 ? &builder->levels[builder->depth - 1] : NULL;
    enum hf_yaml_kind kind = HF_YAML_SCALAR;
    enum hf_err err;

    if (event->type == YAML_MAPPING_START_EVENT) {
        kind = HF_YAML_MAP;
        err = check_plainness(builder, event, event->data.mapping_start.anchor,
                              event->data.mapping_start.tag,
                              event->data.mapping_start.implicit);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        kind = HF_YAML_LIST;
        err = check_plainness(builder, event, event->data.sequence_start.anchor,
                              event->data.sequence_start.tag,
                              event->data.sequence_start.implicit);
    } else {
        err = check_plainness(
            builder, event, event->data.scalar.anchor, event->data.scalar.tag,
            event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
                ? event->data.scalar.plain_implicit
                : event->data.scalar.quoted_implicit);
    }
    if (err)
        return err;
    if (level && level->node->kind == HF_YAML_MAP && !level->name)
        return add_key(builder, event);
    return add_node(builder, event, kind);
}

static enum hf_err begin_document(struct builder *builder,
                                  const yaml_event_t *event)
{
    if (event->data.document_start.version_directive ||
        event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end)
        return hf_yaml_error(builder->yaml, mark_of(event->start_mark),
                             builder->error,
                             "directives (%%) are not allowed here");
    if (builder->documents++ > 0)
        return hf_yaml_error(builder->yaml, mark_of(event->start_mark),
                             builder->error,
                             "a second document is not allowed here");
    return HF_ERR_OK;
}

static enum hf_err handle(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return HF_ERR_OK;
    case YAML_DOCUMENT_START_EVENT:
        return begin_document(builder, event);
    case YAML_ALIAS_EVENT:
        return hf_yaml_error(builder->yaml, mark_of(event->start_mark),
                             builder->error,
                             "aliases (*%.64s) are not allowed here",
                             (const char *)event->data.alias.anchor);
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return add_value(builder, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        builder->depth--;
        return HF_ERR_OK;
    case YAML_STREAM_END_EVENT:
        builder->is_done = true;
        if (builder->documents > 0)
            return HF_ERR_OK;
        return hf_yaml_error(builder->yaml, (struct hf_yaml_mark){1, 1},
                             builder->error, "nothing stands in this file");
    }
    return hf_error_set(builder->error, HF_ERR_INTERNAL,
                        "%s: an event that libyaml does not document",
                        builder->yaml->file);
}

static enum hf_err build(struct builder *builder, const char *bytes,
                         size_t size)
{
    yaml_parser_t parser;
    yaml_event_t event;
    enum hf_err err = HF_ERR_OK;

    /* A value takes a byte at least, and what is open has its own. An escape of
     * two bytes may become three (\L), and each text gets an end. */
    builder->node_room =
        size + 2 < HF_YAML_NODES_MAX ? size + 2 : HF_YAML_NODES_MAX;
    builder->text_room = 2 * size + 2 * builder->node_room;
    builder->yaml->nodes =
        calloc(builder->node_room, sizeof(*builder->yaml->nodes));
    builder->yaml->text = malloc(builder->text_room);
    if (!builder->yaml->nodes || !builder->yaml->text ||
        !yaml_parser_initialize(&parser))
        return no_memory(builder);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, size);
    while (!err && !builder->is_done) {
        if (!yaml_parser_parse(&parser, &event)) {
            err = syntax_error(builder->yaml, &parser, builder->error);
            break;
        }
        err = handle(builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return err;
}

enum hf_err hf_yaml_parse(struct hf_yaml *yaml, const char *file,
                          const char *bytes, size_t size,
                          struct hf_error *error)
{
    struct builder builder = {.yaml = yaml, .error = error};
    enum hf_err err;

    *yaml = (struct hf_yaml){.file = file};
    if (size > HF_YAML_BYTES_MAX)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "%s: %zu bytes are too long, at most %d are read",
                            file, size, HF_YAML_BYTES_MAX);
    /* A byte order mark, as some editors leave it, is not part of the text. */
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    err = check_characters(yaml, bytes, size, error);
    if (!err)
        err = build(&builder, bytes, size);
    if (err)
        hf_yaml_clear(yaml);
    return err;
}

const struct hf_yaml_node *hf_yaml_find(const struct hf_yaml_node *map,
                                        const char *name)
{
    const struct hf_yaml_node *node = map->first;

    if (map->kind != HF_YAML_MAP)
        return NULL;
    while (node && strcmp(node->name, name) != 0)
        node = node->next;
    return node;
}
