package androidx.core.view;

import android.view.View;
import androidx.core.view.accessibility.AccessibilityViewCommand;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;

/** Accessibility of views; this one keeps it for tests. */
public class ViewCompat {
    public static final class Action {
        public final String label;
        public final AccessibilityViewCommand command;

        Action(String label, AccessibilityViewCommand command) {
            this.label = label;
            this.command = command;
        }
    }

    private static final WeakHashMap<View, Map<Integer, Action>> actions = new WeakHashMap<>();
    private static final WeakHashMap<View, Boolean> headings = new WeakHashMap<>();
    private static int count;

    /** The actions of a view by id. */
    public static Map<Integer, Action> actions(View view) { return actions.computeIfAbsent(view, key -> new LinkedHashMap<>()); }

    public static boolean isAccessibilityHeading(View view) { return headings.getOrDefault(view, false); }

    public static void setAccessibilityHeading(View view, boolean isHeading) { headings.put(view, isHeading); }

    public static void setScreenReaderFocusable(View view, boolean isFocusable) {}

    public static void setAccessibilityLiveRegion(View view, int mode) {}

    public static int addAccessibilityAction(View view, CharSequence label, AccessibilityViewCommand command) {
        count += 1;
        actions(view).put(count, new Action(label.toString(), command));
        return count;
    }

    public static void removeAccessibilityAction(View view, int id) { actions(view).remove(id); }
}
