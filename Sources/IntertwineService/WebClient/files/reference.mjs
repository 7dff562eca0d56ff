// The API reference: a readable form of the OpenAPI description of the service.
import { element } from "./client/element/elements.mjs";
import "./documents.mjs";

const methods = ["get", "post", "put", "patch", "delete"];

/** Returns the object that a reference (`$ref`) points to, or the value itself. */
function resolved(value, description) {
  if (typeof value?.$ref !== "string" || !value.$ref.startsWith("#/")) return value ?? {};
  const path = value.$ref.slice(2).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return path.reduce((object, part) => object?.[part], description) ?? {};
}

/** Returns the type of a schema in words, such as "array of Cell". */
function typeName(schema = {}) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.type === "array") return `array of ${typeName(schema.items)}`;
  if (schema.enum) return schema.enum.map(String).join(", ");
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return alternatives.map(typeName).join(" or ");
  return [schema.type].flat().filter(Boolean).join(" or ") || "any value";
}

/** Returns a text of the description, with code between backticks as such. */
function prose(text = "") {
  return text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? element("code", {}, part) : part));
}

function term(name, details, text) {
  return [element("dt", {}, name, ...(details ? [element("span.quiet", {}, ` ${details}`)] : [])), element("dd", {}, ...prose(text))];
}

function section(title, ...content) {
  return content.length === 0 ? [] : [element("h4", {}, title), ...content];
}

/** Returns the first example of a media type as text, or null. */
function exampleOf({ example, examples }, description) {
  const found = example ?? resolved(Object.values(examples ?? {})[0], description).value;
  return found === undefined ? null : typeof found === "string" ? found : JSON.stringify(found, null, 2);
}

function content(media = {}, description) {
  return Object.entries(media).flatMap(([type, value]) => {
    const example = exampleOf(value, description);
    return [element("p.quiet", {}, `${type}: ${typeName(value.schema)}`), ...(example === null ? [] : [element("pre", {}, example)])];
  });
}

/** Returns the details of an operation. They are made when the operation is opened. */
function body(operation, parameters, description) {
  const asked = [...parameters, ...(operation.parameters ?? [])].map((one) => resolved(one, description));
  const terms = asked.flatMap(({ name, in: where, required, schema, description: text }) =>
    term(name, `${where}, ${typeName(schema)}${required ? ", required" : ""}`, text));
  const request = resolved(operation.requestBody, description);
  const responses = Object.entries(operation.responses ?? {}).flatMap(([status, response]) => {
    const { description: text, content: media } = resolved(response, description);
    const [name, value] = term(status, "", text);
    value.append(...content(media, description));
    return [name, value];
  });
  return element("div.operation-body", {},
    element("p", {}, ...prose(operation.description)),
    ...section("Parameters", ...(terms.length > 0 ? [element("dl", {}, ...terms)] : [])),
    ...section("Request body", ...content(request.content, description)),
    ...section("Responses", ...(responses.length > 0 ? [element("dl", {}, ...responses)] : [])));
}

function operationElement(method, path, operation, parameters, description) {
  const details = element("details.operation", { id: operation.operationId ?? null },
    element("summary", {}, element("span.method", {}, method.toUpperCase()), element("span.path", {}, path), element("span.summary", {}, ...prose(operation.summary))));
  details.addEventListener("toggle", () => details.append(body(operation, parameters, description)), { once: true });
  return details;
}

function show(description, container) {
  const groups = new Map();
  for (const [path, { parameters = [], ...operations }] of Object.entries(description.paths)) {
    for (const method of methods.filter((one) => operations[one])) {
      const [tag = "Other"] = operations[method].tags ?? [];
      groups.set(tag, [...(groups.get(tag) ?? []), operationElement(method, path, operations[method], parameters, description)]);
    }
  }
  const id = (tag) => `part-${tag.replaceAll(" ", "-")}`;
  document.getElementById("parts").replaceChildren(...Array.from(groups.keys(), (tag) => element("a", { href: `#${id(tag)}` }, tag)));
  container.replaceChildren(...Array.from(groups, ([tag, operations]) => element("section", { id: id(tag) }, element("h3", {}, tag), ...operations)));
}

/** Hides the operations without a text. */
function filter(container, text) {
  for (const group of container.children) {
    for (const operation of group.querySelectorAll(".operation")) {
      operation.hidden = !operation.firstElementChild.textContent.toLowerCase().includes(text.toLowerCase());
    }
    group.hidden = group.querySelector(".operation:not([hidden])") === null;
  }
}

const container = document.getElementById("operations");
try {
  const response = await fetch("../openapi.json");
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const description = await response.json();
  document.getElementById("version").textContent = `Version ${description.info.version}`;
  show(description, container);
  document.getElementById("filter").addEventListener("input", ({ target }) => filter(container, target.value));
  const linked = location.hash === "" ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (linked?.matches(".operation")) linked.open = true;
  linked?.scrollIntoView();
} catch (error) {
  container.replaceChildren(element("p", { role: "alert" }, `The description cannot be loaded. ${error.message}`));
}
container.ariaBusy = "false";
