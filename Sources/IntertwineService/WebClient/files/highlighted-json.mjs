// JSON with colours, for the inspector and the playground.
import { element } from "./client/element/elements.mjs";

/** Returns the lines of JSON, with highlighted names, strings and other values. */
export function highlighted(value) {
  return linesOf(JSON.stringify(value, null, 2), parts);
}

/** Returns the lines of code. `parts` returns the elements of a line. A line that wraps continues after its indentation. */
export function linesOf(code, parts = (line) => [line]) {
  const lines = code.split("\n");
  return lines.map((text, index) => {
    const line = element("span.json-line", {}, ...parts(text), index < lines.length - 1 ? "\n" : "");
    line.style.setProperty("--indent", `${Math.max(0, text.search(/\S/)) + 2}ch`);
    return line;
  });
}

function parts(text) {
  const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    parts.push(text.slice(end, match.index));
    const kind = match[2] ? "name" : match[1] ? "string" : "value";
    parts.push(element(`span.json-${kind}`, {}, match[1] ?? match[0]), match[2] ?? "");
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}
