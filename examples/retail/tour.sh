#!/usr/bin/env bash
# A walk through the retailer's contracts and data: changes and their consumers, a pull request, a pipeline, a breach.
# tour.sh [LAST]: up to this step; by default all. The registry and the catalog are kept in TREATY_TOUR, .treaty/tour by default.
set -uo pipefail
cd "$(dirname "$0")/../.."
contracts=examples/retail/contracts
changes=examples/retail/changes
finance=retail.publications.finance_recognized_sale
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
left=${TREATY_TOUR:-.treaty/tour}
rm -rf "$left/registry.db"* "$left/site" && mkdir -p "$left" && left=$(cd "$left" && pwd) || exit 1
registry="$left/registry.db"
export TREATY_REGISTRY="$registry" TREATY_ACTOR=tour
bold=$(tput bold 2>/dev/null || true); plain=$(tput sgr0 2>/dev/null || true)

last=${1:-99}
step() {
  local number=${1%%.*}
  case $number in *[!0-9]*) ;; *) [ "$number" -le "$last" ] || exit 0 ;; esac
  printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}
show() { printf '$ %s\n\n' "$*"; "$@"; }
expect() { # expect CODE COMMAND...: run a command whose exit code is part of the story
  local code=$1; shift
  show "$@"; local got=$?
  if [ "$got" -ne "$code" ]; then echo "expected exit code $code, got $got" >&2; exit 1; fi
}

cp -r examples/retail/pipeline "$work/pipeline" && cp -r $contracts "$work/contracts" || exit 1
export XDG_STATE_HOME="$work/state" # a shared Spark for this tour alone
treaty spark up > "$work/spark.txt" 2> /dev/null & spark=$!
python -m examples.retail.history "$work/pipeline/landing" --orders 2500 --batch week > "$work/history.txt" & history=$!
trap 'kill "$history" 2> /dev/null; wait "$spark" "$history" 2> /dev/null; treaty spark down --force > /dev/null; rm -rf "$work"' EXIT

step "1. Are the contracts understandable? Lint checks whether a downstream team can explain every field."
expect 0 treaty lint $contracts

step "2. An event that copies its publisher's database: lint reports every problem with its line."
printf '$ treaty lint examples/gym/contracts/gym.scheduling.class_published.poor.yaml\n\n'
treaty lint examples/gym/contracts/gym.scheduling.class_published.poor.yaml | tail -n 12
echo; expect 0 treaty lint examples/gym/contracts/gym.scheduling.class_published.yaml

step "3. A compatible change: customer support gets one more optional field."
expect 0 treaty diff $contracts/publications/retail.publications.customer_order_timeline.yaml $changes/customer_order_timeline.compatible.yaml

step "4. A change that would break finance, declared as a MINOR version: refused (exit code 3)."
expect 3 treaty diff $contracts/publications/retail.publications.finance_recognized_sale.yaml $changes/finance_recognized_sale.refused.yaml

step "5. A breaking change done properly: version 2.0.0 with a migration plan opens a new line next to the old one."
printf '$ treaty diff …/finance_recognized_sale.yaml …/finance_recognized_sale.v2.yaml | tail\n\n'
treaty diff $contracts/publications/retail.publications.finance_recognized_sale.yaml \
  $contracts/publications/retail.publications.finance_recognized_sale.v2.yaml | tail -n 4 || exit 1

step "6. The required version is computed."
expect 0 treaty diff --version-only $contracts/publications/retail.publications.finance_recognized_sale.yaml $changes/finance_recognized_sale.refused.yaml

