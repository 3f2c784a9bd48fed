/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* A credentials file of a thousand profiles has some 200 KB. */
enum { FILE_BYTES_MAX = 1 << 20, PATH_BYTES_MAX = 4096 };

/* A variable that is set to nothing counts as not set. */
static const char *look_up(char *const *environment, const char *name)
{
    size_t size = strlen(name);

    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, size) && (*environment)[size] == '=' &&
            (*environment)[size + 1])
            return *environment + size + 1;
    return NULL;
}

/* ---- the files of the aws tools --------------------------------------------
 */

struct file {
    const char *name; /* for messages */
    char *text;       /* NULL: there is none */
};

static enum hf_err read_file(struct hf_sys *sys, const char *path, char **text,
                             struct hf_error *error)
{
    int fd = sys->open(sys, AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    ssize_t got;
    char *room;

    *text = NULL;
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES)
        return HF_ERR_OK;
    if (fd < 0)
        return hf_error_set_errno(error, HF_ERR_CONFIG, -fd, "%s", path);
    room = malloc(FILE_BYTES_MAX + 1);
    got = room ? sys->pread(sys, fd, room, FILE_BYTES_MAX, 0) : 0;
    sys->close(sys, fd);
    if (!room)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory to read %s", path);
    if (got < 0 || got == FILE_BYTES_MAX) {
        free(room);
        if (got < 0)
            return hf_error_set_errno(error, HF_ERR_CONFIG, (int)-got, "%s",
                                      path);
        return hf_error_set(error, HF_ERR_CONFIG, "%s has more than %d bytes",
                            path, FILE_BYTES_MAX - 1);
    }
    room[got] = '\0';
    *text = room;
    return HF_ERR_OK;
}

/* From `variable`, or ~/.aws/`name`. Errors as read_file. */
static enum hf_err find_file(struct hf_sys *sys, char *const *environment,
                             const char *variable, const char *name,
                             char **text, struct hf_error *error)
{
    const char *path = look_up(environment, variable);
    const char *home = look_up(environment, "HOME");
    struct hf_buf buf;
    enum hf_err failed;

    *text = NULL;
    if (path && strncmp(path, "~/", 2) != 0)
        return read_file(sys, path, text, error);
    if (!home)
        return HF_ERR_OK;
    hf_buf_init(&buf, PATH_BYTES_MAX);
    if (path)
        hf_buf_printf(&buf, "%s/%s", home, path + 2);
    else
        hf_buf_printf(&buf, "%s/.aws/%s", home, name);
    failed = buf.failed ? hf_error_set(error, buf.failed, "HOME is too long")
                        : read_file(sys, buf.data, text, error);
    hf_buf_clear(&buf);
    return failed;
}

struct span {
    const char *at;
    size_t size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span text)
{
    while (text.size && is_blank(text.at[0])) {
        text.at++;
        text.size--;
    }
    while (text.size && is_blank(text.at[text.size - 1]))
        text.size--;
    return text;
}

static bool is_word(struct span text, const char *word)
{
    return text.size == strlen(word) && !memcmp(text.at, word, text.size);
}

/* "[profile NAME]" or "[NAME]": is it the section of that kind and name? */
static bool is_section(struct span line, const char *kind, const char *name)
{
    struct span inside = trim((struct span){line.at + 1, line.size - 1});
    size_t size = kind ? strlen(kind) : 0;

    if (!inside.size || inside.at[inside.size - 1] != ']')
        return false;
    inside.size--;
    inside = trim(inside);
    if (!kind)
        return is_word(inside, name);
    if (inside.size <= size || memcmp(inside.at, kind, size) != 0 ||
        !is_blank(inside.at[size]))
        return false;
    inside = trim((struct span){inside.at + size, inside.size - size});
    return is_word(inside, name);
}

/* What is looked for in a file. */
struct want {
    const char *kind;    /* "profile", "services", or NULL */
    const char *name;    /* of the section */
    const char *parent;  /* the setting above an indented one, or NULL */
    const char *setting; /* NULL: is the section there at all? */
};

/* The value, or {NULL, 0}. The last one of equals counts. */
static struct span find_setting(const char *text, const struct want *want)
{
    struct span found = {NULL, 0};
    bool is_inside = false;
    bool is_below_parent = false;

