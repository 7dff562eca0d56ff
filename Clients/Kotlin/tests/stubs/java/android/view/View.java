package android.view;

import android.content.Context;

public class View {
    public static final int VISIBLE = 0;
    public static final int INVISIBLE = 4;
    public static final int GONE = 8;
    public static final int ACCESSIBILITY_LIVE_REGION_POLITE = 1;
    public static final int IMPORTANT_FOR_ACCESSIBILITY_YES = 1;
    public static final int IMPORTANT_FOR_ACCESSIBILITY_NO = 2;

    public interface OnClickListener { void onClick(View view); }

    public interface OnLongClickListener { boolean onLongClick(View view); }

    public interface OnLayoutChangeListener {
        void onLayoutChange(
            View view, int left, int top, int right, int bottom, int oldLeft, int oldTop, int oldRight, int oldBottom);
    }

    private final Context context;
    ViewGroup parent;
    private ViewGroup.LayoutParams layoutParams;
    private CharSequence contentDescription;
    private OnClickListener onClick;
    private OnLongClickListener onLongClick;
    private boolean clickable;
    private boolean longClickable;
    private int visibility = VISIBLE;
    private int minimumHeight;
    private int importance;
    private int backgroundColor;
    private int left, top, right, bottom;
    private Object tag;
    private final java.util.List<OnLayoutChangeListener> layoutListeners = new java.util.ArrayList<>();

    /** The texts that were announced to a screen reader. */
    public final java.util.List<String> announced = new java.util.ArrayList<>();

    public View(Context context) { this.context = context; }

    public final Context getContext() { return context; }

    public android.content.res.Resources getResources() { return context.getResources(); }

    public final ViewParent getParent() { return parent; }

    public ViewGroup.LayoutParams getLayoutParams() { return layoutParams; }

    public void setLayoutParams(ViewGroup.LayoutParams params) { layoutParams = params; }

    public CharSequence getContentDescription() { return contentDescription; }

    public void setContentDescription(CharSequence text) { contentDescription = text; }

    public void setImportantForAccessibility(int mode) { importance = mode; }

    public int getImportantForAccessibility() { return importance; }

    public void setOnClickListener(OnClickListener listener) {
        clickable = true;
        onClick = listener;
    }

    public void setOnLongClickListener(OnLongClickListener listener) {
        longClickable = true;
        onLongClick = listener;
    }

    public boolean isClickable() { return clickable; }

    public void setClickable(boolean clickable) { this.clickable = clickable; }

    public boolean isLongClickable() { return longClickable; }

    public void setLongClickable(boolean clickable) { longClickable = clickable; }

    public boolean performClick() {
        if (onClick == null) return false;
        onClick.onClick(this);
        return true;
    }

    public boolean performLongClick() { return onLongClick != null && onLongClick.onLongClick(this); }

    public int getVisibility() { return visibility; }

    public void setVisibility(int visibility) { this.visibility = visibility; }

    public int getMinimumHeight() { return minimumHeight; }

    public void setMinimumHeight(int height) { minimumHeight = height; }

    public void setBackgroundColor(int color) { backgroundColor = color; }

    public int getBackgroundColor() { return backgroundColor; }

    public void setPadding(int left, int top, int right, int bottom) {}

    public Object getTag() { return tag; }

    public void setTag(Object tag) { this.tag = tag; }

    public final void layout(int left, int top, int right, int bottom) {
        int[] old = {this.left, this.top, this.right, this.bottom};
        this.left = left;
        this.top = top;
        this.right = right;
        this.bottom = bottom;
        for (OnLayoutChangeListener listener : new java.util.ArrayList<>(layoutListeners))
            listener.onLayoutChange(this, left, top, right, bottom, old[0], old[1], old[2], old[3]);
    }

    public final int getLeft() { return left; }

    public final int getTop() { return top; }

    public final int getRight() { return right; }

    public final int getBottom() { return bottom; }

    public final int getWidth() { return right - left; }

    public final int getHeight() { return bottom - top; }

    public void addOnLayoutChangeListener(OnLayoutChangeListener listener) { layoutListeners.add(listener); }

    public void removeOnLayoutChangeListener(OnLayoutChangeListener listener) { layoutListeners.remove(listener); }

    public void announceForAccessibility(CharSequence text) { announced.add(text.toString()); }

    public boolean post(Runnable action) {
        action.run();
        return true;
    }
}
