// The list against a naive list: random gestures of a person, and changes of a service in memory. SEED=… repeats a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { displayed } from "../source/held-changes.mjs";
import { FeedList } from "../source/index.mjs";
import { randomNumbers } from "./random.mjs";

const seeds = Number(process.env.SEEDS ?? 2000);
const limit = 5;

/** A service with items, an ad after every third cell, and sync tokens. It computes changes in the simplest way: everything that differs. */
class Service {
  items = Array.from({ length: 24 }, (_, number) => `user:${number}`);
  dismissed = new Set();
  #places = new Map(this.items.map((id, index) => [id, index]));
  #states = [];

  /** Places an item before the one with an index. A cursor names a place, which stays if its item leaves. */
  place(id, index) {
    this.items = this.items.filter((other) => other !== id);
    const at = Math.min(index, this.items.length);
    const [low, high] = [this.#places.get(this.items[at - 1]), this.#places.get(this.items[at])];
    this.#places.set(id, low === undefined ? high - 1 : high === undefined ? low + 1 : (low + high) / 2);
    this.items.splice(at, 0, id);
  }

  /** The present pages after a place, with the ads between the items. */
  #cells(start, count) {
    const rest = this.items.filter((id) => !this.dismissed.has(id) && this.#places.get(id) > start);
    const pages = [];
    for (let at = 0; pages.length < count && (at === 0 || at < rest.length); at += limit) {
      const ids = rest.slice(at, at + limit);
      const first = at === 0 ? start : this.#places.get(rest[at - 1]);
      const cells = ids.flatMap((id, index) => [cell(id), ...(index === 2 ? [cell(`ad:${first}`, true)] : [])]);
      pages.push({ cells, next: at + limit < rest.length ? this.#places.get(ids.at(-1)) : null, start: first });
    }
    return pages;
  }

  #token(page) {
    return String(this.#states.push({ start: page.start, ids: page.cells.map(({ id }) => id) }) - 1);
  }

  /** The client of a list. */
  page = async (href) => {
    const start = href.startsWith("feed?after=") ? Number(href.slice(11)) : -Infinity;
    const [page] = this.#cells(start, 1);
    return { cells: page.cells, next: nextOf(page), syncToken: this.#token(page), sections: [], omitted: [], language: null };
  };

  send = async (href) => {
    const states = href.split("syncToken=")[1].split(",").map((token) => this.#states[token]);
    const before = states.flatMap(({ ids }) => ids);
    const pages = this.#cells(states[0].start, states.length);
    const after = pages.flatMap(({ cells }) => cells);
    const ids = after.map(({ id }) => id);
    const kept = new Set(before.filter((id) => ids.includes(id)));
    const keptBefore = before.filter((id) => kept.has(id));
    const keptAfter = ids.filter((id) => kept.has(id));
    const isInPlace = keptBefore.every((id, index) => id === keptAfter[index]);
    const value = {
      reload: false, reconfigured: [],
      removed: before.flatMap((id, index) => (kept.has(id) ? [] : [{ index, id }])),
      inserted: after.flatMap((cell, index) => (kept.has(cell.id) ? [] : [{ index, cell }])),
      moved: isInPlace ? [] : keptAfter.map((id) => ({ from: before.indexOf(id), to: ids.indexOf(id), id })),
      pages: pages.map((page) => ({ count: page.cells.length, syncToken: this.#token(page) })),
      page: { next: nextOf(pages.at(-1)) },
    };
    return { status: 200, value, tag: null };
  };
}

const nextOf = ({ next }) => (next === null ? null : `feed?after=${next}`);
const cell = (id, advertisement = false) => ({ id, advertisement, size: { width: 300, height: 200 }, actions: {} });
const idsOf = (entries) => entries.map(({ cell }) => cell.id);
const isPerson = (id) => id.startsWith("user:");

/** Performs random operations, and compares the list with the naive one after each. */
async function run(seed, { isAlone }) {
  const random = randomNumbers(seed);
  const pick = (list) => list[random(list.length)];
  const service = new Service();
  let pinned = 0;
  const list = new FeedList({ client: service, href: "feed", pinned: () => Math.min(pinned, list.entries.length) });
  await list.loadNext();
  await list.loadNext();
  const undos = [];
  let made = 0;
  // The cells that gestures have shown again since the last comparison. Each moves those after it by one.
  const returned = new Set();
  const trace = [];
  const refresh = () => list.refresh({ first: Math.max(0, pinned - 4), last: Math.max(0, pinned - 1) });
  const check = (name) => {
    trace.push(name);
    const shown = idsOf(list.entries);
    const context = `SEED=${seed}: ${trace.join(", ")}`;
    assert.equal(new Set(shown).size, shown.length, `a cell twice: ${shown}, ${context}`);
    for (const id of shown) assert.ok(!service.dismissed.has(id), `${id} is dismissed, ${context}`);
    list.entries.forEach((entry, index) => assert.equal(entry.index, index, context));
  };
  /** Compares the list with the service's, after it has been synchronized. */
  const compare = (name, before) => {
    check(name);
    const context = `SEED=${seed}: ${trace.join(", ")}`;
    const shown = idsOf(list.entries);
    const present = service.items.filter((id) => !service.dismissed.has(id));
    // Nothing that a person sees moves.
    const fixed = before.entries.slice(0, Math.max(0, before.pinned - returned.size));
    const stays = idsOf(fixed).filter((id) => isPerson(id) && !service.dismissed.has(id) && !returned.has(id));
    returned.clear();
    assert.deepEqual(shown.filter((id) => stays.includes(id)), stays, `a pinned cell moved, ${context}`);
    // Of the cells up to the last one, only those are missing that are counted as new.
    const listed = idsOf(list.entries.filter(({ isListed }) => isListed));
    const last = present.findLastIndex((id) => listed.includes(id));
    const missing = present.slice(0, last + 1).filter((id) => !shown.includes(id));
    assert.equal(missing.length, list.held?.inserted ?? 0, `missing: ${missing}, shown: ${shown}, ${context}`);
    if (isAlone) {
      assert.equal(list.held, null, `a pill after the person's own gestures, ${context}`);
      assert.deepEqual(shown.filter(isPerson), present.slice(0, present.findLastIndex((id) => shown.includes(id)) + 1), context);
      assert.ok(list.entries.every(({ isRemoved, cell }) => !isRemoved || cell.advertisement), `removed, ${context}`);
    }
    if (pinned === 0) assert.deepEqual(shown.filter(isPerson), present.slice(0, last + 1), context);
    for (const { cell, isListed, isRemoved } of list.entries) assert.ok(!isListed || !isRemoved, `${cell.id} is not removed, ${context}`);
  };
  for (let step = 0; step < 24; step += 1) {
    const before = { entries: list.entries.slice(), pinned: Math.min(pinned, list.entries.length) };
    const kind = pick(isAlone ? ["dismiss", "dismiss", "undo", "page", "scroll", "race"] : ["dismiss", "undo", "insert", "delete", "move", "page", "reload", "scroll", "show", "race"]);
    const others = service.items.filter((id) => !service.dismissed.has(id));
    const people = list.entries.filter(({ cell, isRemoved }) => isPerson(cell.id) && !isRemoved);
    if ((kind === "dismiss" || kind === "race") && people.length > 4) {
      const entry = pick(people);
      const show = list.hide(entry);
      const { id } = entry.cell;
      service.dismissed.add(id);
      if (kind === "race") {
        // The undo comes before the list knows that the service has removed the cell, or while it is being told.
        if (random(2) === 0) await refresh();
        const late = random(2) === 0 ? refresh() : null;
        service.dismissed.delete(id);
        // The list may be told of the undo before the undo's response arrives.
        if (late === null && random(2) === 0) await refresh();
        show();
        await late;
        returned.add(id);
      } else {
        undos.push({ id, show });
      }
    } else if (kind === "undo" && undos.length > 0) {
      const [{ id, show }] = undos.splice(random(undos.length), 1);
      service.dismissed.delete(id);
      if (random(2) === 0) await refresh();
      show();
      returned.add(id);
    } else if (kind === "insert") {
      service.place(`user:n${(made += 1)}`, random(service.items.length));
    } else if (kind === "delete" && others.length > 12) {
      const id = pick(others);
      service.items = service.items.filter((other) => other !== id);
    } else if (kind === "move") {
      service.place(pick(others), random(service.items.length));
    } else if (kind === "page") {
      await refresh();
      await list.loadNext();
    } else if (kind === "reload") {
      await list.reload();
      before.pinned = 0;
    } else if (kind === "scroll") {
      pinned = random(list.entries.length + 1);
      list.settle();
      before.pinned = Math.min(before.pinned, pinned);
    } else if (kind === "show") {
      await refresh();
      list.showHeld();
      assert.equal(list.held, null);
      before.pinned = 0;
    }
    if (random(3) === 0) check(kind);
    else {
      await refresh();
      compare(kind, before);
    }
  }
  await refresh();
  list.showHeld();
  const present = service.items.filter((id) => !service.dismissed.has(id));
  const shown = idsOf(list.entries).filter(isPerson);
  assert.deepEqual(shown, present.slice(0, shown.length), `SEED=${seed}: ${trace.join(", ")}`);
}

for (const [name, options] of [["gestures of one person make no pill and lose no cell", { isAlone: true }], ["gestures and changes in any order", { isAlone: false }]]) {
  test(`${seeds} seeds: ${name}`, async () => {
    if (process.env.SEED) return run(Number(process.env.SEED), options);
    for (let seed = 0; seed < seeds; seed += 1) await run(seed, options);
  });
}

test("a cell that returns behind an ad stays behind it", () => {
  const [first, ad, back, last] = ["user:1", "ad:1", "user:2", "user:3"].map((id) => ({ id, isHidden: false }));
  const { entries, isSame } = displayed({
    before: [first, ad, last], wanted: [first, ad, back, last], pinned: 3, isAwaited: () => false, isReturning: (entry) => entry === back, isNews: (entry) => entry !== ad,
  });
  assert.deepEqual(entries.map(({ id }) => id), ["user:1", "ad:1", "user:2", "user:3"]);
  assert.equal(isSame, true);
});
