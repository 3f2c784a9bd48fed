/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"

/* A table of tests/fence; the runner says where the sources lie. */
static FILE *open_table(const char *name)
{
    const char *source = getenv("HF_SRC");
    char path[4096];
    FILE *table;

    snprintf(path, sizeof(path), "%s/tests/fence/%s", source ? source : ".",
             name);
    table = fopen(path, "re");
    assert_non_null(table);
    return table;
}

static bool read_line(FILE *table, char *line, size_t size)
{
    if (!fgets(line, (int)size, table))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static void tokens_are_strict_decimals_from_one_to_the_largest(void **state)
{
    FILE *table = open_table("tokens.tsv");
    char line[256];
    int rows = 0;

    (void)state;
    while (read_line(table, line, sizeof(line))) {
        char *tab = strchr(line, '\t');
        struct hf_fence_words words = {.token = tab ? tab + 1 : ""};
        struct hf_fence_claim claim = {0};
        struct hf_error error = {HF_ERR_OK, ""};
        enum hf_err err = hf_fence_claim_make(&words, &claim, &error);

        assert_non_null(tab);
        *tab = '\0';
        if (strcmp(line, "accept") == 0) {
            assert_int_equal(err, HF_ERR_OK);
        } else {
            assert_string_equal(line, "refuse");
            assert_int_equal(err, HF_ERR_USAGE);
            assert_int_equal(error.code, HF_ERR_USAGE);
            assert_non_null(strstr(error.text, "is not a token"));
        }
        rows++;
    }
    fclose(table);
    assert_true(rows > 30);
}

static void a_line_end_is_no_part_of_a_token(void **state)
{
    struct hf_fence_words words = {.env_token = "7\n"};
    struct hf_fence_claim claim = {0};
    struct hf_error error;

    (void)state;
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_USAGE);
    assert_null(strchr(error.text, '\n'));
}

static const char *word(char **rest)
{
    char *start = *rest;
    char *tab = strchr(start, '\t');

    if (tab)
        *tab = '\0';
    *rest = tab ? tab + 1 : start + strlen(start);
    return strcmp(start, "-") == 0 ? "" : start;
}

static void marks_and_claims_are_judged_as_the_table_says(void **state)
{
    FILE *table = open_table("rules.tsv");
    char line[512];
    int rows = 0;

    (void)state;
    while (read_line(table, line, sizeof(line))) {
        struct hf_fence_mark mark = {0};
        struct hf_fence_claim claim = {0};
        struct hf_error error = {HF_ERR_OK, ""};
        enum hf_fence_verdict verdict;
        char *rest = line;

        mark.token = strtoull(word(&rest), NULL, 10);
        snprintf(mark.grant, sizeof(mark.grant), "%s", word(&rest));
        snprintf(mark.key, sizeof(mark.key), "%s", word(&rest));
        claim.token = strtoull(word(&rest), NULL, 10);
        snprintf(claim.grant, sizeof(claim.grant), "%s", word(&rest));
        snprintf(claim.key, sizeof(claim.key), "%s", word(&rest));
        claim.strict = word(&rest)[0] != '\0';
        verdict = hf_fence_judge(&mark, &claim);
        assert_string_equal(hf_fence_verdict_name(verdict), word(&rest));
        assert_int_equal(hf_fence_check(&mark, &claim, "it", &error),
                         hf_fence_verdict_error(verdict));
        assert_int_equal(error.code, hf_fence_verdict_error(verdict));
        if (!hf_fence_verdict_error(verdict)) {
            hf_fence_raise(&mark, &claim);
            claim.strict = false;
            assert_int_equal(hf_fence_judge(&mark, &claim), HF_FENCE_SAME);
        }
        rows++;
    }
    fclose(table);
    assert_true(rows > 20);
}

static void a_resource_may_move_to_another_key(void **state)
{
    struct hf_fence_mark mark = {5, "a", "t/n/old"};
    struct hf_fence_claim claim = {.token = 6, .grant = "b", .key = "t/n/new"};

    (void)state;
    claim.rekey = true;
    assert_int_equal(hf_fence_judge(&mark, &claim), HF_FENCE_RAISED);
    hf_fence_raise(&mark, &claim);
    assert_string_equal(mark.key, "t/n/new");
    claim.token = 5;
    claim.rekey = true;
    assert_int_equal(hf_fence_judge(&mark, &claim), HF_FENCE_STALE);
}

