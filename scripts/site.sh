#!/bin/sh
# Builds the documentation site, which needs no web server and no network, from docs/:
#   scripts/site.sh [DIR]      DIR/index.html is its first page; default: build/site
# A warning of MkDocs is an error. It needs Debian's packages mkdocs and mkdocs-material.
set -eu
case " $* " in *" --help "* | *" -h "*) exec sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" ;; esac
here=$(cd -- "$(dirname -- "$0")/.." && pwd)

[ $# -le 1 ] || {
    echo "usage: $0 [DIR]" >&2
    exit 2
}
site=${1-$here/build/site}
case $site in
'' | -*)
    echo "site: '$site' is no name of a folder" >&2
    exit 2
    ;;
esac
# What is in the folder goes away.
if [ -e "$site" ] && { [ ! -d "$site" ] || { [ -n "$(ls -A -- "$site")" ] && [ ! -f "$site/search/as_file.js" ]; }; }; then
    echo "site: $site holds something else (give a new or empty folder)" >&2
    exit 2
fi
for package in mkdocs mkdocs-material; do
    [ -e /usr/share/doc/$package ] || {
        echo "site: $package is missing: apt install $package" >&2
        exit 1
    }
done
mkdir -p -- "$site"
site=$(cd -- "$site" && pwd)
# The folder gets the whole new site, or keeps the old one.
new=$(mktemp -d "$site.XXXXXX")
trap 'rm -rf -- "$new"' EXIT
if ! said=$(PYTHONDONTWRITEBYTECODE=1 /usr/bin/mkdocs build --strict --config-file "$here/scripts/site/mkdocs.yml" \
    --site-dir "$new" 2>&1); then
    printf '%s\n' "$said" | sed -n -E 's/^[^A-Z]*(WARNING|ERROR)[^A-Za-z]*(0m)?/site: /p; /^[A-Za-z]*Error/p' >&2
    echo "site: the site was not built" >&2
    exit 1
fi
chmod 755 "$new"
rm -rf -- "$site"
mv -- "$new" "$site"
echo "$site/index.html"
