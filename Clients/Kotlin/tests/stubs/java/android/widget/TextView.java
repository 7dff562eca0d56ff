package android.widget;

import android.content.Context;
import android.view.View;

public class TextView extends View {
    private CharSequence text = "";

    public TextView(Context context) { super(context); }

    public CharSequence getText() { return text; }

    public void setText(CharSequence text) { this.text = text == null ? "" : text; }

    public void setTextSize(float scaledPixels) {}

    public float getTextSize() { return 0; }

    public void setGravity(int gravity) {}

    public int getGravity() { return 0; }
}
