package androidx.recyclerview.widget;

import android.content.Context;
import android.util.AttributeSet;
import android.view.View;
import android.view.ViewGroup;
import java.util.ArrayList;
import java.util.List;

/** A list of views. This one lays out as many rows as tests request, and applies the notifications of its adapter to them strictly. */
public class RecyclerView extends ViewGroup {
    public static final int NO_POSITION = -1;

    public abstract static class ViewHolder {
        public final View itemView;
        int position = NO_POSITION;
        int viewType;

        public ViewHolder(View itemView) { this.itemView = itemView; }

        public final int getBindingAdapterPosition() { return position; }

        public final int getItemViewType() { return viewType; }
    }

    public abstract static class AdapterDataObserver {
        public void onChanged() {}

        public void onItemRangeChanged(int start, int count, Object payload) {}

        public void onItemRangeInserted(int start, int count) {}

        public void onItemRangeRemoved(int start, int count) {}

        public void onItemRangeMoved(int from, int to, int count) {}
    }

    public abstract static class Adapter<VH extends ViewHolder> {
        public enum StateRestorationPolicy { ALLOW, PREVENT_WHEN_EMPTY, PREVENT }

        private final List<AdapterDataObserver> observers = new ArrayList<>();
        private boolean hasStableIds;
        private StateRestorationPolicy policy = StateRestorationPolicy.ALLOW;

        public abstract VH onCreateViewHolder(ViewGroup parent, int viewType);

        public abstract void onBindViewHolder(VH holder, int position);

        public void onBindViewHolder(VH holder, int position, List<Object> payloads) { onBindViewHolder(holder, position); }

        public abstract int getItemCount();

        public int getItemViewType(int position) { return 0; }

        public long getItemId(int position) { return -1; }

        public void setHasStableIds(boolean hasStableIds) { this.hasStableIds = hasStableIds; }

        public final boolean hasStableIds() { return hasStableIds; }

        public void onViewRecycled(VH holder) {}

        public void onAttachedToRecyclerView(RecyclerView view) {}

        public void onDetachedFromRecyclerView(RecyclerView view) {}

        public void setStateRestorationPolicy(StateRestorationPolicy policy) { this.policy = policy; }

        public final StateRestorationPolicy getStateRestorationPolicy() { return policy; }

        public void registerAdapterDataObserver(AdapterDataObserver observer) { observers.add(observer); }

        public void unregisterAdapterDataObserver(AdapterDataObserver observer) { observers.remove(observer); }

        public final void notifyDataSetChanged() {
            for (AdapterDataObserver observer : observers) observer.onChanged();
        }

        public final void notifyItemRangeChanged(int start, int count, Object payload) {
            for (AdapterDataObserver observer : observers) observer.onItemRangeChanged(start, count, payload);
        }

        public final void notifyItemChanged(int position, Object payload) { notifyItemRangeChanged(position, 1, payload); }

        public final void notifyItemChanged(int position) { notifyItemRangeChanged(position, 1, null); }

        public final void notifyItemRangeInserted(int start, int count) {
            for (AdapterDataObserver observer : observers) observer.onItemRangeInserted(start, count);
        }

        public final void notifyItemInserted(int position) { notifyItemRangeInserted(position, 1); }

        public final void notifyItemRangeRemoved(int start, int count) {
            for (AdapterDataObserver observer : observers) observer.onItemRangeRemoved(start, count);
        }

        public final void notifyItemRemoved(int position) { notifyItemRangeRemoved(position, 1); }

        public final void notifyItemMoved(int from, int to) {
            for (AdapterDataObserver observer : observers) observer.onItemRangeMoved(from, to, 1);
        }
    }

    public abstract static class LayoutManager {}

    public abstract static class OnScrollListener {
        public void onScrolled(RecyclerView view, int dx, int dy) {}
    }

    private Adapter<ViewHolder> adapter;
    private LayoutManager layoutManager;
    private final List<OnScrollListener> scrollListeners = new ArrayList<>();
    private final List<ItemTouchHelper> helpers = new ArrayList<>();
    private final List<ViewHolder> holders = new ArrayList<>();
    /** The position that was last scrolled to. */
    public int scrolledTo = NO_POSITION;

    public RecyclerView(Context context) { super(context); }

    public RecyclerView(Context context, AttributeSet attributes) { super(context); }

    @SuppressWarnings("unchecked")
    public void setAdapter(Adapter<?> adapter) {
        clear();
        if (this.adapter != null) this.adapter.onDetachedFromRecyclerView(this);
        this.adapter = (Adapter<ViewHolder>) adapter;
        if (adapter != null) adapter.onAttachedToRecyclerView(this);
    }

    public Adapter<?> getAdapter() { return adapter; }

    public void setLayoutManager(LayoutManager manager) { layoutManager = manager; }

    public LayoutManager getLayoutManager() { return layoutManager; }

    public void addOnScrollListener(OnScrollListener listener) { scrollListeners.add(listener); }

    public void removeOnScrollListener(OnScrollListener listener) { scrollListeners.remove(listener); }

    public ViewHolder getChildViewHolder(View child) {
        for (ViewHolder holder : holders) if (holder.itemView == child) return holder;
        return null;
    }

    public void scrollToPosition(int position) { scrolledTo = position; }

    public void setHasFixedSize(boolean isFixed) {}

    /** Lays out the rows from `first` on, each as tall as its minimum height, the first one at `top`, in a window of `height`. */
    public void show(int first, int top, int height) {
        clear();
        for (int position = first; position < adapter.getItemCount() && top < height; position++) {
            int type = adapter.getItemViewType(position);
            ViewHolder holder = adapter.onCreateViewHolder(this, type);
            holder.viewType = type;
            holder.position = position;
            adapter.onBindViewHolder(holder, position, new ArrayList<>());
            holders.add(holder);
            addView(holder.itemView);
            int end = top + Math.max(1, holder.itemView.getMinimumHeight());
            holder.itemView.layout(0, top, 100, end);
            top = end;
        }
        layout(0, 0, 100, height);
        for (OnScrollListener listener : new ArrayList<>(scrollListeners)) listener.onScrolled(this, 0, 0);
    }

    /** Returns the holders of the rows on the screen. */
    public List<ViewHolder> shown() { return holders; }

    public List<ItemTouchHelper> helpers() { return helpers; }

    private void clear() {
        for (ViewHolder holder : holders) {
            removeView(holder.itemView);
            if (adapter != null) adapter.onViewRecycled(holder);
        }
        holders.clear();
    }
}
