#!/usr/bin/env bash
# The retailer's consumers: who reads which line, which fields of it, and for what. Run after the contracts are
# registered, with TREATY_REGISTRY set or in a folder with a registry.
set -euo pipefail
finance=retail.publications.finance_recognized_sale@1

treaty consumer subscribe group-ledger $finance --class external_regulatory --team "Group Accounting" --contact "#group-ledger" \
  --purpose "Book recognized sales in each legal entity at the close" --latency "1 d" \
  --field recognition_entry_id --field gross_sale_amount --field accounting_period --field recognition_rule_reference
treaty consumer subscribe tax-reporting $finance --class external_regulatory --team "Group Tax" --contact "tax-data@retail.example" \
  --purpose "File sales tax in 40 countries" \
  --field booking_country_code --field gross_sale_amount --field financial_recognition_status
treaty consumer subscribe revenue-dashboard $finance --class operational_reporting --team "Revenue Controlling" --contact "#revenue" \
  --purpose "Explain recognized sales against plan" \
  --field recognized_on --field sales_channel --field gross_reporting_amount
treaty consumer subscribe sales-notebook $finance --class exploratory_analytics --team "Sales Analytics" --contact "#sales-analytics" \
  --purpose "Look around"

treaty consumer subscribe support-agent-desktop retail.publications.customer_order_timeline@1 --class operational_reporting \
  --team "Customer Support" --contact "#support-tools" --purpose "Tell a customer what happened to an order" \
  --field entry_headline --field narrative_text_by_language --field entry_happened_at
treaty consumer subscribe warehouse-execution retail.publications.fulfillment_order_ready@1 --class service_orchestration \
  --team "Fulfillment" --contact "#warehouse-oncall" --purpose "Start picking" --latency "15 min" \
  --field order_id --field 'pick_lines[].stock_keeping_unit' --field 'pick_lines[].quantity_to_pick'
treaty consumer subscribe partner-export retail.publications.marketplace_partner_order_export@1 --class external_regulatory \
  --team "Marketplace" --contact "partners@retail.example" --purpose "Send sellers their orders, as agreed with them" \
  --field partner_order_reference --field partner_visible_order_state --field partner_money.charged_gross_amount
