// The TypeScript declarations of the element.
import type { Actions, Connection, Entry, FeedClient, FeedList, ImageLoader, Presentation, TokenSource } from "../index.mjs";

/** A further command for each cell, in its tools and its menu. */
export interface CellCommand {
  /** The name of the command, unique among the commands. */
  name: string;
  /** The text of the tool and of the menu item. */
  label: string;
  /** The key that runs the command while a cell has the focus, in lower case. */
  key?: string;
  /** The paths of an icon in a box of 24 by 24. */
  paths: string[];
  /** Performs the command for a cell. */
  run(entry: Entry): void;
}
/** Shows a screen. The promise resolves when the screen is closed. */
export type ShowScreen = (values: Record<string, unknown>, entry: Entry) => Promise<void>;
/** The parts of a running element. */
export interface FeedParts {
  /** The client that sends the requests. */
  readonly client: FeedClient;
  /** The cells. */
  readonly list: FeedList;
  /** The loader of images. */
  readonly images: ImageLoader<HTMLImageElement>;
  /** The performer of actions. */
  readonly actions: Actions;
  /** The state of the connection. */
  readonly connection: Connection;
}
/** The events of the element. */
export interface FeedEventMap {
  /** The element has loaded no page yet, and `parts` exist. */
  feedstart: CustomEvent<undefined>;
  /** The number of displayed cells, and true if there are no further pages. */
  feedchange: CustomEvent<{ count: number; isAtEnd: boolean }>;
  /** A request failed because the person must sign in. */
  signinrequired: CustomEvent<{ error: Error }>;
  /** Cancelable: the element opens the URL in a tab. */
  feedopen: CustomEvent<{ href: string }>;
  /** Cancelable: the element shows the screen. */
  feedpresent: CustomEvent<{ presentation: Presentation; entry: Entry }>;
  /** Cancelable: the element loads the feed again. */
  feedreload: CustomEvent<null>;
  /** Cancelable: the element shows the main feed in place of an empty list of the viewer. */
  feedhome: CustomEvent<{ list: string }>;
}

/** A custom element that shows a feed: `<intertwine-feed src="/feed"></intertwine-feed>`. */
export class IntertwineFeed extends HTMLElement {
  /** The URL of the first page, relative to that of the document. The element shows nothing while it is null. */
  src: string | null;
  /** The values of the feed's filters by name, which `FeedClient.feeds` lists. A feed without one of them is refused. */
  get filters(): Record<string, string[]>;
  set filters(filters: Record<string, readonly string[]> | null);
  /** The viewer's name. If it is null, the element uses a random name that is stored in the browser. */
  viewer: string | null;
  /** The client. Set it before `src`; by default the element makes one for the origin of `src`. */
  client: FeedClient | null;
  /** Sends the requests for images. If it is null, `fetch` of the client does. */
  imageFetch: typeof globalThis.fetch | null;
  /** Returns the bearer token of a request; null for none. Set it before `src`. The element then sends no random name of a viewer. */
  token: TokenSource | null;
  /** Further commands for each cell, by default none. Set them before `src`. */
  commands: CellCommand[];
  /** The functions that show screens, by the name in presentations. */
  screens: Record<string, ShowScreen>;
  /** The parts of the running element; null before it is connected and has a `src`. */
  readonly parts: FeedParts | null;
  /** True while the element shows a dialog. */
  readonly hasDialog: boolean;
  /** The size of text, divided by its default size: the attribute `text-scale`, or the font size of the root element by 16 pixels. */
  readonly textScale: number;
  /** Loads the feed again from its first page. */
  reload(): void;
  /** Performs the first action of the newest notice, such as an undo. */
  undo(): void;
  /** Reads the `scroll-padding` of the document again. */
  updateInsets(): void;
  /** Adds a listener. */
  addEventListener<Type extends keyof FeedEventMap>(
    type: Type, listener: (event: FeedEventMap[Type]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  /** The elements by name. */
  interface HTMLElementTagNameMap {
    /** The element that shows a feed. */
    "intertwine-feed": IntertwineFeed;
  }
}
