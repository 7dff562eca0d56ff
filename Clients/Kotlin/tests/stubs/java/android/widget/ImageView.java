package android.widget;

import android.content.Context;
import android.graphics.Bitmap;
import android.view.View;

public class ImageView extends View {
    /** The picture, or null. */
    public Bitmap bitmap;

    public ImageView(Context context) { super(context); }

    public void setImageBitmap(Bitmap bitmap) { this.bitmap = bitmap; }
}
