/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/nth_malloc.h"

static void parses_bytes(struct hf_yaml *yaml, const char *bytes, size_t size)
{
    struct hf_error error = {.text = ""};
    /* A copy that ends where it ends, gone before the tree is read. */
    char *copy = malloc(size + 1);

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    if (hf_yaml_parse(yaml, "x.yaml", copy, size, &error))
        fail_msg("%s", error.text);
    free(copy);
    assert_non_null(yaml->root);
}

static void parses(struct hf_yaml *yaml, const char *text)
{
    parses_bytes(yaml, text, strlen(text));
}

static void refuses_bytes(const char *bytes, size_t size, const char *wanted)
{
    struct hf_error error = {.text = ""};
    struct hf_yaml yaml;

    assert_int_equal(hf_yaml_parse(&yaml, "x.yaml", bytes, size, &error),
                     HF_ERR_CONFIG);
    assert_null(yaml.root);
    assert_null(yaml.nodes);
    assert_null(yaml.text);
    assert_string_equal(error.text, wanted);
}

static void refuses(const char *text, const char *wanted)
{
    refuses_bytes(text, strlen(text), wanted);
}

static void stands_at(struct hf_yaml_mark mark, unsigned int line,
                      unsigned int column)
{
    assert_int_equal(mark.line, line);
    assert_int_equal(mark.column, column);
}

/* ---- what is read ------------------------------------------------------ */

static void a_class_file_becomes_a_tree_with_places(void **state)
{
    const struct hf_yaml_node *node;
    struct hf_yaml yaml;

    (void)state;
    parses(&yaml, "# locks of the night\n"
                  "batch:\n"
                  "  ttl: {min: 5s, default: 60s}\n"
                  "  mode: \"exclusive\"\n"
                  "  allow:\n"
                  "    - root\n"
                  "    - 'backup'\n"
                  "  why: |\n"
                  "    two\n"
                  "    lines\n");
    assert_int_equal(yaml.root->kind, HF_YAML_MAP);
    assert_int_equal(yaml.root->count, 1);
    assert_null(yaml.root->name);
    node = hf_yaml_find(yaml.root, "batch");
    assert_int_equal(node->kind, HF_YAML_MAP);
    assert_int_equal(node->count, 4);
    stands_at(node->name_mark, 2, 1);
    stands_at(node->mark, 3, 3);

    node = node->first;
    assert_string_equal(node->name, "ttl");
    stands_at(node->name_mark, 3, 3);
    stands_at(node->mark, 3, 8);
    assert_string_equal(hf_yaml_find(node, "min")->text, "5s");
    stands_at(hf_yaml_find(node, "default")->mark, 3, 27);

    node = node->next;
    assert_string_equal(node->name, "mode");
    assert_string_equal(node->text, "exclusive");
    assert_false(node->is_plain);

    node = node->next;
    assert_int_equal(node->kind, HF_YAML_LIST);
    assert_int_equal(node->count, 2);
    assert_string_equal(node->first->text, "root");
    assert_true(node->first->is_plain);
    assert_null(node->first->name);
    stands_at(node->first->mark, 6, 7);
    assert_string_equal(node->first->next->text, "backup");
    assert_null(node->first->next->next);

    node = node->next;
    assert_string_equal(node->text, "two\nlines\n");
    assert_int_equal(node->size, 10);
    assert_false(node->is_plain);
    assert_null(node->next);
    hf_yaml_clear(&yaml);
    assert_null(yaml.root);
}

static void find_knows_only_maps_and_their_keys(void **state)
{
    struct hf_yaml yaml;

    (void)state;
    parses(&yaml, "a: [x]\nb: {}\n");
    assert_null(hf_yaml_find(yaml.root, "c"));
    assert_null(hf_yaml_find(hf_yaml_find(yaml.root, "a"), "x"));
    assert_null(hf_yaml_find(hf_yaml_find(yaml.root, "a")->first, "x"));
    assert_null(hf_yaml_find(hf_yaml_find(yaml.root, "b"), "x"));
    hf_yaml_clear(&yaml);
}

static void where_nothing_stands_there_is_an_empty_text(void **state)
{
    struct hf_yaml yaml;

    (void)state;
    parses(&yaml, "a:\nb: ''\n");
    assert_string_equal(hf_yaml_find(yaml.root, "a")->text, "");
    assert_true(hf_yaml_find(yaml.root, "a")->is_plain);
    assert_string_equal(hf_yaml_find(yaml.root, "b")->text, "");
    assert_false(hf_yaml_find(yaml.root, "b")->is_plain);
    hf_yaml_clear(&yaml);
}

static void scalars_stay_text(void **state)
{
    struct hf_yaml yaml;

    (void)state;
    parses(&yaml, "[yes, 1.0, null, ~, 0x10, 2026-01-01, \"\\x41\\u00e9\"]");
    assert_string_equal(yaml.root->first->text, "yes");
    assert_string_equal(yaml.root->first->next->text, "1.0");
    assert_string_equal(yaml.root->first->next->next->text, "null");
    assert_int_equal(yaml.root->count, 7);
    hf_yaml_clear(&yaml);
}

