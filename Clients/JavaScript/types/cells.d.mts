// Cells, their actions and bindings, and the registry of an app's views.

/** A size in points. A point is a CSS pixel. */
export interface Size {
  /** In points. */
  width: number;
  /** In points. */
  height: number;
}
/** The size of a cell in points, at text scale 1. */
export interface CellSize extends Size {
  /** The part of the height that follows the text scale of the client, in points; 0 if it is missing. */
  textHeight?: number;
}
/** An action that sends a request to the service. */
export interface RequestAction {
  /** The type of the action. */
  type: "request";
  /** `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
  method: string;
  /** The URL, relative to that of the service. */
  href: string;
  /** True if the href is a URI template (RFC 6570, limited to `{name}`). */
  templated?: boolean;
  /** The JSON value of the request's body. */
  body?: unknown;
  /** The time until which the service performs the action, as an RFC 3339 text; an undo has one. */
  expiresAt?: string;
  /** The effect of the action in the language of the page. */
  label?: string;
  /** The JSON Schema of the input that the slot takes as the request's body. */
  input?: unknown;
}
/** An action that opens a URL. */
export interface LinkAction {
  /** The type of the action. */
  type: "link";
  /** The URL, relative to that of the service. */
  href: string;
  /** The effect of the action in the language of the page. */
  label?: string;
}
/** An action that fills a view with values. */
export interface BindAction {
  /** The type of the action. */
  type: "bind";
  /** The values by part of the view. */
  bindings: Record<string, Binding>;
}
/** An action of a type that the client does not know. It is no operation. */
export interface UnknownAction {
  /** The type of the action. */
  type: string;
  /** Members that depend on the type. */
  [member: string]: unknown;
}
/** The action in a slot of a cell. Further types may be added. */
export type Action = RequestAction | LinkAction | BindAction | UnknownAction;
/** A text. */
export interface TextBinding {
  /** The type of the binding. */
  type: "text";
  /** The text, in the language of the page. */
  text: string;
}
/** An image: its href at the first scale, its size in points, and what to show before it is loaded. */
export interface ImageBinding {
  /** The type of the binding. */
  type: "image";
  /** The URL at the first scale, relative to that of the service. `imageHref` returns it for another scale. */
  href: string;
  /** The alternative text. An empty one marks a decorative image. */
  alt?: string;
  /** In points. */
  width?: number;
  /** In points. */
  height?: number;
  /** The pixels per point on offer, such as `[1, 2, 3]`. */
  scales?: number[];
  /** The main colour as `#rrggbb`. */
  color?: string;
  /** A ThumbHash in base64, for `placeholderPixels`. */
  placeholder?: string;
}
/** A date. */
export interface DateBinding {
  /** The type of the binding. */
  type: "date";
  /** A day (`2026-05-01`) or a time (RFC 3339). */
  date: string;
}
/** A number. */
export interface NumberBinding {
  /** The type of the binding. */
  type: "number";
  /** The number. */
  number: number;
}
/** A link. */
export interface LinkBinding {
  /** The type of the binding. */
  type: "link";
  /** The URL, relative to that of the service. */
  href: string;
}
/** A video or a sound. */
export interface MediaBinding {
  /** The type of the binding. */
  type: "media";
  /** The URL, relative to that of the service. */
  href: string;
}
/** The label of a campaign's ad. */
export interface DisclosureBinding {
  /** The type of the binding. */
  type: "disclosure";
  /** The label, for example "Sponsored". */
  label: string;
  /** The name of the advertiser. */
  advertiser?: string;
}
/** A binding of a type that the client does not know. It shows nothing. */
export interface UnknownBinding {
  /** The type of the binding. */
  type: string;
  /** Members that depend on the type. */
  [member: string]: unknown;
}
/** The value of a part of a view. Further types may be added. */
export type Binding =
  | TextBinding | ImageBinding | DateBinding | NumberBinding | LinkBinding | MediaBinding | DisclosureBinding | UnknownBinding;
