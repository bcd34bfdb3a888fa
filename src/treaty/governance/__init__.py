"""Lint and waivers: is a contract legible, and who answers for an exception?"""