static void one_document_may_be_marked_as_such(void **state)
{
    struct hf_yaml yaml;

    (void)state;
    parses(&yaml, "---\na: 1\n...\n");
    stands_at(yaml.root->first->mark, 2, 4);
    hf_yaml_clear(&yaml);
}

static void marks_of_editors_and_other_systems_are_taken(void **state)
{
    struct hf_yaml yaml;

    (void)state;
    parses(&yaml, "\xef\xbb\xbf"
                  "a: 1\r\nb: 2\r\n");
    stands_at(yaml.root->first->mark, 1, 4);
    assert_string_equal(yaml.root->first->text, "1");
    stands_at(yaml.root->first->next->mark, 2, 4);
    hf_yaml_clear(&yaml);
}

static void columns_count_characters(void **state)
{
    struct hf_yaml yaml;

    (void)state;
    parses(&yaml, "{\"\xc3\xa9\xe2\x82\xac\": x}");
    stands_at(yaml.root->first->mark, 1, 8);
    hf_yaml_clear(&yaml);
    refuses("\xc3\xa9: \x1b", "x.yaml:1:4: the invisible character U+001B may "
                              "not stand here");
}

/* ---- what is not
 * ---------------------------------------------------------------- */

static void what_a_reviewed_file_must_not_use_is_refused(void **state)
{
    (void)state;
    refuses("a: &x 1\n", "x.yaml:1:4: anchors (&x) are not allowed here");
    refuses("a: &x [1]\n", "x.yaml:1:4: anchors (&x) are not allowed here");
    refuses("&x a: 1\n", "x.yaml:1:1: anchors (&x) are not allowed here");
    refuses("a: &x {}\n", "x.yaml:1:4: anchors (&x) are not allowed here");
    refuses("a: *x\n", "x.yaml:1:4: aliases (*x) are not allowed here");
    refuses("a: !!str 1\n", "x.yaml:1:4: tags (tag:yaml.org,2002:str) are not "
                            "allowed here");
    refuses("a: !x [1]\n", "x.yaml:1:4: tags (!x) are not allowed here");
    refuses("a: ! 1\n", "x.yaml:1:4: tags (!) are not allowed here");
    refuses("<<: {a: 1}\n", "x.yaml:1:1: merge keys (<<) are not allowed here");
    refuses("%YAML 1.1\n---\na: 1\n",
            "x.yaml:1:1: directives (%) are not allowed here");
    refuses("a: 1\n---\nb: 2\n",
            "x.yaml:2:1: a second document is not allowed here");
    refuses("? [a]\n: 1\n", "x.yaml:1:3: a key must be a word");
    refuses("'': 1\n", "x.yaml:1:1: a key must not be empty");
    refuses("?\n: 1\n", "x.yaml:1:2: a key must not be empty");
}

static void a_quoted_merge_key_is_a_key(void **state)
{
    struct hf_yaml yaml;

    (void)state;
    parses(&yaml, "\"<<\": 1\n");
    assert_string_equal(yaml.root->first->name, "<<");
    hf_yaml_clear(&yaml);
}

static void doubled_keys_are_refused_with_both_places(void **state)
{
    struct hf_yaml yaml;

    (void)state;
    refuses("a:\n  b: 1\n  c: 2\n  'b': 3\n",
            "x.yaml:4:3: \"b\" stands here a second time (first in line 2)");
    refuses("{a: 1, a: 2}",
            "x.yaml:1:8: \"a\" stands here a second time (first "
            "in line 1)");
    parses(&yaml, "a: {b: 1}\nc: {b: 1}\n");
    hf_yaml_clear(&yaml);
}

static void an_empty_file_is_refused(void **state)
{
    (void)state;
    refuses("", "x.yaml:1:1: nothing stands in this file");
    refuses("# only\n# comments\n", "x.yaml:1:1: nothing stands in this file");
    refuses("\xef\xbb\xbf", "x.yaml:1:1: nothing stands in this file");
}

static void faults_of_form_have_a_place(void **state)
{
    (void)state;
    refuses("a: b: c\n",
            "x.yaml:1:5: mapping values are not allowed in this context");
    refuses("a:\n\tb: 1\n",
            "x.yaml:2:1: found character that cannot start any token while "
            "scanning for the next token");
    refuses("a: [1,\nb: 2\n",
            "x.yaml:3:1: did not find expected ',' or ']' while parsing a flow "
            "sequence (begun in line 1)");
    refuses("a: 'x\n",
            "x.yaml:2:1: found unexpected end of stream while scanning a "
            "quoted scalar (begun in line 1)");
    refuses("a: @x\n",
            "x.yaml:1:4: found character that cannot start any token while "
            "scanning for the next token");
}