step "7. The contracts are registered, policies before the contracts that inherit from them."
printf '$ treaty register %s/…\n\n' $contracts
treaty register $contracts/policies $contracts/events $contracts/products $contracts/reconciliation \
  $(ls $contracts/publications/*.yaml | grep -v '\.v2\.') || exit 1

step "8. Consumers subscribe and declare the fields that they read."
bash examples/retail/consumers.sh > /dev/null || exit 1
expect 0 treaty consumer list --contract $finance

step "9. The change of step 4 again: refused, with the affected consumers and their fields."
expect 3 treaty register $changes/finance_recognized_sale.refused.yaml

step "10. A CI job asks before a merge: may this be published? No (exit code 3)."
expect 3 treaty can-i-publish $changes/finance_recognized_sale.refused.yaml

step "11. The change of step 5 is registered when its critical consumers have acknowledged it."
expect 0 treaty register $contracts/publications/retail.publications.finance_recognized_sale.v2.yaml
waiting() { treaty migrate status --contract $finance --format json | python -c "import json,sys; print($1)"; }
migration=$(waiting 'json.load(sys.stdin)["items"][0]["id"]')
for consumer in $(waiting '*json.load(sys.stdin)["items"][0]["missing"]'); do
  printf '\n'; expect 0 treaty migrate acknowledge "$migration" "$consumer" --note "we move with the next closing"
done
printf '\n$ treaty migrate plan …@1 …@2 --consumer tax-reporting | tail\n\n'
treaty migrate plan $finance@1 $finance@2 --consumer tax-reporting | sed -n '/^Guide/,$p'

step "12. The old line is deprecated. May it be retired? Not before its date, and not while it has consumers."
expect 0 treaty version deprecate $finance@1 --plan https://contracts.example.com/guides/finance-recognized-sale-2
echo; expect 3 treaty can-i-retire $finance@1

step "13. Everything is in the audit log; each entry is chained to the previous one."
expect 0 treaty admin audit verify

step "14. A pull request that would break two consumers is refused; the corrected one may merge."
bash examples/pull-request/demo.sh || exit 1
pull=examples/pull-request
printf '\nThe way over comes with it. What one of those who were hit has to do, and nothing of the others:\n\n'
printf '$ treaty migrate plan orders.yaml orders.v2.yaml --consumers consumers.yml --consumer delivery-planner\n\n'
treaty migrate plan $pull/orders.yaml $pull/orders.v2.yaml --consumers $pull/consumers.yml --consumer delivery-planner -o "$work/way" \
  2> /dev/null || exit 1

step "15. A shared Spark runs in the background for the following commands; without it, each would start its own."
printf '$ python -m examples.retail.history pipeline/landing --orders 2500\n\n'
wait "$history" && cat "$work/history.txt" || exit 1
printf '\n$ treaty spark up\n\n'
wait "$spark" || exit 1
cat "$work/spark.txt"
unset TREATY_REGISTRY; export TREATY_HASH_SECRET="the tour keeps no secrets"
# what step 18 shows, begun while others wait for Spark
(cd "$work" && exec treaty infer pipeline/landing/retail.returns.return_received --id retail.returns.return_received \
  > draft.yaml 2> /dev/null) &
draft=$!
trap 'kill "$draft" 2> /dev/null; wait "$draft" 2> /dev/null; treaty spark down --force > /dev/null; rm -rf "$work"' EXIT

step "16. The migration is proven on data: exact fields return unchanged, differences in lossy fields are counted."
expect 0 treaty migrate prove $pull/orders.yaml $pull/orders.v2.yaml --rows 300
printf '\nThe query of a consumer that has not moved yet, on that view over new rows:\n\n'
python $pull/old_query.py "$work/way/shop_orders_v1.orders_from_shop_orders_v2.sql" || exit 1
cd "$work" || exit 1

export TREATY_REGISTRY="$registry"
step "17. A month of events, with typical defects, is tested against its contract."
expect 3 treaty test contracts/events/retail.orders.order_placed.yaml pipeline/landing/retail.orders.order_placed \
  --quarantine bad --now 2026-02-04T00:00:00Z

step "18. A contract is drafted from data; every guess is marked."
printf '$ treaty infer pipeline/landing/retail.returns.return_received --id retail.returns.return_received | head\n\n'
wait "$draft" || exit 1
head -n 30 draft.yaml

step "19. The pipeline runs on Spark and Iceberg: raw, events, products, reconciliation, publications."
expect 0 treaty run pipeline

step "20. Late events arrive: only the affected keys are computed again, and resolved exceptions are closed."
(cd "$OLDPWD" && python -m examples.retail.history "$work/pipeline/landing" --orders 2500 --batch week --wave 2) || exit 1
echo; expect 0 treaty run pipeline

step "21. A release of the shop loses addresses. The events are valid, but the product violates its contract: nothing is published (exit code 3)."
(cd "$OLDPWD" && python -m examples.retail.breach "$work/pipeline/landing") || exit 1
echo; expect 3 treaty run pipeline

root=$OLDPWD; cd "$root" && cp -r examples/retail/revenue_migration "$work/revenue_migration" && cd "$work" || exit 1
(cd "$root" && python -m examples.retail.history "$work/history" --orders 4000 --days 10 --start 2026-03-01 --clean \
  --only order_placed --only order_cancelled > /dev/null) || exit 1
rm revenue_migration/publications/legacy_revenue_files.yaml && cp revenue_migration/changes/finance_order_revenue.first.sql revenue_migration/sql/finance_order_revenue.sql || exit 1
arrive() { # arrive DAY: the events of a day arrive, and the nightly job writes its mart
  local event; for event in order_placed order_cancelled; do
    mkdir -p "revenue_migration/landing/retail.orders.$event"
    cp "history/retail.orders.$event/$(printf 'part-%04d.jsonl' "$1")" "revenue_migration/landing/retail.orders.$event/" || exit 1
  done
  (cd "$root" && python -m examples.retail.legacy_revenue "$work/revenue_migration/landing" "$work/revenue_migration/mart" --nights "$1") || exit 1
  treaty run revenue_migration > run.txt 2>&1 || { cat run.txt; exit 1; }
}
compare() { # compare DAY [FEED]: what differs up to a day of March; undecided findings are no failure here
  treaty parallel run "${2:-legacy_revenue}" --project revenue_migration --as-of "$(printf '2026-03-%02d' "$1")" > compared.txt 2> errors.txt
  case $? in 0|3) ;; *) cat errors.txt; exit 1 ;; esac
}
decide() { # what the classes mean here: rows that the new side lacks, and its values, are its own defects
  local finding state class rest as
  treaty parallel report legacy_revenue --as csv | tail -n +2 > findings.csv || exit 1
  while IFS=, read -r finding state class rest; do
    case $state in disposed) continue ;; esac
    case $class,$rest in missing_in_new*|value*|late*"not yet in new"*) as=defect_in_new ;; *) as=defect_in_legacy ;; esac
    treaty parallel dispose legacy_revenue "$finding" --as "$as" --owner "Finance Systems" --reason "found in the parallel run" \
      > /dev/null || exit 1
  done < findings.csv
}
live() { # live DAY...: days of the parallel run, with decisions about what is new
  local day; for day in "$@"; do arrive "$day" && compare "$day" && decide || exit 1; done
}

step "22. Finance reads the mart of a nightly job. It is declared as a legacy feed, and the plan says what it is compared with."
expect 0 treaty register revenue_migration/contracts revenue_migration/consumers.yaml
arrive 1 > /dev/null || exit 1
expect 0 treaty plan revenue_migration

step "23. Day 1 of the parallel run: every difference is in one class, with its effect on revenue (exit code 3)."
expect 3 treaty parallel run legacy_revenue --project revenue_migration --as-of 2026-03-01

step "24. Day 3: what the job does wrong is decided once. Two defects are in the new SQL: goods that customers carry out are missing, and cancelled lines still count."
decide && live 2 3 || exit 1
expect 0 treaty parallel report legacy_revenue

step "25. A second version of the SQL corrects both. After three clean days the gate is open, and finance cuts over."
cp "$root/examples/retail/revenue_migration/sql/finance_order_revenue.sql" revenue_migration/sql/ && live 4 5 6 || exit 1
expect 3 treaty can-i-cut-over finance
expect 0 treaty cutover acknowledge legacy_revenue finance
expect 0 treaty cutover approve legacy_revenue finance
expect 0 treaty cutover move legacy_revenue finance

step "26. Finance is rolled back once; only later runs count from then on. After three more clean days it leaves for good."
expect 0 treaty cutover rollback legacy_revenue finance --reason "a report of the close still reads the mart"
live 7 8 9 || exit 1
expect 0 treaty cutover acknowledge legacy_revenue finance
expect 0 treaty cutover approve legacy_revenue finance
expect 0 treaty can-i-cut-over finance
expect 0 treaty cutover move legacy_revenue finance

step "27. Partners cannot change their programs yet: they get the old files, made from the new rows. With its last consumer gone, the feed is retired."
cp "$root/examples/retail/revenue_migration/publications/legacy_revenue_files.yaml" revenue_migration/publications/ && live 10 || exit 1
head -n 3 revenue_migration/feeds/legacy_revenue_v1/run=*/*2026*03*10*.csv
for consumer in support partners; do
  treaty cutover acknowledge legacy_revenue "$consumer" > /dev/null || exit 1
  expect 0 treaty cutover move legacy_revenue "$consumer"
done
expect 0 treaty cutover retire legacy_revenue
expect 0 treaty cutover status legacy_revenue

cd "$root" || exit 1
step "28. The catalog shows every contract with its fields, consumers, changes and measured quality."
expect 0 treaty catalog build "$left/site"

step "Look further"
shown=${left#"$PWD"/}
cat <<TEXT
  $shown/site/index.html                    the catalog of this tour, for your browser
  .venv/bin/treaty serve --database $shown/registry.db   the same catalog, live, at http://127.0.0.1:8090
  .venv/bin/treaty explain                   the kinds of change and the lint rules
  .venv/bin/treaty explain field_enum_shrunk the page of one kind
  .venv/bin/treaty init my-project           start your own
  .venv/bin/treaty plan examples/retail/pipeline --offline   the pipeline in layers, and where columns come from
  cp -r examples/retail my-retail            a copy to run yourself: treaty run, read, exceptions, replay my-retail/pipeline
TEXT
