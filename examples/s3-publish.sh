#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a report and publishes it, as a job of lockrun:
#   lockrun --key=site/report/publish -- s3-publish.sh s3://BUCKET/KEY.json.gz
set -eu
url=$1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Into a file first: what fails half way is not published, and in a pipe nobody
# would see that it failed.
printf '{"host":"%s","made":"%s"}\n' "$(uname -n)" "$(date -u +%FT%TZ)" \
    >"$folder/report.json"
gzip -n "$folder/report.json"

# Not begun when the lease will not last; that alone would be no fence.
lockfence held --margin 5s

# Refused by the store if a newer holder has published meanwhile (80). The stamp
# gives each upload an ETag of its own, also when the report has not changed.
lockfence s3 put "$url" "$folder/report.json.gz" --stamp=gzip \
    --content-type application/json --header Content-Encoding=gzip
