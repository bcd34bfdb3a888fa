#!/usr/bin/env bash
# The retail example over Kafka topics: events in, releases of orders out, and nothing twice. The local broker is stopped
# at the end, also after a failure. The project is written to .treaty/demo-kafka, fresh each time.
set -uo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
project=.treaty/demo-kafka
bold=; plain=
if [ -t 1 ]; then bold=$(tput bold 2> /dev/null || true); plain=$(tput sgr0 2> /dev/null || true); fi
log=$(mktemp); trap 'rm -f "$log"' EXIT
unset TREATY_REGISTRY

step() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
fail() { echo "$1" >&2; [ ! -s "$log" ] || cat "$log" >&2; exit 1; }
expect() { # expect COMMAND: run a command of the story, and stop if it fails or does not end
  printf '$ %s\n' "$1"
  timeout --foreground 300 bash -o pipefail -c "$1" 2> "$log" || fail "the command failed"
}
retail() { (cd "$root" && timeout --foreground 120 python -m "examples.retail.$1" "${@:2}" 2> "$log"); }

[ ! -d "$project/.treaty/kafka" ] || (cd "$project" && treaty kafka down > /dev/null 2>&1) # of a run that was killed
rm -rf "$project" && mkdir -p "$project" && cd "$project" || exit 1
project=$PWD
trap 'cd "$project" && treaty kafka down > /dev/null 2>&1; rm -f "$log"' EXIT
port=$(python -c 'import socket; free = socket.socket(); free.bind(("127.0.0.1", 0)); print(free.getsockname()[1])')
bootstrap=127.0.0.1:$port

printf 'A shop publishes events, and its warehouses read which orders to pick. All data is generated.\n'

step "1. A local broker, with a topic for each event. Among the events is one that was cut off."
expect "treaty kafka up --port $port"
retail topics project "$project" "$bootstrap" || fail "the project could not be written"
yesterday=$(python -c 'from datetime import *; print((datetime.now(UTC) - timedelta(days=1)).date())')
retail history "$project/.treaty/history" --orders 100 --days 1 --start "$yesterday" > /dev/null || fail "there is no history"
retail topics produce "$project/.treaty/history" "$bootstrap" || fail "the events could not be produced"
retail topics damage "$project/.treaty/history" "$bootstrap" || fail "the damaged event could not be produced"

step "2. A run reads the topics, checks every event, and after the audit sends the releases of orders to their topic."
expect "treaty run | grep -E '✓|✗|!|sent '"

step "3. The event that was cut off is quarantined, with its offset. The run went on."
expect "treaty quarantine show order_placed --rule malformed"

step "4. Consumers read the contract's topic. The headers name the contract, its version and the run."
retail topics show "$bootstrap" || fail "the topic cannot be read"

step "5. The same events again: all are duplicates, and nothing is sent twice."
retail topics produce "$project/.treaty/history" "$bootstrap" || fail "the events could not be produced"
expect "treaty run | grep -E '[0-9] (accepted|published)|sent '"
retail topics show "$bootstrap" || fail "the topic cannot be read"

step "6. The broker is stopped. The project and its topics are kept in .treaty/demo-kafka."
expect "treaty kafka down"
