/** An image element of a picture's bytes, once it can be shown. For browsers only. */
export async function decodedImage(bytes) {
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
