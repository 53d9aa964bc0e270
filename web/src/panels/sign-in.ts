/** Asks for the token while the page is signed out. */
import type { App } from "../app.ts";
import { signInDialog } from "../ui/sign-in.ts";

export function signIn(app: App): HTMLElement {
  const element = signInDialog((token) => {
    const query = new URLSearchParams(location.search);
    query.set("token", token);
    return `/sim?${query}`;
  });
  app.link.watch((status) => {
    if (status === "signed-out") element.showModal();
    else element.close();
  });
  return element;
}