/** A ready-to-render item of a feed. */
export interface Cell {
  /** The id, such as `user:ada`. An ad may occur several times in a list. */
  id: string;
  /** The name under which an app registers a view. */
  identifier: string;
  /** In points, at text scale 1. */
  size: CellSize;
  /** The actions by slot, such as `selection`. */
  actions: Record<string, Action>;
  /** True for every cell of an ad. */
  advertisement?: boolean;
  /** The id of the first cell of the item, if this is another cell of it: a companion, or a repetition of an ad. */
  primary?: string;
  /** Why the ranker of the feed chose the item, such as "Because you follow Ada". */
  reason?: string;
  /** The viewer's state of the cell, such as `{ saved: true }`. */
  state?: Record<string, unknown>;
  /** Members that later versions of the service add. */
  [member: string]: unknown;
}
/** An object that shows a cell. */
export interface Owner {
  /** The cell. */
  cell: Cell;
}

/**
 * Returns the display size of a cell in points. Invalid lengths are 300 by 200. `textScale` is the size of text, divided by its default
 * size, from 0.5 to 4; 1 by default.
 */
export function displaySize(size: unknown, textScale?: number): Size;
/** Returns true if a cell is a section header. A header begins its section and is not one of its items. */
export function isSectionHeader(cell: { id: string }): boolean;

/** Returns the type and the value of a binding, or null if it shows nothing. */
export function bindingValue(binding: unknown): { type: string; value: string | number } | null;
/** Returns the visible bindings of a cell by part. */
export function bindingsOf(cell: Cell): [part: string, shown: { type: string; value: string | number }, binding: Binding][];
/** Returns the label that an ad must show, and the advertiser (possibly empty); null for other cells. */
export function disclosureOf(cell: Cell): { label: string; advertiser: string } | null;
/** Returns true if a cell is of an ad, which must be labelled. */
export function isAdvertisement(cell: Cell): boolean;

/** The operation of a slot: a request, the opening of a link, or the binding of values. `hasKey`: an idempotency key is sent. */
export type Operation =
  | { request: { method: string; href: string; hasKey: boolean; body?: unknown } }
  | { link: { href: string } }
  | { bind: Record<string, Binding> };
/** Returns the labelled slots that a kind declares in addition to the standard ones. */
export function customSlots(cell: Cell): { slot: string; label: string }[];
/** Returns the operation of a slot; null if the slot is missing or its action has an unknown type. `values`: variables of a URI template. */
export function resolveAction(cell: Cell, slot: string, values?: Record<string, string>): Operation | null;

/** The views of an identifier. */
export interface CellRegistration<View> {
  /** Returns a new view. */
  make(identifier: string): View;
  /** Fills a view with a cell. `options` are the further arguments of `CellRegistry.bind`. */
  bind(view: View, cell: Cell, ...options: any[]): void;
  /** Returns the size of a cell in points, by default that of the feed. */
  size?(cell: Cell): Size;
  /** Clears a view before it returns to the pool. */
  prepareForReuse?(view: View): void;
  /** The newest version of the identifier's cells that the view supports, by default 1. */
  version?: number;
}
/** A registry of an app's views by reuse identifier. */
export class CellRegistry<View> {
  /** The registered identifiers. */
  readonly identifiers: string[];
  /** The value of `Accept-Cells` for the registered identifiers. */
  readonly acceptCells: string;
  /** `fallback` shows the cells with other identifiers. */
  constructor(options: { fallback: CellRegistration<View> });
  /** Registers the views of an identifier. Returns the registry. */
  register(identifier: string, registration: CellRegistration<View>): this;
  /** Returns true if an identifier is registered. */
  isRegistered(identifier: string): boolean;
  /** Returns a pooled or a new view for a cell. */
  dequeue(cell: { identifier: string }): View;
  /** Returns the size of a cell in points. */
  size(cell: Cell): Size;
  /** Fills a view with a cell. `options` are passed to the registration. */
  bind(view: View, cell: Cell, ...options: any[]): void;
  /** Returns a view to the pool of an identifier. */
  recycle(identifier: string, view: View): void;
}