    while (text && *text) {
        size_t size = strcspn(text, "\n");
        struct span line = trim((struct span){text, size});
        bool is_indented = is_blank(text[0]);
        const char *sign = line.size ? memchr(line.at, '=', line.size) : NULL;

        text += size + (text[size] == '\n');
        if (!line.size || line.at[0] == '#' || line.at[0] == ';')
            continue;
        if (line.at[0] == '[') {
            is_inside = is_section(line, want->kind, want->name);
            is_below_parent = false;
            if (is_inside && !want->setting)
                found = line;
            continue;
        }
        if (!is_inside || !sign || !want->setting)
            continue;
        struct span name =
            trim((struct span){line.at, (size_t)(sign - line.at)});
        struct span value = trim(
            (struct span){sign + 1, line.size - (size_t)(sign + 1 - line.at)});

        if (!is_indented)
            is_below_parent = want->parent && is_word(name, want->parent);
        if ((want->parent ? is_indented && is_below_parent : !is_indented) &&
            is_word(name, want->setting))
            found = value;
    }
    return found;
}

/* ---- putting it together ---------------------------------------------------
 */

struct sources {
    char *const *environment;
    const char *profile;
    char *credentials;
    char *config;
};

/* A setting of the profile; kept in `config` as "[default]" or "[profile X]",
 * and both are taken, as the aws tools do. */
static struct span of_profile(const struct sources *from, const char *parent,
                              const char *setting)
{
    struct want want = {"profile", from->profile, parent, setting};
    struct span found = find_setting(from->config, &want);

    if (!found.at && !strcmp(from->profile, "default")) {
        want.kind = NULL;
        found = find_setting(from->config, &want);
    }
    return found;
}

static struct span of_credentials(const struct sources *from,
                                  const char *setting)
{
    struct want want = {NULL, from->profile, NULL, setting};

    return find_setting(from->credentials, &want);
}

/* The endpoint that "services = X" of the profile names. */
static struct span of_services(const struct sources *from)
{
    struct span name = of_profile(from, NULL, "services");
    struct want want = {"services", NULL, "s3", "endpoint_url"};
    struct span found = {NULL, 0};
    char *copy;

    if (!name.at)
        return found;
    copy = strndup(name.at, name.size);
    want.name = copy;
    if (copy)
        found = find_setting(from->config, &want);
    free(copy);
    return found;
}

/* Keep a copy of the first that is there. False: no memory. */
static bool keep(char **to, const char *word, struct span found)
{
    if (*to || (!word && !found.size))
        return true;
    *to = word ? strdup(word) : strndup(found.at, found.size);
    return *to != NULL;
}

static bool keep_keys(const struct sources *from, struct hf_s3_config *config)
{
    static const char *const words[] = {
        "aws_access_key_id", "aws_secret_access_key", "aws_session_token"};
    char **to[] = {&config->access_key, &config->secret_key,
                   &config->session_token};
    bool in_credentials = of_credentials(from, words[0]).size ||
                          of_credentials(from, words[1]).size;

    for (size_t i = 0; i < 3; i++) {
        struct span found = in_credentials ? of_credentials(from, words[i])
                                           : of_profile(from, NULL, words[i]);

        if (!keep(to[i], NULL, found))
            return false;
    }
    return true;
}

static bool keep_environment_keys(const struct sources *from,
                                  struct hf_s3_config *config)
{
    struct span none = {NULL, 0};
    char *const *environment = from->environment;

    return keep(&config->access_key, look_up(environment, "AWS_ACCESS_KEY_ID"),
                none) &&
           keep(&config->secret_key,
                look_up(environment, "AWS_SECRET_ACCESS_KEY"), none) &&
           keep(&config->session_token,
                look_up(environment, "AWS_SESSION_TOKEN"), none);
}

