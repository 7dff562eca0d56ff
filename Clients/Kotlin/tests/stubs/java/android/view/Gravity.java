package android.view;

public class Gravity {
    public static final int TOP = 48;
    public static final int CENTER = 17;
    public static final int CENTER_HORIZONTAL = 1;
}
