# SPDX-License-Identifier: Apache-2.0
# S3 stores for the tests of the S3 fence: SeaweedFS, which is real, and
# s3_server.py, which has any fault that it is told to have. Sourced after lib.

# Is it there at all? Skips are for setup, not for setup_file.
has_s3() { [ -x "$HF_BUILD/lockfence-s3" ]; }
need_s3() { has_s3 || skip 'configured --without-curl'; }

# Nothing of the machine's own settings.
s3_clean() {
    unset "${!AWS_@}"
    unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
    export no_proxy='*'
    export AWS_CONFIG_FILE=/nonexistent/config
    export AWS_SHARED_CREDENTIALS_FILE=/nonexistent/credentials
}

# The folder of tests/peers, or a skip.
need_peers() {
    peers=$("$HF_SRC/tests/peers/build" --where) ||
        skip 'no S3 server of others here: ./dev deps --peers fetches one'
}

# In setup_file: one SeaweedFS for the file's tests, with the bucket "fence", if
# it can be had (need_s3 and need_peers tell in setup).
weed_start() {
    local try base
    has_s3 && peers=$("$HF_SRC/tests/peers/build" --where) || return 0
    s3_clean
    weed_folder=$(mktemp -d)
    export AWS_ACCESS_KEY_ID=fencekey AWS_SECRET_ACCESS_KEY=fencesecret
    for try in 1 2 3 4 5; do
        # Its internal ports are 10000 above each: those too below 32768, from
        # where the kernel gives ports to connections.
        base=$((12000 + RANDOM % 1250 * 8))
        "$peers/bin/weed" mini -dir="$weed_folder" -ip=127.0.0.1 \
            -ip.bind=127.0.0.1 -bucket=fence -admin.ui=false -webdav=false \
            -master.telemetry=false -master.port=$base -volume.port=$((base + 1)) \
            -filer.port=$((base + 2)) -s3.port=$((base + 3)) \
            -admin.port=$((base + 4)) -s3.port.iceberg=0 -s3.port.lance=0 \
            >"$weed_folder/log" 2>&1 3>&- &
        weed_pid=$!
        export AWS_ENDPOINT_URL=http://127.0.0.1:$((base + 3))
        if wait_for weed_is_up && kill -0 $weed_pid 2>/dev/null; then
            export weed_pid weed_folder
            return 0
        fi
        kill -9 $weed_pid 2>/dev/null || : # gone by itself, if a port was taken
    done
    tail -n 20 "$weed_folder/log"
    return 1
}
weed_is_up() {
    kill -0 "$weed_pid" 2>/dev/null || return 0 # a port was taken: try others
    timeout 5 lockfence s3 status s3://fence/none >/dev/null 2>&1
}
weed_is_gone() { [ -z "${weed_pid-}" ] || ! kill -0 "$weed_pid" 2>/dev/null; }
weed_stop() {
    [ -z "${weed_pid-}" ] || kill -9 "$weed_pid" || :
    wait_for weed_is_gone
    [ -z "${weed_folder-}" ] || rm -rf "$weed_folder"
}

# stub [FAULT...]: starts s3_server.py; its log is $stub_log. Ended by stub_stop.
stub() {
    local python=python3 line
    command -v python3 >/dev/null || skip 'no python3 here'
    ! peers=$("$HF_SRC/tests/peers/build" --where) || python=$peers/bin/python
    stub_log=$D/stub.$((++stub_count)).log
    mkfifo "$D/stub.ready.$stub_count"
    "$python" "$HF_SRC/tests/fence/s3_server.py" "$@" \
        >"$D/stub.ready.$stub_count" 2>"$stub_log" 3>&- &
    stub_pids+=($!)
    read -r line stub_port <"$D/stub.ready.$stub_count"
    [ "$line" = ready ]
    export AWS_ACCESS_KEY_ID=stubkey AWS_SECRET_ACCESS_KEY=stubsecret
    export AWS_ENDPOINT_URL=http://127.0.0.1:$stub_port
}
stub_stop() {
    local pid
    for pid in "${stub_pids[@]}"; do
        kill -9 "$pid"
        wait "$pid"
    done 2>/dev/null || :
    stub_pids=()
}

# requests PATTERN: how many lines of the stub's log fit.
requests() { grep -cE "$1" "$stub_log" || :; }
