/** Returns an image element for the bytes of an image, after decoding. For browsers only. */
export async function decodeImage(bytes) {
  const image = new Image();
  const url = URL.createObjectURL(bytes);
  image.alt = "";
  image.draggable = false;
  image.src = url;
  try {
    await image.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
  return image;
}
