// node redirects.mjs: the client of apps against an intermediary that wants a sign-in. Prints a line for each trial that fails.
import http from "node:http";
import { Actions, FeedClient, Impressions, Outbox } from "../../../Clients/JavaScript/source/index.mjs";

const login = "<!DOCTYPE html><title>Sign in</title>";
const answers = {
  301: [301, { Location: "https://login.example/" }], 302: [302, { Location: "https://login.example/" }],
  303: [303, { Location: "https://login.example/" }], 307: [307, { Location: "https://login.example/" }],
  308: [308, { Location: "https://login.example/" }], "a redirect without a target": [302, {}],
  "a login page": [200, { "Content-Type": "text/html; charset=utf-8" }, login], "a login page without a type": [200, {}, login],
  "a login page as XHTML": [203, { "Content-Type": "application/xhtml+xml" }, login], 401: [401, {}], 511: [511, { "Content-Type": "text/html" }, login],
};
const cell = {
  id: "user:a", identifier: "X", size: {}, actions: {
    dismissal: { type: "request", method: "POST", href: "/cells/user:a/dismissal" },
    impression: {
      type: "request", method: "POST", href: "/events", body: { events: [{ type: "impression", token: "t" }] }, viewable: { share: 0.5, seconds: 0 },
    },
  },
};

/** Returns what is wrong with an answer. */
async function trial([status, headers, body = ""]) {
  let isSignedIn = false;
  const delivered = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (!isSignedIn) return response.writeHead(status, headers).end(body);
    delivered.push(request.url);
    return response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const client = new FeedClient({ base: `http://127.0.0.1:${server.address().port}/`, attempts: 1 });
  let signIns = 0;
  client.addEventListener("signinrequired", () => (signIns += 1));
  const outbox = new Outbox({ client });
  let isHidden = true;
  const optimistic = () => () => (isHidden = false);
  const faults = [];
  try {
    await new Actions({ client, outbox }).perform("dismissal", { cell }, { optimistic, queueable: true });
    faults.push("the dismissal seems performed");
  } catch {
    if (isHidden) faults.push("the cell stays hidden");
  }
  outbox.enqueue({ key: "k", method: "POST", href: "/cells/user:b/dismissal" });
  await outbox.flush();
  if (outbox.pending.length !== 1) faults.push("a queued dismissal is lost");
  new Impressions({ client, batchDelay: 1 }).update({ cell }, 1);
  for (const end = Date.now() + 5000; signIns < 3 && Date.now() < end;) await new Promise((resolve) => setTimeout(resolve, 20));
  if (signIns < 3) faults.push(`${signIns} of 3 requests report that a sign-in is needed`);
  isSignedIn = true;
  await outbox.flush();
  for (const end = Date.now() + 5000; delivered.length < 2 && Date.now() < end;) await new Promise((resolve) => setTimeout(resolve, 20));
  if (delivered.sort().join() !== "/cells/user:b/dismissal,/events") faults.push(`after the sign-in: ${delivered}`);
  server.close();
  return faults;
}

const faults = await Promise.all(Object.entries(answers).map(async ([name, answer]) => (await trial(answer)).map((fault) => `${name}: ${fault}`)));
faults.flat().forEach((fault) => console.log(fault));
process.exit(faults.flat().length === 0 ? 0 : 1);
