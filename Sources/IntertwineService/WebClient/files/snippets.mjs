// The same cell in the code of an app, of a page, and of an operator.
import { bindingsOf } from "./client/index.mjs";

const swiftViews = {
  image: (name) => `FeedImage(cell, "${name}")`,
  date: (name) => `Text(cell.bindings["${name}"]?.date ?? .now, style: .date)`,
  other: (name) => `Text(cell.bindings["${name}"]?.text ?? "")`,
};
const tags = {
  image: (name) => `<img data-bind="${name}" alt="">`,
  media: (name) => `<div data-bind="${name}"></div>`,
  link: (name) => `<a data-bind="${name}"></a>`,
  other: (name, index) => (index === 0 ? `<h2 data-bind="${name}"></h2>` : `<p data-bind="${name}"></p>`),
};

/** Returns a SwiftUI view of a cell's identifier, with one view for each part. */
export function swiftSnippet(cell, base) {
  const lines = bindingsOf(cell).map(([name, { type }]) => `                    ${(swiftViews[type] ?? swiftViews.other)(name)}`);
  return `import IntertwineUI
import SwiftUI

struct ContentView: View {
    let client = FeedClient(base: URL(string: "${new URL("./", base).href}")!)

    var body: some View {
        FeedView(client: client) { views in
            views.register("${cell.identifier}") { cell in
                VStack(alignment: .leading) {
${lines.join("\n")}
                }
            }
        }
    }
}`;
}

/** Returns the markup of a page that shows the feed, with a template for a cell's identifier. */
export function elementSnippet(cell, base) {
  const at = (path) => new URL(path, base).href;
  let texts = 0;
  // Pictures first: the tools are in their corner.
  const bindings = bindingsOf(cell).toSorted(([, one], [, other]) => (other.type === "image") - (one.type === "image"));
  const lines = bindings.map(([name, { type }]) => `    ${tags[type]?.(name) ?? tags.other(name, texts++)}`);
  return `<script type="module" src="${at("web-client/client/element/intertwine-feed.mjs")}"></script>

<intertwine-feed src="${at("feed")}">
  <template data-cell="${cell.identifier}">
${lines.join("\n")}
  </template>
</intertwine-feed>`;
}

/** Returns a command that moves the item of an entry before the first item of the feed, or after the next one if it is that. */
export function moveSnippet(entry, entries, operators) {
  const isItem = ({ cell }) => !/^(ad|section):/.test(cell.id);
  const first = entries.find(isItem);
  const other = first === entry ? entries.filter(isItem)[1] : first;
  const move = { move: entry.cell.id, [first === entry ? "after" : "before"]: other?.cell.id ?? entry.cell.id };
  const address = new URL("admin/operations", operators ?? `${location.protocol}//${location.hostname}:${document.querySelector('meta[name="operator-port"]').content}/`).href;
  return `curl --json '${JSON.stringify({ operations: [move] }).replaceAll("'", "'\\''")}' \\\n    ${address}`;
}
