/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/sha256.h"

#include <string.h>

#include "tests/lib/cmocka_all.h"

static void hashes(const char *text, size_t times, const char *wanted)
{
    uint8_t digest[HF_SHA256_SIZE];
    char found[HF_SHA256_TEXT_SIZE];
    struct hf_sha256 hash;

    hf_sha256_begin(&hash);
    for (size_t i = 0; i < times; i++)
        hf_sha256_add(&hash, text, strlen(text));
    hf_sha256_end(&hash, digest);
    hf_sha256_text(digest, found);
    assert_string_equal(found, wanted);
}

/* FIPS 180-4's examples. */
static void the_examples_of_the_standard_come_out(void **state)
{
    (void)state;
    hashes("", 1,
           "e3b0c44298fc1c149afbf4c8996fb924"
           "27ae41e4649b934ca495991b7852b855");
    hashes("abc", 1,
           "ba7816bf8f01cfea414140de5dae2223"
           "b00361a396177a9cb410ff61f20015ad");
    hashes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
           "248d6a61d20638b8e5c026930c3e6039"
           "a33ce45964ff2167f6ecedd419db06c1");
    hashes("a", 1000000,
           "cdc76e5c9914fb9281a1c7e284d73e67"
           "f1809a48a497200e046d39ccc7112cd0");
}

static void it_is_the_same_in_whatever_pieces(void **state)
{
    char text[200];
    uint8_t whole[HF_SHA256_SIZE];
    uint8_t pieces[HF_SHA256_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)i;
    for (size_t size = 0; size <= sizeof(text); size++) {
        struct hf_sha256 hash;

        hf_sha256_begin(&hash);
        hf_sha256_add(&hash, text, size);
        hf_sha256_end(&hash, whole);
        for (size_t cut = 0; cut <= size; cut += 7) {
            hf_sha256_begin(&hash);
            hf_sha256_add(&hash, text, cut);
            hf_sha256_add(&hash, text + cut, size - cut);
            hf_sha256_end(&hash, pieces);
            assert_memory_equal(whole, pieces, sizeof(whole));
        }
    }
}

static void authenticates(const char *key, size_t key_size, const char *text,
                          const char *wanted)
{
    uint8_t digest[HF_SHA256_SIZE];
    char found[HF_SHA256_TEXT_SIZE];

    hf_hmac_sha256(key, key_size, text, strlen(text), digest);
    hf_sha256_text(digest, found);
    assert_string_equal(found, wanted);
}

/* RFC 4231, cases 1, 2 and 6 (a key longer than a block). */
static void the_examples_of_the_hmac_come_out(void **state)
{
    char key[131];

    (void)state;
    memset(key, 0x0b, 20);
    authenticates(key, 20, "Hi There",
                  "b0344c61d8db38535ca8afceaf0bf12b"
                  "881dc200c9833da726e9376c2e32cff7");
    authenticates("Jefe", 4, "what do ya want for nothing?",
                  "5bdcc146bf60754e6a042426089575c7"
                  "5a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof(key));
    authenticates(key, sizeof(key),
                  "Test Using Larger Than Block-Size Key - Hash Key First",
                  "60e431591ee0b67f0d8a26aacbf5b77f"
                  "8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_standard_come_out),
        cmocka_unit_test(it_is_the_same_in_whatever_pieces),
        cmocka_unit_test(the_examples_of_the_hmac_come_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