static bool keep_others(const struct sources *from,
                        const struct hf_s3_choices *choices,
                        struct hf_s3_config *config)
{
    char *const *environment = from->environment;
    struct span none = {NULL, 0};
    const char *ignored =
        look_up(environment, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    struct span style = of_profile(from, "s3", "addressing_style");
    bool kept =
        keep(&config->region, choices->region, none) &&
        keep(&config->region, look_up(environment, "AWS_REGION"), none) &&
        keep(&config->region, look_up(environment, "AWS_DEFAULT_REGION"),
             of_profile(from, NULL, "region")) &&
        keep(&config->region, "us-east-1", none) &&
        keep(&config->ca_bundle, look_up(environment, "AWS_CA_BUNDLE"),
             of_profile(from, NULL, "ca_bundle")) &&
        keep(&config->endpoint, choices->endpoint, none);

    if (kept && !(ignored && !strcasecmp(ignored, "true")))
        kept = keep(&config->endpoint,
                    look_up(environment, "AWS_ENDPOINT_URL_S3"), none) &&
               keep(&config->endpoint, look_up(environment, "AWS_ENDPOINT_URL"),
                    of_services(from)) &&
               keep(&config->endpoint, NULL,
                    of_profile(from, NULL, "endpoint_url"));
    if (is_word(style, "path"))
        config->style = HF_S3_STYLE_PATH;
    else if (is_word(style, "virtual"))
        config->style = HF_S3_STYLE_VIRTUAL;
    return kept;
}

/* What the profile has instead of keys; NULL: nothing. */
static const char *other_way(const struct sources *from)
{
    static const char *const ways[] = {
        "credential_process", "role_arn",          "sso_session",
        "sso_start_url",      "credential_source", "web_identity_token_file",
        "login_session"};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (of_profile(from, NULL, ways[i]).size)
            return ways[i];
    return NULL;
}

#define EXPORT_HINT                                                            \
    "eval \"$(aws configure export-credentials --format env)\" puts the keys " \
    "that it gives into the environment"

static enum hf_err judge(const struct sources *from,
                         const struct hf_s3_choices *choices,
                         const struct hf_s3_config *config,
                         struct hf_error *error)
{
    const char *way = other_way(from);
    bool is_named =
        choices->profile || look_up(from->environment, "AWS_PROFILE");

    if (config->access_key && config->secret_key)
        return HF_ERR_OK;
    if (config->access_key || config->secret_key)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "half of a pair of S3 keys: the %s is missing",
                            config->access_key ? "secret key"
                                               : "access key id");
    if (is_named && !of_profile(from, NULL, NULL).at &&
        !of_credentials(from, NULL).at)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "no profile \"%s\" in the credentials and config "
                            "files of the aws tools (AWS_PROFILE, --profile)",
                            from->profile);
    if (way)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "profile \"%s\" gets its S3 keys by %s, which is "
                            "not followed here: " EXPORT_HINT,
                            from->profile, way);
    return hf_error_set(error, HF_ERR_CONFIG,
                        "no S3 keys: set AWS_ACCESS_KEY_ID and "
                        "AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials "
                        "(cron: is HOME set?); those of containers, instances, "
                        "SSO and roles are not asked for here: " EXPORT_HINT);
}

enum hf_err hf_s3_config_find(struct hf_sys *sys,
                              const struct hf_s3_choices *choices,
                              char *const *environment,
                              struct hf_s3_config *config,
                              struct hf_error *error)
{
    struct sources from = {.environment = environment,
                           .profile = choices->profile};
    struct hf_s3_config found = {.style = HF_S3_STYLE_AUTO};
    enum hf_err failed;

    if (!from.profile)
        from.profile = look_up(environment, "AWS_PROFILE");
    if (!from.profile)
        from.profile = look_up(environment, "AWS_DEFAULT_PROFILE");
    if (!from.profile)
        from.profile = "default";
    failed = find_file(sys, environment, "AWS_SHARED_CREDENTIALS_FILE",
                       "credentials", &from.credentials, error);
    if (!failed)
        failed = find_file(sys, environment, "AWS_CONFIG_FILE", "config",
                           &from.config, error);
    if (!failed) {
        /* A profile named on the command line goes before the environment;
         * AWS_PROFILE does not. */
        bool kept = choices->profile || keep_environment_keys(&from, &found);

        if (kept && !found.access_key && !found.secret_key) {
            free(found.session_token);
            found.session_token = NULL;
            kept = keep_keys(&from, &found);
        }
        if (!kept || !keep_others(&from, choices, &found))
            failed = hf_error_set(error, HF_ERR_NOMEM,
                                  "no memory for the S3 settings");
        else
            failed = judge(&from, choices, &found, error);
    }
    if (from.credentials)
        explicit_bzero(from.credentials, strlen(from.credentials));
    free(from.credentials);
    if (from.config)
        explicit_bzero(from.config, strlen(from.config));
    free(from.config);
    if (failed)
        hf_s3_config_clear(&found);
    else
        *config = found;
    return failed;
}

void hf_s3_config_clear(struct hf_s3_config *config)
{
    if (config->secret_key)
        explicit_bzero(config->secret_key, strlen(config->secret_key));
    free(config->access_key);
    free(config->secret_key);
    free(config->session_token);
    free(config->region);
    free(config->endpoint);
    free(config->ca_bundle);
    *config = (struct hf_s3_config){.style = HF_S3_STYLE_AUTO};
}
