"""Notices: channels, messages and senders. The outbox is in store, the delivery worker in service."""
