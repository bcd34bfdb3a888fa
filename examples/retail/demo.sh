#!/usr/bin/env bash
# One story in four steps: a contract, a run that sets bad rows apart, a pull request that is refused, and the catalog.
# demo.sh [FOLDER]: the project is written to this folder, which must be new; by default to .treaty/demo, fresh each time.
set -uo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
if [ $# -gt 0 ]; then
  project=$1
  [ ! -e "$project" ] || { echo "$project exists; name a new folder" >&2; exit 2; }
else
  project=.treaty/demo
  rm -rf "$project"
fi
bold=; plain=
if [ -t 1 ]; then bold=$(tput bold 2> /dev/null || true); plain=$(tput sgr0 2> /dev/null || true); fi
log=$(mktemp); trap 'rm -f "$log"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.com
export GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.com
unset TREATY_REGISTRY GITHUB_BASE_REF CI_MERGE_REQUEST_DIFF_BASE_SHA CI_MERGE_REQUEST_TARGET_BRANCH_NAME

step() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
fail() { echo "$1" >&2; [ ! -s "$log" ] || cat "$log" >&2; exit 1; }
expect() { # expect CODE COMMAND: run a command of the story, and stop if its exit code is another one
  local code=$1 got; shift
  printf '$ %s\n' "$1"
  bash -o pipefail -c "$1" 2> "$log"; got=$?
  [ "$got" -eq "$code" ] || fail "expected exit code $code, got $got"
}

write_project() { # a part of the retail example, with orders of yesterday, as a git repository
  local retail=$root/examples/retail contract
  mkdir -p "$(dirname "$project")" && cp -r "$retail/demo" "$project" && cd "$project" || return
  mkdir contracts landing products sources
  for contract in policies/retail.policy.enterprise policies/retail.policy.sales_domain events/retail.orders.order_placed \
    events/retail.orders.order_cancelled products/retail.products.order_capture publications/retail.publications.customer_order_timeline; do
    cp "$retail/contracts/$contract.yaml" contracts/ || return
  done
  cp "$retail"/pipeline/sources/order_{placed,cancelled}.yaml sources/
  cp "$retail/pipeline/products/order_capture.yaml" products/
  cp "$retail/pipeline/sql/order_capture.sql" sql/
  yesterday=$(python -c 'from datetime import *; print((datetime.now(UTC) - timedelta(days=1)).date())')
  (cd "$root" && python -m examples.retail.history "$OLDPWD/.treaty/history" --orders 200 --days 1 --start "$yesterday") > "$log" || return
  for contract in retail.orders.order_placed retail.orders.order_cancelled; do # what has arrived by today
    mkdir "landing/$contract" && cp .treaty/history/$contract/part-000[12].jsonl "landing/$contract/" || return
  done
  rm -r .treaty/history
  printf '.treaty/\nlanding/\nsite/\n' > .gitignore
  git init --quiet --initial-branch main && git add --all && git commit --quiet --message "Orders, and the timelines made of them"
}

printf 'A shop publishes its orders, and customer support reads a timeline of each. All data is generated.\n'
printf 'The project is kept in %s; every command below can be run there.\n' "$project"
write_project || fail "the project could not be written"
event=contracts/retail.orders.order_placed.yaml

step "1. A contract states what each field means. The registry stores its versions, and which consumer reads which field."
expect 0 "grep -A 4 'name: order_placed_at' $event"
expect 0 'treaty register contracts consumers.yaml | tail -n 1'

(cd "$root" && python -m examples.retail.sample_month "$OLDPWD/.treaty/registry.db") > "$log" 2>&1 || fail "the sample measures could not be recorded"

step "2. A run on Spark checks the events against their contracts. Rows that violate them are quarantined with the reason."
expect 0 "treaty run | grep -E '✓|✗'"
expect 0 'treaty quarantine list order_placed'

step "3. A pull request removes order_placed_at, as a MINOR version. It is refused, and the consumers it would break are named."
git checkout --quiet -b remove-order-placed-at || exit 1
sed -e '/name: order_placed_at/,/required: true/d' -e 's/^version: .*/version: "1.3.0"/' $event > "$log" && cp "$log" $event || exit 1
git commit --quiet --all --message "Remove a time that every message has anyway" || exit 1
expect 3 'treaty check contracts'

step "4. The catalog shows a month of health and incidents. Today is the run above; the 29 days before it are sample data."
expect 0 'treaty catalog build site | sed -n 1p'
page=file://$PWD/site/health/index.html
printf '%s\n' "$page"
if [ -t 1 ] && { [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname)" = Darwin ]; }; then
  python -m webbrowser -t "$page" > /dev/null 2>&1 || true
fi

step "Try it yourself: source .venv/bin/activate && cd $project"
cat <<'TEXT'
$ treaty quarantine show order_placed --rule required:order_placed_at   # the row as it arrived, with the cell marked
$ treaty consumer graph retail.orders.order_placed@1                    # everything that depends on these events
$ treaty serve                                                          # the catalog, live at http://127.0.0.1:8090
TEXT
