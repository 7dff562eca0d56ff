// A parser of server-sent events in a response body. Why: `EventSource` cannot send header fields or a request body.

/** The maximum length of a line and of an event, in characters. */
const maxLength = 4 * 1024 * 1024;

/** A parser that accepts text in chunks of any length. */
export class EventStreamParser {
  lastEventId = "";
  /** The reconnection delay in milliseconds that the service requested, or null. */
  retry = null;
  #buffer = "";
  #isFirst = true;
  /** True if the received text ended in a carriage return, whose line feed may follow. */
  #endedInReturn = false;
  #data = [];
  #event = "";
  #size = 0;

  /**
   * Returns the events that are complete with this text: `{ id, event, data }`. Throws `RangeError` if an event exceeds the maximum length.
   */
  receive(text) {
    if (text === "") return [];
    if (this.#isFirst) text = text.replace(/^\ufeff/, "");
    this.#isFirst = false;
    if (this.#endedInReturn && text.startsWith("\n")) text = text.slice(1);
    if (text !== "") this.#endedInReturn = text.endsWith("\r");
    const lines = (this.#buffer + text).split(/\r\n|\n|\r/);
    this.#buffer = lines.pop();
    if (this.#buffer.length > maxLength) throw new RangeError("the line is too long");
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const [name, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (name === "data") {
      this.#data.push(value);
      this.#size += value.length;
      if (this.#size > maxLength) throw new RangeError("the event is too long");
    } else if (name === "event") {
      this.#event = value;
    } else if (name === "id" && !value.includes("\0")) {
      this.lastEventId = value;
    } else if (name === "retry" && /^\d+$/.test(value)) {
      this.retry = Number(value);
    }
    return null;
  }

  #dispatch() {
    const event = this.#data.length === 0 ? null : { id: this.lastEventId, event: this.#event || "message", data: this.#data.join("\n") };
    this.#data = [];
    this.#event = "";
    this.#size = 0;
    return event;
  }
}

/**
 * Yields the events of a response body. It ends with the body, or if nothing arrives within `idleTimeout` milliseconds (the service sends a
 * heartbeat every 15 seconds). It throws if the connection breaks.
 */
export async function* events(response, parser, idleTimeout) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const timer = setTimeout(() => reader.cancel().catch(() => {}), idleTimeout);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      yield* parser.receive(value);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
