/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock service over a store in which rows of somebody else's making stand:
 * any keys below its own root, any values. Every request is answered; what is
 * granted was free by the rows' keys alone, whatever stands in them; and who
 * got a key can give it back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/record.h"
#include "service/service.h"
#include "store/sim.h"
#include "tests/fuzz/fuzz.h"

#define KEY "t/n/k"

enum { ROWS_MAX = 12, ROUNDS_MAX = 400 };

struct bed {
    struct hf_sim_world *world;
    struct hf_store *planter;
    struct hf_service *service;
    struct hf_time now;
    bool has_hold;
    bool has_share;
    bool has_floor;
};

static const struct hf_wall wall = {INT64_C(1780315200000000000)};

static void ask(struct bed *bed, struct hf_request *request)
{
    struct hf_request *got;
    int rounds = 0;

    hf_service_submit(bed->service, request, bed->now, wall);
    while (!(got = hf_service_next(bed->service, bed->now, wall))) {
        must(++rounds < ROUNDS_MAX);
        bed->now = hf_time_add(bed->now, hf_span_ms(100));
        hf_sim_world_advance(bed->world, bed->now);
    }
    must(got == request);
    must(request->answer != HF_ANSWER_FAILED ||
         fuzz_is_told(&request->error, request->error.code));
}

/* ---- the rows --------------------------------------------------------------
 */

/* A value: any bytes, or a record of ours with any texts in it. */
static size_t make_value(struct fuzz_input *input, char value[HF_RECORD_SIZE])
{
    struct hf_holder holder = {.version = 1, .epoch = 1};
    struct hf_epoch_record epoch = {.version = 1};
    struct hf_value encoded = {NULL};
    uint8_t form = fuzz_byte(input);
    size_t size = fuzz_byte(input);

    switch (form % 4) {
    case 0:
        fuzz_fill(input, value, size);
        return size;
    case 1:
        fuzz_fill(input, &epoch.epoch,
                  sizeof(epoch.epoch) / (form & 4 ? 2 : 1));
        fuzz_fill(input, epoch.store_id, form & 8 ? sizeof(epoch.store_id) : 1);
        epoch.sealed = form & 16;
        (void)hf_record_encode_epoch(&epoch, &encoded);
        break;
    default:
        holder.mode = form & 4 ? HF_SHARED : HF_EXCLUSIVE;
        fuzz_fill(input, holder.grant, form & 8 ? 1 : sizeof(holder.grant));
        fuzz_fill(input, &holder.epoch, form & 16 ? sizeof(holder.epoch) : 1);
        fuzz_fill(input, holder.note, size < 200 ? size : 200);
        (void)hf_record_encode_holder(&holder, &encoded);
        break;
    }
    size = encoded.size;
    memcpy(value, encoded.text, size);
    hf_value_clear(&encoded);
    return size;
}

static size_t make_key(struct fuzz_input *input, char key[1100])
{
    static const char *const roots[] = {HF_PATH_ROOT "hold/" KEY,
                                        HF_PATH_ROOT "wait/" KEY "//",
                                        HF_PATH_ROOT "share/" KEY "//",
                                        HF_PATH_ROOT "floor/" KEY,
                                        HF_PATH_ROOT "epoch",
                                        HF_PATH_ROOT "session/",
                                        HF_PATH_ROOT,
                                        HF_PATH_ROOT "hold/",
                                        HF_PATH_ROOT "wait/",
                                        HF_PATH_ROOT "share/"};
    const char *root = roots[fuzz_byte(input) % 10];
    size_t used = strlen(root);
    size_t more = fuzz_byte(input);

    memcpy(key, root, used);
    /* Few are long, many have the very name. */
    more = more < 64 ? 0 : more < 192 ? more - 64 : (more - 191) * 16;
    if (used + more > HF_STORE_KEY_BYTES_MAX)
        more = HF_STORE_KEY_BYTES_MAX - used;
    if (more > 0)
        memset(key + used, '0', more);
    fuzz_fill(input, key + used, more < 4 ? more : 4);
    return used + more;
}

static bool begins(const char *key, size_t size, const char *with)
{
    return size >= strlen(with) && !memcmp(key, with, strlen(with));
}

static bool is(const char *key, size_t size, const char *what)
{
    return size == strlen(what) && !memcmp(key, what, size);
}

static void plant(struct bed *bed, struct fuzz_input *input)
{
    char value[HF_RECORD_SIZE];
    char key[1100];
    struct hf_action put = {.kind = HF_DO_PUT};
    struct hf_branch branch = {.then = &put, .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};

    put.key = (struct hf_bytes){key, make_key(input, key)};
    put.value = (struct hf_bytes){value, make_value(input, value)};
    hf_store_submit(bed->planter, &request, bed->now);
    hf_sim_world_advance(bed->world, bed->now);
    must(hf_store_next(bed->planter, bed->now) == &request);
    must(request.outcome == HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&request);
    bed->has_hold |= is(key, put.key.size, HF_PATH_ROOT "hold/" KEY);
    bed->has_floor |= is(key, put.key.size, HF_PATH_ROOT "floor/" KEY);
    bed->has_share |= begins(key, put.key.size, HF_PATH_ROOT "share/" KEY "//");
}

/* ---- the requests -----------------------------------------------------------
 */

