/**
 * The dialog that asks for the token when the session cookie of an open page is no longer valid.
 * When a page is loaded without a cookie, the server shows its own sign-in page instead.
 */
import type { App } from "../app.ts";
import { t } from "../strings.ts";
import { h } from "../ui/dom.ts";

export function signIn(app: App): HTMLElement {
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
  const element = h(
    "dialog",
    { class: "sign-in", "aria-label": t.signIn.title },
    h("h2", {}, t.signIn.title),
    h("p", { class: "hint" }, t.signIn.text),
    form,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = new URLSearchParams(location.search);
    query.set("token", token.value);
    // The server sets a cookie and redirects to the same address without the token.
    location.assign(`/sim?${query}`);
  });
  app.link.watch((status) => {
    if (status === "signed-out") element.showModal();
    else element.close();
  });
  return element;
}
