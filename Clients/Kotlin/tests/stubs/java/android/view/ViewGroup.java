package android.view;

import android.content.Context;

public abstract class ViewGroup extends View implements ViewParent {
    public static class LayoutParams {
        public static final int MATCH_PARENT = -1;
        public static final int WRAP_CONTENT = -2;

        public int width;
        public int height;

        public LayoutParams(int width, int height) {
            this.width = width;
            this.height = height;
        }
    }

    private final java.util.List<View> children = new java.util.ArrayList<>();

    public ViewGroup(Context context) { super(context); }

    public void addView(View child) {
        if (child.parent != null) throw new IllegalStateException("The view has a parent.");
        child.parent = this;
        children.add(child);
    }

    public void addView(View child, LayoutParams params) {
        child.setLayoutParams(params);
        addView(child);
    }

    public void removeView(View child) {
        if (children.remove(child)) child.parent = null;
    }

    public int getChildCount() { return children.size(); }

    public View getChildAt(int index) { return index >= 0 && index < children.size() ? children.get(index) : null; }
}
