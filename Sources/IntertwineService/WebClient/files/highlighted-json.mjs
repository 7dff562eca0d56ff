// JSON with colours, for the inspector and the playground.
import { element } from "./client/element/elements.mjs";

/** Returns JSON with highlighted names, strings and other values. */
export function highlighted(value) {
  const text = JSON.stringify(value, null, 2);
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
