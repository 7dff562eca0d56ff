package android.view;

public interface Menu {
    MenuItem add(CharSequence title);
}
