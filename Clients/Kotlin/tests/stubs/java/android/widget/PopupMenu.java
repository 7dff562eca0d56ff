package android.widget;

import android.content.Context;
import android.view.Menu;
import android.view.MenuItem;
import android.view.View;

/** A menu at a view; this one keeps the menus that were shown. */
public class PopupMenu {
    public static final java.util.List<PopupMenu> shown = new java.util.ArrayList<>();

    /** The entries by title, in order. */
    public final java.util.Map<String, MenuItem.OnMenuItemClickListener> entries = new java.util.LinkedHashMap<>();

    public PopupMenu(Context context, View anchor) {}

    public Menu getMenu() {
        return title -> new MenuItem() {
            @Override
            public MenuItem setOnMenuItemClickListener(OnMenuItemClickListener listener) {
                entries.put(title.toString(), listener);
                return this;
            }
        };
    }

    public void show() { shown.add(this); }
}
