/** Asks for the token when the server does not know this page any more. A page that is opened anew is asked by the server itself. */
import type { App } from "../app.ts";
import { t } from "../strings.ts";
import { h } from "../ui/dom.ts";

export function signIn(app: App): HTMLElement {
  const token = h("input", { type: "password", id: "token", autocomplete: "current-password", required: true, "data-testid": "token" });
  const form = h("form", { class: "sign-in-form" }, h("label", { for: "token" }, t.signIn.token), token, h("button", { class: "primary", "data-testid": "sign-in" }, t.signIn.button));
  const element = h("dialog", { class: "sign-in", "aria-label": t.signIn.title }, h("h2", {}, t.signIn.title), h("p", { class: "hint" }, t.signIn.text), form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = new URLSearchParams(location.search);
    query.set("token", token.value);
    // The server turns it into a cookie and leads back here without it.
    location.assign(`/sim?${query}`);
  });
  app.link.watch((status) => {
    if (status === "signed-out") element.showModal();
    else element.close();
  });
  return element;
}
