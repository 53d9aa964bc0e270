import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";

describe("the connection", () => {
  const fixture = browserFixture("--world", "oval");

  it("reconnects after a restart of the simulator, and shows that it was lost", async () => {
    const visit = await fixture.open();
    // The browser logs failed connections to the console. The test expects these messages. The
    // simulator answers 503 until its world is loaded.
    visit.allowedErrors =
      /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|status of 503/;
    await fixture.simulator.stop("SIGKILL");
    await until(
      () => visit.byTestId("link").textContent(),
      (text) => text === en.link.lost,
    );
    await fixture.simulator.start();
    await until(
      () => visit.byTestId("link").textContent(),
      (text) => text === en.link.live,
      60_000,
    );
    await fixture.simulator.request("pose", { x: 4, y: 1, yaw: 1 });
    await until(
      () => visit.pose("car"),
      (car) => Math.abs(car.x - 4) < 0.01 && Math.abs(car.y - 1) < 0.05,
    );
    await fixture.simulator.request("overlay", { text: "again", ttl: 600 });
    await until(
      () => visit.byTestId("overlay").textContent(),
      (text) => text === "again",
    );
  });
});

describe("a simulator with a token", () => {
  const fixture = browserFixture("--world", "oval", "--token", "secret-token-1");

  it("asks for the token, rejects a wrong one, and accepts the right one", async () => {
    const visit = await fixture.open({ path: "/sim?world=oval", skipReady: true });
    visit.allowedErrors = /401/;
    await visit.byTestId("token").fill("wrong-token");
    await visit.byTestId("sign-in").click();
    await visit.page.getByRole("alert").waitFor();
    await visit.byTestId("token").fill("secret-token-1");
    await visit.byTestId("sign-in").click();
    await visit.ready();
    expect(visit.page.url()).toBe(`${fixture.simulator.origin}/sim?world=oval`);
    await visit.page.keyboard.press(" ");
    await visit.byTestId("pause").getByText(en.dock.run).waitFor();
    await visit.page.keyboard.press(" ");
  });

  it("does not print a token that a person chose", () => {
    expect(fixture.simulator.address).not.toContain("secret-token-1");
  });
});

describe("a simulator that makes its own token", () => {
  const fixture = browserFixture("--world", "oval", "--token", "auto");

  it("accepts the token in the address that it prints", async () => {
    const visit = await fixture.open();
    expect(visit.page.url()).toBe(`${fixture.simulator.origin}/sim`);
  });
});
