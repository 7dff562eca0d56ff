// How long to wait before asking again.

/** Longer than anybody waits, and far from where timers overflow. */
const longestWish = 3600;

/** The seconds that `Retry-After` names (RFC 9110 section 10.2.3), from `now` on; null where it names none. */
export function retryAfter(value, now = Date.now()) {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(longestWish, Number(text));
  // Only what has a day's name is a date of HTTP: `Date.parse` takes much more.
  const date = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? null : Math.min(longestWish, Math.max(0, Math.round((date - now) / 1000)));
}

/** Ever longer pauses, with jitter, so that the clients of one server do not come back all at once. */
export class Backoff {
  #attempts = 0;

  /** `first` and `longest` in milliseconds. */
  constructor({ first = 500, longest = 30_000, random = Math.random } = {}) {
    Object.assign(this, { first, longest, random });
  }

  /** The next pause in milliseconds, no shorter than the seconds that a server asked for. */
  next(seconds = 0) {
    const grown = Math.min(this.longest, this.first * 2 ** Math.min(this.#attempts, 16));
    this.#attempts += 1;
    return Math.max((seconds ?? 0) * 1000, grown * (0.75 + this.random() / 2));
  }

  reset() {
    this.#attempts = 0;
  }
}

/** Waits; rejects with the signal's reason where that comes first. */
export function pause(milliseconds, signal) {
  return new Promise((done, fail) => {
    const leave = () => {
      clearTimeout(timer);
      fail(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      done();
    }, milliseconds);
    if (signal?.aborted) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
}
