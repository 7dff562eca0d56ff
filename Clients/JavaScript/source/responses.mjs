// The classification of responses: success, refusal, or unavailable service.
import { retryAfter } from "./backoff.mjs";

/** An error for a service that cannot be reached or cannot respond now, and for responses of intermediaries. */
export class UnavailableError extends Error {
  name = "UnavailableError";

  /**
   * - status: null without a response. isRetryable: true if the client may send an equal request again.
   * - retryAfter: the delay in seconds that the service requested, or null.
   * - needsSignIn: true for a web page, which an intermediary sends to a person who must sign in.
   */
  constructor(message, { status = null, isRetryable = false, retryAfter = null, needsSignIn = false, cause } = {}) {
    super(message, { cause });
    Object.assign(this, { status, isRetryable, retryAfter, needsSignIn });
  }
}

/** An error for a refused request, with the problem details (RFC 9457) of the service. A retry would not help. */
export class ProblemError extends Error {
  name = "ProblemError";

  /**
   * - type: a URI, such as `/problems/invalid-parameter`, or null. errors: the invalid parameters and members of the body.
   * - instance: the id of the request, or null. value: the complete problem, with further members, such as `commands` of a failed command.
   */
  constructor({ status, title, detail = null, type = null, errors = [], instance = null, value }) {
    super([title, detail].filter(Boolean).join(": "));
    Object.assign(this, { status, title, detail, type, errors, instance, value });
  }

  /** True if the person must sign in before an equal request can succeed. */
  get needsSignIn() {
    const { status, type } = this;
    return isRedirect(status) || signInStatuses.includes(status) || (status === 403 && (type === null || /\/problems\/viewer-required$/.test(type)));
  }
}

/** Unauthorized, Proxy Authentication Required, Network Authentication Required; 419, 440 and 498 are those of frameworks for an expired session. */
const signInStatuses = [401, 407, 419, 440, 498, 511];

/** The service redirects no request of a client. A redirect is an intermediary's, to its login page. */
const isRedirect = (status) => status >= 300 && status < 400;

/** Returns true for a web page, which is no response of the service. Some login pages have no media type, or that of the request. */
const isWebPage = (type, body) => /\bx?html\b/i.test(type) || /^[\s\uFEFF]*</.test(body);

/** Returns true if a request is safe, idempotent, or has an idempotency key. */
function isRepeatable({ method, hasKey }) {
  return method !== "POST" && method !== "PATCH" ? true : hasKey;
}

const unavailable = [429, 502, 503, 504];

/**
 * Returns the JSON value of a response, or undefined without a body. `response` is `{ status, headers, body }` with `Headers` and a text,
 * or null without a response. Throws `UnavailableError` or `ProblemError`.
 */
export function responseValue(response, { request, now = Date.now(), cause }) {
  const isRetryable = isRepeatable(request);
  if (response === null) throw new UnavailableError("no response", { isRetryable, cause });
  const { status, headers, body } = response;
  if (unavailable.includes(status)) {
    throw new UnavailableError(`status ${status}`, { status, isRetryable, retryAfter: retryAfter(headers.get("retry-after"), now) });
  }
  const mediaType = headers.get("content-type") ?? "";
  const value = /\bjson\b/i.test(mediaType) ? parsed(body) : undefined;
  // 304 answers `If-None-Match`, which no write has.
  if (status >= 300 && !(status === 304 && request.method === "GET")) {
    const text = (member) => (typeof value?.[member] === "string" ? value[member] : null);
    const errors = Array.isArray(value?.errors) ? value.errors.filter((one) => typeof one?.code === "string") : [];
    const title = text("title") ?? `The server answered ${status}`;
    throw new ProblemError({ status, title, detail: text("detail"), type: text("type"), errors, instance: text("instance"), value });
  }
  // All responses of the service are objects of JSON, or 204. Another one is truncated, or was sent by an intermediary. A gateway may send an
  // object of its own, such as `{"error": "expired"}`, so the response to a write must have the list that the service answers with.
  const needsSignIn = status < 300 && value === undefined && isWebPage(mediaType, body);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value) && !/\bproblem\+json\b/i.test(mediaType);
  const isAnswer = isObject && (request.answer === undefined || Array.isArray(value[request.answer]));
  if (needsSignIn || (status < 300 && !isAnswer && !(status === 204 && body === ""))) {
    throw new UnavailableError("the response is not the service's", { status, isRetryable, needsSignIn });
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
