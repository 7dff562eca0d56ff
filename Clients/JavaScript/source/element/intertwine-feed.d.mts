// The TypeScript declarations of the element.
import type { Actions, Connection, Entry, FeedClient, FeedList, ImageLoader, Presentation, TokenSource } from "../index.mjs";

/** A further command for each cell, in its tools and its menu. */
export interface CellCommand {
  name: string;
  label: string;
  /** The key that runs the command while a cell has the focus, in lower case. */
  key?: string;
  /** The paths of an icon in a box of 24 by 24. */
  paths: string[];
  run(entry: Entry): void;
}
/** Shows a screen. The promise resolves when the screen is closed. */
export type ShowScreen = (values: Record<string, unknown>, entry: Entry) => Promise<void>;
/** The parts of a running element. */
export interface FeedParts {
  readonly client: FeedClient;
  readonly list: FeedList;
  readonly images: ImageLoader<HTMLImageElement>;
  readonly actions: Actions;
  readonly connection: Connection;
}
export interface FeedEventMap {
  feedstart: CustomEvent<undefined>;
  /** The number of displayed cells, and true if there are no further pages. */
  feedchange: CustomEvent<{ count: number; isAtEnd: boolean }>;
  /** Cancelable: the element opens the URL in a tab. */
  feedopen: CustomEvent<{ href: string }>;
  /** Cancelable: the element shows the screen. */
  feedpresent: CustomEvent<{ presentation: Presentation; entry: Entry }>;
  /** Cancelable: the element loads the feed again. */
  feedreload: CustomEvent<null>;
}

/** A custom element that shows a feed: `<intertwine-feed src="/feed"></intertwine-feed>`. */
export class IntertwineFeed extends HTMLElement {
  /** The URL of the first page. */
  src: string | null;
  /** The viewer's name. */
  viewer: string | null;
  /** The client. Set it before `src`; by default the element makes one for the origin of `src`. */
  client: FeedClient | null;
  /** Sends the requests for images. */
  imageFetch: typeof globalThis.fetch | null;
  /** Returns the bearer token of a request. Set it before `src`. The element then sends no random name of a viewer. */
  token: TokenSource | null;
  commands: CellCommand[];
  /** The functions that show screens, by the name in presentations. */
  screens: Record<string, ShowScreen>;
  /** The parts of the running element, or null. */
  readonly parts: FeedParts | null;
  readonly hasDialog: boolean;
  /** The size of text, divided by its default size: the attribute `text-scale`, or the font size of the root element by 16 pixels. */
  readonly textScale: number;
  /** Loads the feed again from its first page. */
  reload(): void;
  /** Performs the first action of the newest notice, such as an undo. */
  undo(): void;
  /** Reads the `scroll-padding` of the document again. */
  updateInsets(): void;
  addEventListener<Type extends keyof FeedEventMap>(
    type: Type, listener: (event: FeedEventMap[Type]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap { "intertwine-feed": IntertwineFeed }
}
