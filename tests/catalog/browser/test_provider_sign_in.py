"""Sign-in with an identity provider in a real browser, whose security policy must let it through."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.catalog.test_provider_sign_in import place_with


def test_a_user_signs_in_with_the_provider_and_out(browser: Browser, tmp_path: Path) -> None:
    with place_with(tmp_path, {"provider_name": "Example Login"}, asks_for_consent=True) as place:
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{place.browser.address}/catalog/check")
        expect(page).to_have_title("Sign in · Treaty")

        page.get_by_role("link", name="Sign in with Example Login").click()
        page.get_by_role("link", name="Continue as Ana").click()

        expect(page).to_have_url(f"{place.browser.address}/catalog/check")
        expect(page.locator("body")).to_contain_text("You are signed in as a1b2.")
        cookies = {cookie.get("name"): cookie.get("httpOnly") for cookie in context.cookies(place.browser.address)}
        assert cookies == {"treaty_session": True}
        page.get_by_role("button", name="Sign out").click()
        page.goto(f"{place.browser.address}/")
        expect(page).to_have_title("Sign in · Treaty")
        context.close()
