package android.graphics;

/** A picture; this one keeps only the source from which it was made. */
public class Bitmap {
    public enum Config { ARGB_8888 }

    /** The encoded bytes, or null. */
    public final byte[] encoded;
    private final int width;
    private final int height;

    Bitmap(byte[] encoded, int width, int height) {
        this.encoded = encoded;
        this.width = width;
        this.height = height;
    }

    public static Bitmap createBitmap(int[] colors, int width, int height, Config config) {
        if (colors.length < width * height) throw new ArrayIndexOutOfBoundsException();
        return new Bitmap(null, width, height);
    }

    public int getWidth() { return width; }

    public int getHeight() { return height; }
}
