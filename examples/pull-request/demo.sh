#!/usr/bin/env bash
# A pull request in a temporary repository: first refused with its affected consumers, then corrected.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.com
export GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.com
unset TREATY_REGISTRY GITHUB_BASE_REF CI_MERGE_REQUEST_DIFF_BASE_SHA CI_MERGE_REQUEST_TARGET_BRANCH_NAME

commit() { git add --all && git commit --quiet --message "$1"; }
expect() { # expect CODE COMMAND...: run a command whose exit code is part of the story
  local code=$1; shift
  printf '$ %s\n\n' "$*"; "$@"; local got=$?
  if [ "$got" -ne "$code" ]; then echo "expected exit code $code, got $got" >&2; exit 1; fi
}

mkdir -p "$work/shop/contracts" "$work/shop/consumers" && cd "$work/shop" || exit 1
git init --quiet --initial-branch main
cp "$here/orders.yaml" contracts/orders.yaml
cp "$here/consumers.yml" consumers/orders.yml
commit "Orders, and who reads them" || exit 1

git checkout --quiet -b tidy-up
cp "$here/orders.refused.yaml" contracts/orders.yaml
commit "Tidy the orders up" || exit 1
expect 3 treaty check

printf '\nWith the version it needs, a plan, and the rename declared by the id of the field:\n\n'
cp "$here/orders.v2.yaml" contracts/orders.yaml
commit "Open a line beside the old one" || exit 1
expect 0 treaty check
