package androidx.compose.material3

import androidx.compose.foundation.layout.ColumnScope
import androidx.compose.runtime.Composable
import androidx.compose.runtime.Composition
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.Color
import kotlinx.coroutines.CompletableDeferred

class TextStyle(val name: String)

class Typography {
    val labelSmall = TextStyle("labelSmall")
    val titleMedium = TextStyle("titleMedium")
}

class ColorScheme {
    val surfaceVariant = Color(0x111111)
    val onSurfaceVariant = Color(0x222222)
}

object MaterialTheme {
    val typography: Typography @Composable get() = Typography()
    val colorScheme: ColorScheme @Composable get() = ColorScheme()
}

@Composable
fun Text(text: String, modifier: Modifier = Modifier, color: Color = Color(0), style: TextStyle = TextStyle("body")) =
    Composition.now().node("Text", mapOf("text" to text, "modifier" to modifier, "style" to style.name)) {}

@Composable
fun Button(onClick: () -> Unit, modifier: Modifier = Modifier, content: @Composable () -> Unit) =
    Composition.now().node("Button", mapOf("onClick" to onClick, "modifier" to modifier), content = content)

@Composable
fun TextButton(onClick: () -> Unit, modifier: Modifier = Modifier, content: @Composable () -> Unit) =
    Composition.now().node("Button", mapOf("onClick" to onClick, "modifier" to modifier), content = content)

@Composable fun CircularProgressIndicator(modifier: Modifier = Modifier) = Composition.now().node("Progress", mapOf("modifier" to modifier)) {}

@Composable
fun DropdownMenu(expanded: Boolean, onDismissRequest: () -> Unit, content: @Composable ColumnScope.() -> Unit) {
    if (expanded) Composition.now().node("Menu", emptyMap()) { object : ColumnScope {}.content() }
}

@Composable
fun DropdownMenuItem(text: @Composable () -> Unit, onClick: () -> Unit) =
    Composition.now().node("MenuItem", mapOf("onClick" to onClick), content = text)

enum class SnackbarDuration {
    Short,
    Long,
    Indefinite,
}

enum class SnackbarResult {
    Dismissed,
    ActionPerformed,
}

/** The snack bars of a screen. Tests read the current one, and end it. */
class SnackbarHostState {
    var message: String? = null
    var action: String? = null
    private var result: CompletableDeferred<SnackbarResult>? = null

    suspend fun showSnackbar(
        message: String,
        actionLabel: String? = null,
        withDismissAction: Boolean = false,
        duration: SnackbarDuration = if (actionLabel == null) SnackbarDuration.Short else SnackbarDuration.Indefinite,
    ): SnackbarResult {
        val result = CompletableDeferred<SnackbarResult>()
        this.message = message
        action = actionLabel
        this.result = result
        try {
            return result.await()
        } finally {
            if (this.result === result) this.message = null
        }
    }

    fun end(with: SnackbarResult) {
        result?.complete(with)
    }
}

@Composable
fun SnackbarHost(hostState: SnackbarHostState, modifier: Modifier = Modifier) =
    Composition.now().node("SnackbarHost", mapOf("state" to hostState, "modifier" to modifier)) {}
