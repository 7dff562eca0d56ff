package androidx.core.view.accessibility;

import android.view.View;

public interface AccessibilityViewCommand {
    abstract class CommandArguments {}

    boolean perform(View view, CommandArguments arguments);
}
