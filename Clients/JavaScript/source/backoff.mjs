// Retry delays.

/** The maximum of `Retry-After`, in seconds. Longer timers could overflow. */
const maxRetryAfter = 3600;

/** Returns the seconds of a `Retry-After` field (RFC 9110, section 10.2.3) after `now`, or null if the field is invalid. */
export function retryAfter(value, now = Date.now()) {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(maxRetryAfter, Number(text));
  // Only a text that begins with the name of a day is an HTTP date: `Date.parse` accepts many other formats.
  const date = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? null : Math.min(maxRetryAfter, Math.max(0, Math.round((date - now) / 1000)));
}

/** An exponential backoff with jitter, so that the clients of a server do not retry at the same time. */
export class Backoff {
  #attempts = 0;

  /** - initialDelay, maxDelay: in milliseconds. */
  constructor({ initialDelay = 500, maxDelay = 30_000, random = Math.random } = {}) {
    Object.assign(this, { initialDelay, maxDelay, random });
  }

  /** Returns the next delay in milliseconds, at least the seconds that the server requested. */
  next(seconds = 0) {
    const grown = Math.min(this.maxDelay, this.initialDelay * 2 ** Math.min(this.#attempts, 16));
    this.#attempts += 1;
    return Math.max((seconds ?? 0) * 1000, grown * (0.75 + this.random() / 2));
  }

  reset() {
    this.#attempts = 0;
  }
}

/** Waits. Rejects with the signal's reason if the signal is aborted first. */
export function delay(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