static void what_a_reviewer_could_not_see_is_refused(void **state)
{
    (void)state;
    refuses("a: x # \xe2\x80\xae\n",
            "x.yaml:1:8: the invisible character U+202E may not stand here");
    refuses("a: 1\nb: \xc2\x85\n",
            "x.yaml:2:4: the invisible character U+0085 may not stand here");
    refuses("a: \xef\xbb\xbf\n",
            "x.yaml:1:4: the invisible character U+FEFF may not stand here");
    refuses_bytes("a: \0\n", 5,
                  "x.yaml:1:4: the invisible character U+0000 may not stand "
                  "here");
    refuses("a: 1\r\nb: \xff\n", "x.yaml:2:4: the byte 0xff is no UTF-8");
    refuses("a: \xed\xa0\x80\n", "x.yaml:1:4: the byte 0xed is no UTF-8");
    refuses("a: \"x\\0\"\n", "x.yaml:1:4: a NUL may not stand in a text");
    refuses("\"x\\0\": 1\n", "x.yaml:1:1: a NUL may not stand in a text");
}

static void size_depth_and_number_have_limits(void **state)
{
    static char text[HF_YAML_BYTES_MAX + 2];
    struct hf_yaml yaml;

    (void)state;
    memset(text, ' ', sizeof(text));
    text[0] = 'a';
    parses_bytes(&yaml, text, HF_YAML_BYTES_MAX);
    hf_yaml_clear(&yaml);
    refuses_bytes(text, HF_YAML_BYTES_MAX + 1,
                  "x.yaml: 65537 bytes are too long, at most 65536 are read");

    memset(text, '[', HF_YAML_BYTES_MAX);
    refuses_bytes(text, HF_YAML_BYTES_MAX,
                  "x.yaml:1:17: nested deeper than 16");
    memset(text + 16, ']', 16);
    parses_bytes(&yaml, text, 32);
    hf_yaml_clear(&yaml);
    memset(text, '{', HF_YAML_BYTES_MAX);
    refuses_bytes(text, HF_YAML_BYTES_MAX, "x.yaml:1:2: a key must be a word");

    for (size_t i = 0; i < HF_YAML_NODES_MAX; i++)
        memcpy(text + 3 * i, "- \n", 3);
    refuses_bytes(text, (size_t)3 * HF_YAML_NODES_MAX,
                  "x.yaml:4096:2: more than 4096 values are too many for one "
                  "file");
    parses_bytes(&yaml, text, (size_t)3 * (HF_YAML_NODES_MAX - 1));
    assert_int_equal(yaml.root->count, HF_YAML_NODES_MAX - 1);
    hf_yaml_clear(&yaml);
}

static void a_reader_complains_in_the_same_form(void **state)
{
    struct hf_yaml yaml;
    struct hf_error error;

    (void)state;
    parses(&yaml, "a:\n  ttl: soon\n");
    assert_int_equal(hf_yaml_error(&yaml, yaml.root->first->first->mark, &error,
                                   "\"%s\" is no length of time", "soon"),
                     HF_ERR_CONFIG);
    assert_string_equal(error.text,
                        "x.yaml:2:8: \"soon\" is no length of time");
    assert_int_equal(
        hf_yaml_error(&yaml, yaml.root->mark, NULL, "%s", "nobody listens"),
        HF_ERR_CONFIG);
    hf_yaml_clear(&yaml);
}

static void without_memory_reading_says_so(void **state)
{
    const char *text = "a: {b: [1, 2, 'x']}\nc: |\n  text\n";
    struct hf_error error;
    struct hf_yaml yaml;
    enum hf_err err;
    unsigned int n = 0;
    bool failed = true;

    (void)state;
    while (failed) {
        nth_malloc_fail(++n);
        err = hf_yaml_parse(&yaml, "x.yaml", text, strlen(text), &error);
        failed = nth_malloc_end();
        assert_int_equal(err, failed ? HF_ERR_NOMEM : HF_ERR_OK);
        hf_yaml_clear(&yaml);
    }
    /* The tree's own two; of an archive all of the parser's too. */
    assert_true(n > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_file_becomes_a_tree_with_places),
        cmocka_unit_test(find_knows_only_maps_and_their_keys),
        cmocka_unit_test(where_nothing_stands_there_is_an_empty_text),
        cmocka_unit_test(scalars_stay_text),
        cmocka_unit_test(one_document_may_be_marked_as_such),
        cmocka_unit_test(marks_of_editors_and_other_systems_are_taken),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(what_a_reviewed_file_must_not_use_is_refused),
        cmocka_unit_test(a_quoted_merge_key_is_a_key),
        cmocka_unit_test(doubled_keys_are_refused_with_both_places),
        cmocka_unit_test(an_empty_file_is_refused),
        cmocka_unit_test(faults_of_form_have_a_place),
        cmocka_unit_test(what_a_reviewer_could_not_see_is_refused),
        cmocka_unit_test(size_depth_and_number_have_limits),
        cmocka_unit_test(a_reader_complains_in_the_same_form),
        cmocka_unit_test(without_memory_reading_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
