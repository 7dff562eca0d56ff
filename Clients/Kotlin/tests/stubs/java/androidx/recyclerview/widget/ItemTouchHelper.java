package androidx.recyclerview.widget;

public class ItemTouchHelper {
    public static final int START = 16;
    public static final int END = 32;

    public abstract static class Callback {}

    public abstract static class SimpleCallback extends Callback {
        private final int swipeDirs;

        public SimpleCallback(int dragDirs, int swipeDirs) { this.swipeDirs = swipeDirs; }

        public int getSwipeDirs(RecyclerView view, RecyclerView.ViewHolder holder) { return swipeDirs; }

        public abstract boolean onMove(RecyclerView view, RecyclerView.ViewHolder holder, RecyclerView.ViewHolder target);

        public abstract void onSwiped(RecyclerView.ViewHolder holder, int direction);
    }

    private final SimpleCallback callback;
    private RecyclerView view;

    public ItemTouchHelper(Callback callback) { this.callback = (SimpleCallback) callback; }

    public void attachToRecyclerView(RecyclerView view) {
        if (this.view != null) this.view.helpers().remove(this);
        this.view = view;
        if (view != null) view.helpers().add(this);
    }

    /** Swipes a row. Returns false if the row cannot be swiped. */
    public boolean swipe(RecyclerView.ViewHolder holder) {
        if (callback.getSwipeDirs(view, holder) == 0) return false;
        callback.onSwiped(holder, START);
        return true;
    }
}
