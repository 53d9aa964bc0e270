import { describe, expect, it } from "vitest";
import { together } from "./stage.ts";
import { until } from "./support.js";

describe("the connection", () => {
  const at = together("--world", "oval");

  it("comes back by itself when the simulator does, and says so meanwhile", async () => {
    const visit = await at.open();
    // The browser itself tells the console that nobody answers.
    visit.allowed = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/;
    await at.simulator.stop("SIGKILL");
    await until(
      () => visit.mark("link").textContent(),
      (text) => text?.startsWith("Connection lost") ?? false,
    );
    await at.simulator.start();
    await until(
      () => visit.mark("link").textContent(),
      (text) => text === "Live",
      60_000,
    );
    await at.simulator.ask("pose", { x: 4, y: 1, yaw: 1 });
    await until(
      () => visit.pose("car"),
      (car) => Math.abs(car.x - 4) < 0.01 && Math.abs(car.y - 1) < 0.05,
    );
    await at.simulator.ask("overlay", { text: "again", ttl: 600 });
    await until(
      () => visit.mark("overlay").textContent(),
      (text) => text === "again",
    );
  });
});

describe("a simulator with a token", () => {
  const at = together("--world", "oval", "--token", "secret-token-1");

  it("asks a page for it, tells a wrong one, and lets a right one in", async () => {
    const visit = await at.open({ path: "/sim?world=oval", unready: true });
    visit.allowed = /401/;
    await visit.mark("token").fill("wrong-token");
    await visit.mark("sign-in").click();
    await visit.page.getByText("That token is not right.").waitFor();
    await visit.mark("token").fill("secret-token-1");
    await visit.mark("sign-in").click();
    await visit.ready();
    expect(visit.page.url()).toBe(`${at.simulator.origin}/sim?world=oval`);
    await visit.page.keyboard.press(" ");
    await visit.mark("pause").getByText("Run").waitFor();
    await visit.page.keyboard.press(" ");
  });

  it("is opened by the address that it prints", async () => {
    const visit = await at.open();
    expect(visit.page.url()).toBe(`${at.simulator.origin}/sim`);
  });
});
