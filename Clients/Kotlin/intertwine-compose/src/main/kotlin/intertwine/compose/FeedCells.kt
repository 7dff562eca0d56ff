package intertwine.compose

import androidx.compose.runtime.Composable
import intertwine.client.FeedCell

/** The app's composables by the identifiers of cells. */
public class FeedCells internal constructor() {
    private val contents = HashMap<String, @Composable (FeedCell) -> Unit>()

    /**
     * Shows cells with the given identifiers by a composable. A section header has one like any other cell.
     *
     * ```kotlin
     * FeedColumn(model) {
     *     cell("UserTableViewCell", "CircularUserTableViewCell") { cell -> Text(cell.bindings["username"]?.text.orEmpty()) }
     * }
     * ```
     */
    public fun cell(vararg identifiers: String, content: @Composable (cell: FeedCell) -> Unit) {
        for (identifier in identifiers) contents[identifier] = content
    }

    internal fun content(cell: FeedCell): (@Composable (FeedCell) -> Unit)? = cell.identifier?.let { contents[it] }
}
