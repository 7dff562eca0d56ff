// What an answer means for whoever asked: it is well, it is refused, or the service is away.
import { retryAfter } from "./backoff.mjs";

/** The service could not be reached, said that it cannot serve now, or somebody in between answered for it. */
export class Unavailable extends Error {
  name = "Unavailable";

  /** `status`: null without an answer. `isRetried`: whether the same request may be sent again, after `retryAfter` seconds. */
  constructor(message, { status = null, isRetried = false, retryAfter = null, cause } = {}) {
    super(message, { cause });
    Object.assign(this, { status, isRetried, retryAfter });
  }
}

/** The service refused, and asking again would not help. What it said (RFC 9457) stands in `title`, `detail` and `type`. */
export class Refusal extends Error {
  name = "Refusal";

  constructor({ status, title, detail = null, type = null, value }) {
    super([title, detail].filter(Boolean).join(": "));
    Object.assign(this, { status, title, detail, type, value });
  }
}

/** What was sent may be sent again: it changes nothing, changes the same again, or bears a key under which it is performed once. */
function isRepeatable({ method, hasKey }) {
  return method !== "POST" && method !== "PATCH" ? true : hasKey;
}

const away = [429, 502, 503, 504];

/**
 * The value of an answer's body, undefined without one. `answer` is `{ status, headers, body }` with `headers` of `Headers` and
 * `body` as text, or null where none came. Throws `Unavailable` or `Refusal`.
 */
export function valueOf(answer, { request, now = Date.now(), cause }) {
  const isRetried = isRepeatable(request);
  if (answer === null) throw new Unavailable("no answer", { isRetried, cause });
  const { status, headers, body } = answer;
  if (away.includes(status)) {
    throw new Unavailable(`answered ${status}`, { status, isRetried, retryAfter: retryAfter(headers.get("retry-after"), now) });
  }
  const isJSON = /\bjson\b/i.test(headers.get("content-type") ?? "");
  const value = isJSON ? parsed(body) : undefined;
  if (status >= 400) {
    const text = (member) => (typeof value?.[member] === "string" ? value[member] : null);
    throw new Refusal({ status, title: text("title") ?? `The server answered ${status}`, detail: text("detail"), type: text("type"), value });
  }
  // Everything that the service says is JSON: this was somebody else, or it was cut short.
  if (body !== "" && value === undefined && status < 300) {
    throw new Unavailable("answered what is no JSON", { status, isRetried });
  }
  return value;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
