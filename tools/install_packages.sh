#!/bin/sh
# Installs the Debian packages that tests run against, named as arguments, with apt. Elsewhere it says what to install.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
else
    echo "The tests need programs that are not installed. Install these packages or their like: $*" >&2
    echo 'Chromium can also be named in CHROMIUM=/path/to/chromium, pgbouncer in PGBOUNCER=/path/to/pgbouncer.' >&2
    exit 1
fi
