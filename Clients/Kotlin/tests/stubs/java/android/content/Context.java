package android.content;

import android.content.res.Resources;

/** An environment of an app. Tests set the configuration of its resources. */
public class Context {
    private final Resources resources = new Resources();

    /** The intents that were started. */
    public final java.util.List<Intent> started = new java.util.ArrayList<>();

    public Resources getResources() { return resources; }

    public java.io.File getFilesDir() { return new java.io.File("files"); }

    public void startActivity(Intent intent) { started.add(intent); }
}
