// Images, impressions, and the visibility of cells.
import type { Actions } from "./actions.mjs";
import type { Cell, ImageBinding, Owner } from "./cells.mjs";
import type { Connection, FeedClient } from "./client.mjs";

/** A cache of images by href. The least recently used images are removed first. */
export class ImageCache {
  /** `maxBytes` is the maximum sum of the sizes in bytes, by default 64 MiB. */
  constructor(options?: { maxBytes?: number });
  /** Returns the image of an href, or undefined. */
  get(href: string): Blob | undefined;
  /** Stores the image of an href. */
  set(href: string, image: Blob): void;
}
/** A request for an image. */
export interface ImageRequest<Image> {
  /** The id, by which the service cancels the request. */
  readonly id: string;
  /** The href at the scale of the loader. */
  readonly href: string;
  /** False while the request is queued in the client. */
  readonly isSent: boolean;
  /** The decoded image. Rejects with `ImageError`, or with the error of `decode`. */
  readonly image: Promise<Image>;
  /** Aborts the request in the client. `ImageLoader.cancel` also cancels it in the service. */
  abort(): void;
}
/** An error for an image that could not be loaded. */
export class ImageError extends Error {
  /** The delay in seconds that the service requested, or null. */
  readonly retryAfter: number | null;
  /** The problem details (RFC 9457), or null. */
  readonly problem: any;
  /** `retryAfter` and `problem` are the properties, by default null. `cause` is the original error. */
  constructor(message: string, options?: { retryAfter?: number | null; problem?: unknown; cause?: unknown });
}
/** A loader of images. Dispatches `refused` with the problem details. */
export class ImageLoader<Image = Blob> extends EventTarget {
  /**
   * - client: sends the requests, or `fetch`. actions: performs the `cancellation` of cells; null for none.
   * - decode: converts the bytes to the app's type of image, by default none. cache: stores the bytes.
   * - maxConcurrent: the maximum number of concurrent requests, by default 4.
   * - scale: in pixels per point, by default that of the screen. formats: the `Accept` field.
   */
  constructor(options: {
    client: FeedClient; actions?: Actions | null; fetch?: typeof globalThis.fetch; decode?: (bytes: Blob) => Image | Promise<Image>;
    cache?: ImageCache; maxConcurrent?: number; scale?: number; formats?: string;
  });
  /** Requests an image for a cell of `owner`. `priority` returns its distance from the visible area; the lowest is sent first. */
  request(image: string | ImageBinding, options?: { owner?: Owner | null; priority?: () => number }): ImageRequest<Image>;
  /** Cancels a request whose cell is no longer displayed. */
  cancel(request: ImageRequest<Image>): void;
}
/** Returns the `href` of an image for a scale in pixels per point, by default 1: the smallest sufficient one of `scales`, or the largest. */
export function imageHref(binding: { href: string; scales?: number[] }, scale?: number): string | undefined;
/** Returns the RGBA pixels of a placeholder, or null if it is invalid. */
export function placeholderPixels(text: string): { width: number; height: number; pixels: Uint8ClampedArray } | null;
/** Returns an image element after decoding. For browsers only. */
export function decodeImage(bytes: Blob): Promise<HTMLImageElement>;

/** A reporter of impressions, which sends them in batches. */
export class Impressions {
  /** Returns the visible share of an entry, from 0 to 1; null if `update` is called without delay. */
  currentShare: ((entry: Owner) => number | Promise<number>) | null;
  /**
   * - client: sends the requests. connection: dispatches `restored` if the service is available again, by default that of the client.
   * - batchDelay: the time in milliseconds during which impressions are collected, by default 2,000. currentShare: the property.
   */
  constructor(options: {
    client: FeedClient; connection?: Connection | null; batchDelay?: number; currentShare?: ((entry: Owner) => number | Promise<number>) | null;
  });
  /** Returns true if an entry has an impression that was not reported yet. */
  isNeeded(entry: Owner): boolean;
  /** Sets the visible share of an entry, from 0 to 1. */
  update(entry: Owner, share: number): void;
  /** Stops the timer of an entry that is no longer visible. */
  leave(entry: Owner): void;
  /** Stops all timers. */
  leaveAll(): void;
  /** Sends the collected impressions. With `keepalive`, the requests survive the page. */
  flush(options?: { keepalive?: boolean }): Promise<void>;
  /** Adds events of an entry's cell to the next batch for an href. */
  report(href: string, events: unknown[], entry: Owner): void;
}
/** Returns the viewability threshold of a cell: the share from 0 to 1, and the seconds. */
export function viewability(cell: Cell): { share: number; seconds: number };

/** Measures the visible fraction of cells in a browser, for `Impressions`. */
export class ViewportObserver {
  /**
   * `impressions` gets the visible shares. `root` is the document, or the shadow root that contains the elements. `isLoaded` returns false
   * while pictures of an element are missing, which then counts as invisible.
   */
  constructor(options: { impressions: Impressions; root?: Document | ShadowRoot; isLoaded?: (element: Element) => boolean });
  /** The covered distances from the `top`, `right`, `bottom` and `left` edges of the window, in points. A missing one keeps its value. */
  set insets(insets: { top?: number; right?: number; bottom?: number; left?: number });
  /** True while all cells are covered, for example by a dialog. */
  set isCovered(isCovered: boolean);
  /** Measures the visible share of an element that shows an entry. */
  observe(element: Element, entry: Owner): void;
  /** Measures an element again, for example after its pictures were loaded. */
  update(element: Element): void;
  /** Ends the measurement of an element. */
  unobserve(element: Element): void;
}
