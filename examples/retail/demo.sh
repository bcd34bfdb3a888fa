#!/usr/bin/env bash
# A walk through the retailer's contracts: what Treaty says of them, of two changes, and of those who would be hit.
set -uo pipefail
cd "$(dirname "$0")/../.."
contracts=examples/retail/contracts
changes=examples/retail/changes
finance=retail.publications.finance_recognized_sale
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export TREATY_REGISTRY="$work/registry.db" TREATY_ACTOR=demo
bold=$(tput bold 2>/dev/null || true); plain=$(tput sgr0 2>/dev/null || true)

step() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
show() { printf '$ %s\n\n' "$*"; "$@"; }
expect() { # expect CODE COMMAND...: run a command whose exit code is part of the story
  local code=$1; shift
  show "$@"; local got=$?
  if [ "$got" -ne "$code" ]; then echo "expected exit code $code, got $got" >&2; exit 1; fi
}

step "1. Are the retailer's contracts legible? Could a downstream team explain every field?"
expect 0 treaty lint $contracts

step "2. An event that dumps its publisher's database: lint says what is wrong, line by line."
printf '$ treaty lint examples/gym/contracts/gym.scheduling.class_published.poor.yaml\n\n'
treaty lint examples/gym/contracts/gym.scheduling.class_published.poor.yaml | tail -n 12
echo; expect 0 treaty lint examples/gym/contracts/gym.scheduling.class_published.yaml

step "3. A change that nobody has to react to: support gets one more optional field."
expect 0 treaty diff $contracts/publications/retail.publications.customer_order_timeline.yaml $changes/customer_order_timeline.compatible.yaml

step "4. A change that would break finance, dressed up as a MINOR version: refused (exit code 3)."
expect 3 treaty diff $contracts/publications/retail.publications.finance_recognized_sale.yaml $changes/finance_recognized_sale.refused.yaml

step "5. The same kind of break, done properly: version 2.0.0 with a migration plan opens a line beside the old one."
printf '$ treaty diff …/finance_recognized_sale.yaml …/finance_recognized_sale.v2.yaml | tail\n\n'
treaty diff $contracts/publications/retail.publications.finance_recognized_sale.yaml \
  $contracts/publications/retail.publications.finance_recognized_sale.v2.yaml | tail -n 4 || exit 1

step "6. The version is computed, not chosen."
expect 0 treaty next-version $contracts/publications/retail.publications.finance_recognized_sale.yaml $changes/finance_recognized_sale.refused.yaml

step "7. A registry keeps what was agreed: every version, in order, policies before those they bind."
printf '$ treaty register %s/…\n\n' $contracts
treaty register $contracts/policies $contracts/events $contracts/products $contracts/reconciliation \
  $(ls $contracts/publications/*.yaml | grep -v '\.v2\.') || exit 1

step "8. Consumers say what they read, field by field."
bash examples/retail/consumers.sh > /dev/null || exit 1
expect 0 treaty subscriptions --contract $finance

step "9. The change of step 4 again, now that its consumers are known: refused, naming whom it would hit by which field."
expect 3 treaty register $changes/finance_recognized_sale.refused.yaml

step "10. A pipeline asks before it merges: may this be published? No (exit code 3)."
expect 3 treaty can-i-publish $changes/finance_recognized_sale.refused.yaml

step "11. The same change with the version it needs and a migration plan: accepted as a line beside the old one."
{ sed 's/^version: "1.3.0"/version: "2.0.0"/' $changes/finance_recognized_sale.refused.yaml; cat <<'YAML'
migration:
  guide: https://contracts.example.com/guides/finance-recognized-sale-2
  window: 120 d
  owner: Group Accounting Data
YAML
} > "$work/finance_recognized_sale.new_line.yaml"
printf '$ treaty register finance_recognized_sale.new_line.yaml\n\n'
treaty register "$work/finance_recognized_sale.new_line.yaml" || exit 1

step "12. The old line is announced to go. May it be retired? Not before its day, and not while somebody reads it."
expect 0 treaty deprecate $finance@1 --plan https://contracts.example.com/guides/finance-recognized-sale-2
echo; expect 3 treaty can-i-retire $finance@1

step "13. All of it is in the audit log, each entry chained to the one before."
expect 0 treaty audit verify

step "14. Data are held to the same contracts: a month of events, with the defects that months have."
printf '$ python -m examples.retail.history month --orders 2000\n\n'
python -m examples.retail.history "$work/month" --orders 2000 || exit 1
placed=$contracts/events/retail.orders.order_placed.yaml
printf '\n$ treaty test …/retail.orders.order_placed.yaml month/retail.orders.order_placed --quarantine bad\n\n'
(cd "$work" && treaty test "$OLDPWD/$placed" month/retail.orders.order_placed --quarantine bad --now 2026-02-04T00:00:00Z)
[ $? -eq 3 ] || { echo "expected exit code 3" >&2; exit 1; }

step "15. Where there is no contract yet, one is drafted from the data; every guess says so."
printf '$ treaty infer month/retail.returns.return_received --id retail.returns.return_received | head\n\n'
(cd "$work" && treaty infer month/retail.returns.return_received --id retail.returns.return_received 2>/dev/null) > "$work/draft.yaml" || exit 1
head -n 30 "$work/draft.yaml"

step "16. The whole way under contract: raw, events, products, reconciliation, publications, on Spark and Iceberg."
cp -r examples/retail/pipeline "$work/pipeline" && cp -r $contracts "$work/contracts" || exit 1
printf '$ python -m examples.retail.history pipeline/landing --orders 200\n\n'
python -m examples.retail.history "$work/pipeline/landing" --orders 200 --batch week || exit 1
printf '\n$ treaty run pipeline\n\n'
(cd "$work" && env -u TREATY_REGISTRY TREATY_HASH_SECRET=demo treaty run pipeline) || exit 1

step "Look further"
cat <<'TEXT'
  .venv/bin/treaty kinds                     what is graded, and why
  .venv/bin/treaty kinds field_enum_shrunk   one kind explained
  .venv/bin/treaty rules                     what lint looks at
  .venv/bin/treaty init my-project           start your own
  .venv/bin/treaty serve                     the registry over HTTP, with its API at /docs
  .venv/bin/treaty plan examples/retail/pipeline --offline   the pipeline in layers, and where columns come from
TEXT
