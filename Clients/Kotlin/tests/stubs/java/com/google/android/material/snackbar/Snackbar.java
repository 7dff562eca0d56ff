package com.google.android.material.snackbar;

import android.view.View;

/** A message at the lower edge; this one keeps the messages that were shown. */
public class Snackbar {
    public static final int LENGTH_LONG = 0;

    public static class Callback {
        public void onDismissed(Snackbar snackbar, int event) {}
    }

    /** The snack bar on the screen, or null. */
    public static Snackbar current;

    public final String text;
    public String action;
    private View.OnClickListener listener;
    private final java.util.List<Callback> callbacks = new java.util.ArrayList<>();

    private Snackbar(String text) { this.text = text; }

    public static Snackbar make(View view, CharSequence text, int duration) { return new Snackbar(text.toString()); }

    public Snackbar setAction(CharSequence text, View.OnClickListener listener) {
        this.action = text.toString();
        this.listener = listener;
        return this;
    }

    public Snackbar addCallback(Callback callback) {
        callbacks.add(callback);
        return this;
    }

    public void show() {
        if (current != null) current.dismiss();
        current = this;
    }

    public void dismiss() {
        if (current != this) return;
        current = null;
        for (Callback callback : callbacks) callback.onDismissed(this, 0);
    }

    /** Taps the action. */
    public void performAction(View view) {
        listener.onClick(view);
        dismiss();
    }
}
