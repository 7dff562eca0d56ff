package android.view;

public interface MenuItem {
    interface OnMenuItemClickListener { boolean onMenuItemClick(MenuItem item); }

    MenuItem setOnMenuItemClickListener(OnMenuItemClickListener listener);
}
