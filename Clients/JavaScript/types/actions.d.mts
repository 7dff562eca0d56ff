// Gestures of the viewer: the actions of cells, and the queue of requests for an unavailable service.
import type { Binding, Owner } from "./cells.mjs";
import type { ClientResponse, Connection, FeedClient } from "./client.mjs";

/** The undo of a gesture. */
export interface Undo {
  /** The time until which the service performs the undo; null if the gesture is queued or there is no limit. */
  readonly expiresAt: Date | null;
  /** False after `expiresAt`. */
  readonly isAvailable: boolean;
  /** Reverts the gesture. Rejects with `UnavailableError` or `ProblemError`. */
  run(): Promise<unknown>;
}
/** The outcome of a command. */
export interface CommandOutcome {
  /** The name of the command, such as `analytics`. */
  command: string;
  /** The outcome, such as `performed`. */
  outcome: string;
  /** Members that later versions of the service add. */
  [member: string]: unknown;
}
/** A screen that the app should show. */
export interface Presentation {
  /** The type of the presentation. */
  type?: string;
  /** The name of the screen, such as `ImageZoom`. */
  screen: string;
  /** The values for the screen. */
  arguments?: Record<string, unknown>;
  /** Members that later versions of the service add. */
  [member: string]: unknown;
}
/** The result of a gesture. */
export interface Invocation {
  /** The id; null if no command was performed. */
  readonly id: string | null;
  /** The performed slot, or null. */
  readonly slot: string | null;
  /** The outcomes of the commands, in order. */
  readonly commands: CommandOutcome[];
  /** The screen that the app should show, or null. */
  readonly presentation: Presentation | null;
  /** The href that the app should open, or null. */
  readonly open: string | null;
  /** The undo; null if the gesture cannot be undone. */
  readonly undo: Undo | null;
  /** True if the service is unavailable and the request is sent later. */
  readonly isQueued: boolean;
  /** The JSON value of the response; undefined while the request is queued. */
  readonly value: any;
  /** Resolves to true after a queued request was sent, and to false if it was removed or refused; undefined if it was not queued. */
  readonly sent?: Promise<boolean>;
}
/** The options of a gesture. */
export interface ActionOptions {
  /** The idempotency key of the gesture; by default a new one. */
  key?: string;
  /** The variables of a URI template. */
  values?: Record<string, string>;
  /** Shows the effect immediately, and returns a function that reverts it. */
  optimistic?: () => () => void;
  /** True if the request may be queued while the service is unavailable. */
  queueable?: boolean;
  /** The input of the slot. */
  body?: unknown;
  /** Sends the request; by default `fetch` of the client does. */
  fetch?: typeof globalThis.fetch;
  /** The maximum number of attempts; by default that of the client. */
  attempts?: number;
  /** Options for the function `bind`. */
  [option: string]: unknown;
}
/** A performer of actions. */
export class Actions {
  /**
   * - client: sends the requests. outbox: queues requests while the service is unavailable; null for none.
   * - bind: shows the values of a `bind` action. open: opens the href of a `link` action.
   */
  constructor(options: {
    client: FeedClient; outbox?: Outbox | null;
    bind?: (bindings: Record<string, Binding>, options: any) => void; open?: (href: string, owner: any, slot: string) => void;
  });
  /** Performs a slot of a cell. Resolves to null if there is no operation. Rejects with `UnavailableError` or `ProblemError`. */
  perform(slot: string, owner: Owner, options?: ActionOptions): Promise<Invocation | null>;
  /** Performs an action of a response, such as an undo. */
  run(action: unknown, slot: string, owner: Owner, options?: ActionOptions): Promise<Invocation | null>;
}

/** A queued request. */
export interface Gesture {
  /** The idempotency key. */
  key: string;
  /** The HTTP method. */
  method: string;
  /** The URL, relative to that of the service. */
  href: string;
  /** The JSON value of the body. */
  body?: unknown;
  /** The time of the gesture in milliseconds since 1970. */
  createdAt: number;
}
/** A queue of gestures for an unavailable service. Dispatches `sent` and `refused`. */
export class Outbox extends EventTarget {
  /** The queued gestures, oldest first. */
  readonly pending: Gesture[];
  /**
   * - client: sends the requests. connection: dispatches `restored` if the service is available again, by default that of the client.
   * - storage: stores gestures beyond the life of the page, such as `localStorage`; null for none. name: the key in it.
   * - now: returns milliseconds since 1970.
   */
  constructor(options: {
    client: FeedClient; connection?: Connection | null; storage?: Pick<Storage, "getItem" | "setItem"> | null; name?: string; now?: () => number;
  });
  /**
   * Queues a request. The promise has its response. `key`, `method`, `href` and `body` are those of the gesture. `hasKey`: the key is sent, by
   * default with POST. `owner` and `slot` are for the request log.
   */
  enqueue(gesture: {
    key: string; method: string; href: string; body?: unknown; hasKey?: boolean; owner?: unknown; slot?: string;
  }): Promise<ClientResponse>;
  /** Removes a gesture. Returns false if it was sent or does not exist. */
  remove(key: string): boolean;
  /** Sends the queued gestures. */
  flush(): Promise<void>;
}
