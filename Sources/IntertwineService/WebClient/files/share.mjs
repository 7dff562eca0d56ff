// The texts of the playground in a link, and over a reload of the page.

const key = "intertwine.playground";

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** Returns the fragment of a link with the texts. No server receives a fragment. */
export async function fragmentOf(texts) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(texts)), new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  return `#share=${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Returns the texts of a fragment, or null. */
export async function textsOf(fragment) {
  const packed = new URLSearchParams(fragment.slice(1)).get("share");
  if (packed === null) return null;
  try {
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    return valid(JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")))));
  } catch {
    return null;
  }
}

/** Keeps the texts in this tab. */
export function keep(texts) {
  try {
    sessionStorage.setItem(key, JSON.stringify(texts));
  } catch {
    // Without storage, a reload begins with the example.
  }
}

/** Returns the texts of this tab, or null. */
export function kept() {
  try {
    return valid(JSON.parse(sessionStorage.getItem(key)));
  } catch {
    return null;
  }
}

function valid(texts) {
  return typeof texts?.declaration === "string" && typeof texts.item === "string" ? { declaration: texts.declaration, item: texts.item } : null;
}