static void a_key_that_is_not_told_leaves_the_marks_own(void **state)
{
    struct hf_fence_mark mark = {5, "a", "t/n/k"};
    struct hf_fence_claim claim = {.token = 6, .grant = "b"};

    (void)state;
    hf_fence_raise(&mark, &claim);
    assert_string_equal(mark.key, "t/n/k");
    assert_int_equal(mark.token, 6);
    assert_string_equal(mark.grant, "b");
}

static void without_a_token_the_message_names_what_drops_it(void **state)
{
    struct hf_fence_words words = {.env_token = ""};
    struct hf_fence_claim claim = {0};
    struct hf_error error;

    (void)state;
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error),
                     HF_ERR_NO_TOKEN);
    assert_non_null(strstr(error.text, "LOCK_TOKEN"));
    assert_non_null(strstr(error.text, "sudo"));
    assert_non_null(strstr(error.text, "ssh"));
    assert_non_null(strstr(error.text, "docker exec"));
    words.env_token = NULL;
    assert_int_equal(hf_fence_claim_make(&words, &claim, NULL),
                     HF_ERR_NO_TOKEN);
}

/* "" stands for no id. */
static void expect_grant(struct hf_fence_words words, const char *grant)
{
    struct hf_fence_claim claim = {0};
    struct hf_error error;

    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_OK);
    assert_string_equal(claim.grant, grant);
}

static void the_session_is_the_id_of_its_own_token_alone(void **state)
{
    (void)state;
    expect_grant((struct hf_fence_words){.env_token = "7", .env_session = "s"},
                 "s");
    expect_grant((struct hf_fence_words){.token = "7", .env_session = "s"}, "");
    expect_grant((struct hf_fence_words){.token = "7",
                                         .env_token = "7",
                                         .env_session = "s"},
                 "s");
    expect_grant((struct hf_fence_words){.token = "8",
                                         .env_token = "7",
                                         .env_session = "s"},
                 "");
    expect_grant(
        (struct hf_fence_words){
            .token = "8", .grant = "g", .env_token = "7", .env_session = "s"},
        "g");
    expect_grant((struct hf_fence_words){.grant = "",
                                         .env_token = "7",
                                         .env_session = "s"},
                 "");
    expect_grant((struct hf_fence_words){.env_token = "7", .env_session = ""},
                 "");
}

static void ids_have_an_alphabet_and_a_length(void **state)
{
    struct hf_fence_words words = {.token = "7"};
    struct hf_fence_claim claim = {0};
    struct hf_error error;
    char grant[HF_FENCE_GRANT_SIZE + 1];

    (void)state;
    memset(grant, 'x', sizeof(grant));
    grant[HF_FENCE_GRANT_SIZE] = '\0';
    words.grant = grant;
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_USAGE);
    grant[HF_FENCE_GRANT_MAX] = '\0';
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_OK);
    words.grant = "a b";
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_USAGE);
    words.grant = "a'b";
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_USAGE);
}

static void keys_are_checked_and_names_completed(void **state)
{
    struct hf_fence_words words = {.token = "7", .env_key = "t/n/k"};
    struct hf_fence_claim claim = {0};
    struct hf_error error;

    (void)state;
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_OK);
    assert_string_equal(claim.key, "t/n/k");
    words.key = "orders";
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_OK);
    assert_string_equal(claim.key, HF_KEY_DEFAULT_HOME "/orders");
    words.key = "a//b";
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_USAGE);
    assert_non_null(strstr(error.text, "--key"));
    words.key = NULL;
    words.env_key = "a";
    assert_int_equal(hf_fence_claim_make(&words, &claim, &error), HF_ERR_USAGE);
    assert_non_null(strstr(error.text, "LOCK_KEY"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_strict_decimals_from_one_to_the_largest),
        cmocka_unit_test(a_line_end_is_no_part_of_a_token),
        cmocka_unit_test(marks_and_claims_are_judged_as_the_table_says),
        cmocka_unit_test(a_resource_may_move_to_another_key),
        cmocka_unit_test(a_key_that_is_not_told_leaves_the_marks_own),
        cmocka_unit_test(without_a_token_the_message_names_what_drops_it),
        cmocka_unit_test(the_session_is_the_id_of_its_own_token_alone),
        cmocka_unit_test(ids_have_an_alphabet_and_a_length),
        cmocka_unit_test(keys_are_checked_and_names_completed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
