"""Governance: contract life cycle, policy inheritance, waivers and lint."""