static bool open_session(struct bed *bed, struct hf_session_ref *session)
{
    struct hf_request request = {.kind = HF_REQUEST_SESSION_OPEN,
                                 .class_name = "batch"};
    bool done;

    ask(bed, &request);
    done = request.answer == HF_ANSWER_DONE;
    *session = request.session;
    hf_request_clear(&request);
    return done;
}

static void give_back(struct bed *bed, struct hf_request *acquired)
{
    struct hf_hold_ref hold = {
        .key = KEY, .mode = acquired->mode, .token = acquired->token};
    struct hf_request renew = {.kind = HF_REQUEST_RENEW,
                               .session = acquired->session,
                               .holds = &hold,
                               .hold_count = 1};
    struct hf_request release = {
        .kind = HF_REQUEST_RELEASE, .holds = &hold, .hold_count = 1};

    memcpy(hold.grant, acquired->grant, sizeof(hold.grant));
    ask(bed, &renew);
    must(renew.answer == HF_ANSWER_DONE && hold.stands);
    release.session = renew.session;
    ask(bed, &release);
    must(release.answer == HF_ANSWER_DONE);
    hf_request_clear(&renew);
    hf_request_clear(&release);
}

static void acquire(struct bed *bed, enum hf_mode mode, int64_t wait_ms,
                    uint8_t number)
{
    struct hf_request request = {.kind = HF_REQUEST_ACQUIRE,
                                 .class_name = "both",
                                 .key = KEY,
                                 .mode = mode,
                                 .wait_ms = wait_ms,
                                 .grant = {0xaa, number}};

    if (!open_session(bed, &request.session))
        return;
    ask(bed, &request);
    if (request.answer == HF_ANSWER_GRANTED) {
        must(!bed->has_hold && !bed->has_floor);
        must(mode == HF_SHARED || !bed->has_share);
        give_back(bed, &request);
    }
    must(request.answer != HF_ANSWER_BUSY || request.info_count <= 1);
    hf_request_clear(&request);
}

static void look(struct bed *bed, enum hf_request_kind kind, const char *key)
{
    struct hf_request request = {.kind = kind, .limit = 100};

    snprintf(request.key, sizeof(request.key), "%s", key);
    ask(bed, &request);
    for (size_t i = 0; i < request.info_count; i++)
        must(!hf_key_check(request.infos[i].key, NULL));
    for (size_t i = 0; i < request.notice_count; i++)
        must(!hf_key_check(request.notices[i].info.key, NULL));
    hf_request_clear(&request);
}

static void watch(struct bed *bed)
{
    struct hf_request request = {.kind = HF_REQUEST_WATCH};

    hf_service_submit(bed->service, &request, bed->now, wall);
    for (int i = 0; i < 4; i++) {
        hf_sim_world_advance(bed->world, bed->now);
        if (hf_service_next(bed->service, bed->now, wall) == &request)
            break;
    }
    hf_service_cancel(bed->service, &request, bed->now, wall);
    for (size_t i = 0; i < request.notice_count; i++)
        must(!hf_key_check(request.notices[i].info.key, NULL));
    hf_request_clear(&request);
}

/* The operator's way out of whatever stands in the epoch record. */
static void advance(struct bed *bed)
{
    struct hf_request show = {.kind = HF_REQUEST_EPOCH_SHOW};
    struct hf_request request = {.kind = HF_REQUEST_EPOCH_ADVANCE, .now = true};

    ask(bed, &show);
    request.epoch = show.epoch;
    ask(bed, &request);
    hf_request_clear(&show);
    hf_request_clear(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hf_class both = {.name = "both",
                                         .ttl_min_ms = 1000,
                                         .ttl_default_ms = 15000,
                                         .ttl_max_ms = 600000,
                                         .wait_max_ms = 3600000,
                                         .shared = true,
                                         .key = "t/n/{user}"};
    static const struct hf_class *const list[] = {&hf_class_batch, &both};
    static const struct hf_core_classes classes = {list, 2};
    struct fuzz_input input = {data, size};
    struct hf_sim_options options = {.seed = 1};
    struct hf_core_options core = {.answer_limit = hf_span_ms(5000),
                                   .ops_max = 16};
    struct bed bed = {.now = {1}};
    uint8_t traits = fuzz_byte(&input);

    options.traits = (struct hf_store_traits){.shared_queue = traits & 1,
                                              .cheap_conflict = traits & 2,
                                              .local = traits & 4};
    core.traits = options.traits;
    bed.world = hf_sim_world_new(&options);
    must(bed.world != NULL);
    bed.planter = hf_sim_open(bed.world);
    for (int i = 0; i < ROWS_MAX && input.size > 0; i++)
        plant(&bed, &input);
    bed.service = hf_service_new(hf_sim_open(bed.world), &classes, &core);
    must(bed.service != NULL);
    acquire(&bed, HF_EXCLUSIVE, 0, 1);
    acquire(&bed, HF_SHARED, 0, 2);
    acquire(&bed, HF_EXCLUSIVE, 3000, 3);
    acquire(&bed, HF_SHARED, 3000, 4);
    look(&bed, HF_REQUEST_LIST, "");
    look(&bed, HF_REQUEST_SHOW, KEY);
    watch(&bed);
    advance(&bed);
    hf_service_close(bed.service);
    bed.planter->ops->close(bed.planter);
    hf_sim_world_free(bed.world);
    return 0;
}
