// A decoder of placeholder images: the pixels of a ThumbHash, which a binding has as `placeholder` in base64.

/** The number of pixels of the longer side. */
const side = 32;

/** A reader of bits, lowest bit first. */
class Bits {
  #bytes;
  #position = 0;

  constructor(bytes) {
    this.#bytes = bytes;
  }

  next(count) {
    let value = 0;
    for (let bit = 0; bit < count; bit += 1, this.#position += 1) {
      value |= ((this.#bytes[this.#position >> 3] >> (this.#position & 7)) & 1) << bit;
    }
    return value;
  }
}

/** Reads the cosine coefficients of one channel. */
function channel(bits, across, down, scale) {
  const terms = [];
  for (let y = 0; y < down; y += 1) {
    for (let x = y > 0 ? 0 : 1; x * down < across * (down - y); x += 1) terms.push({ x, y, weight: (bits.next(4) / 7.5 - 1) * scale });
  }
  return terms;
}

/** Returns `{ width, height, pixels }`, with the pixels as red, green, blue and alpha; null if the text is not a ThumbHash. */
export function placeholderPixels(text) {
  let bytes;
  try {
    bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
  if (bytes.length < 5 || bytes.length > 40) return null;
  const bits = new Bits(bytes);
  const means = [bits.next(6) / 63, bits.next(6) / 31.5 - 1, bits.next(6) / 31.5 - 1];
  const lightScale = bits.next(5) / 31;
  const hasAlpha = bits.next(1) === 1;
  const count = bits.next(3);
  const scales = [bits.next(6) / 63, bits.next(6) / 63];
  const isLandscape = bits.next(1) === 1;
  const maxTerms = hasAlpha ? 5 : 7;
  const [across, down] = isLandscape ? [maxTerms, count] : [count, maxTerms];
  const alphaMean = hasAlpha ? bits.next(4) / 15 : 1;
  const alphaScale = hasAlpha ? bits.next(4) / 15 : 0;
  const light = channel(bits, Math.max(3, across), Math.max(3, down), lightScale);
  const colours = scales.map((scale) => channel(bits, 3, 3, scale * 1.25));
  const alpha = hasAlpha ? channel(bits, 5, 5, alphaScale) : [];

  const ratio = across / down;
  const width = Math.max(1, Math.round(ratio > 1 ? side : side * ratio));
  const height = Math.max(1, Math.round(ratio > 1 ? side / ratio : side));
  const pixels = new Uint8ClampedArray(width * height * 4);
  const cosine = (length, term) => (_, position) => Math.cos((Math.PI / length) * (position + 0.5) * term);
  const cosines = (length) => Array.from({ length: 7 }, (_, term) => Float64Array.from({ length }, cosine(length, term)));
  const [alongX, alongY] = [cosines(width), cosines(height)];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (mean, terms) => terms.reduce((sum, term) => sum + term.weight * alongX[term.x][x] * alongY[term.y][y] * 2, mean);
      const [l, p, q] = [at(means[0], light), at(means[1], colours[0]), at(means[2], colours[1])];
      const blue = l - (2 / 3) * p;
      const red = (3 * l - blue + q) / 2;
      pixels.set([red * 255, (red - q) * 255, blue * 255, at(alphaMean, alpha) * 255], (y * width + x) * 4);
    }
  }
  return { width, height, pixels };
}
