package android.graphics;

public class BitmapFactory {
    /** Decodes everything but an empty text, which is no picture. */
    public static Bitmap decodeByteArray(byte[] data, int offset, int length) {
        return length == 0 ? null : new Bitmap(java.util.Arrays.copyOfRange(data, offset, offset + length), 1, 1);
    }
}
