// Server-sent events off the body of an answer: `EventSource` can neither name the viewer nor carry a request's body.

/** Longer lines and events are none that the service sends. */
const most = 4 * 1024 * 1024;

/** Reads events from text as it comes, wherever it is cut. */
export class EventStreamParser {
  lastEventId = "";
  /** How many milliseconds the service asks to wait before coming back, or null. */
  retry = null;
  #rest = "";
  #isFirst = true;
  /** Whether the text so far ended in a carriage return, whose line feed may follow. */
  #endedInReturn = false;
  #data = [];
  #event = "";
  #size = 0;

  /** The events that are complete with this text: `{ id, event, data }`. Throws where one is larger than any that the service sends. */
  receive(text) {
    if (text === "") return [];
    if (this.#isFirst) text = text.replace(/^\ufeff/, "");
    this.#isFirst = false;
    if (this.#endedInReturn && text.startsWith("\n")) text = text.slice(1);
    if (text !== "") this.#endedInReturn = text.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop();
    if (this.#rest.length > most) throw new RangeError("a line that never ends");
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const [name, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (name === "data") {
      this.#data.push(value);
      this.#size += value.length;
      if (this.#size > most) throw new RangeError("an event that never ends");
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
 * The events of an answer's body as they come. Ends where the body does or nothing comes for so many milliseconds, throws where it breaks off:
 * the service says something every 15 seconds.
 */
export async function* events(response, parser, silence) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const timer = setTimeout(() => reader.cancel().catch(() => {}), silence);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      yield* parser.receive(value);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
