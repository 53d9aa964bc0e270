/**
 * The dialog that asks for the token when the session cookie of an open page is no longer valid.
 * When a page is loaded without a cookie, the server shows its own sign-in page instead.
 */
import { t } from "../strings.ts";
import { h } from "./dom.ts";

/** `addressOf` returns the URL of the page with a token. */
export function signInDialog(addressOf: (token: string) => string): HTMLDialogElement {
  const token = h("input", {
    type: "password",
    id: "token",
    autocomplete: "current-password",
    required: true,
    "data-testid": "token",
  });
  const form = h(
    "form",
    { class: "sign-in-form" },
    h("label", { for: "token" }, t.signIn.token),
    token,
    h("button", { class: "primary", "data-testid": "sign-in" }, t.signIn.button),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // The server sets a cookie and redirects to the same address without the token.
    location.assign(addressOf(token.value));
  });
  return h(
    "dialog",
    { class: "sign-in", "aria-label": t.signIn.title },
    h("h2", {}, t.signIn.title),
    h("p", { class: "hint" }, t.signIn.text),
    form,
  );
}
