# SPDX-License-Identifier: Apache-2.0
# Where fenced.crontab looks for them.
exampledir = $(docdir)/examples
nobase_dist_doc_DATA = \
	examples/README.md \
	examples/fenced.crontab \
	examples/holdfast.tmpfiles.conf \
	examples/pg-nightly.sql \
	examples/plain.crontab \
	examples/systemd/backup.service.d/lockrun.conf \
	examples/systemd/report.service \
	examples/systemd/report.timer
dist_example_SCRIPTS = \
	examples/backup.sh \
	examples/entrypoint.sh \
	examples/job.sh \
	examples/loop.sh \
	examples/s3-publish.sh
