package examples

import intertwine.client.*
import java.io.File
import kotlinx.coroutines.CoroutineScope

/** What the examples in the documentation refer to. The classes of Android are stubs of the members that they use. */
interface Context {
    val client: FeedClient
    val list: FeedList
    val actions: Actions
    val cell: FeedCell
    val binding: CellBinding
    val scope: CoroutineScope
    val registry: CellRegistry<TextView>
    val context: AndroidContext
    val resources: Resources
    val layoutManager: LayoutManager
    val label: TextView
    val button: TextView

    fun show(value: Any?)

    fun open(url: String)

    fun openLogin(url: String?)

    suspend fun signIn()
}

class AndroidContext(val filesDir: File)

class TextView(context: AndroidContext) {
    var text: String? = null
    var isSelected = false
    var isVisible = true
}

class Resources(val displayMetrics: DisplayMetrics, val configuration: Configuration)

class DisplayMetrics(val density: Float)

class Configuration(val fontScale: Float)

interface LayoutManager {
    fun findFirstVisibleItemPosition(): Int

    fun findLastVisibleItemPosition(): Int
}

class Bitmap {
    enum class Config { ARGB_8888 }

    companion object {
        fun createBitmap(colors: IntArray, width: Int, height: Int, config: Config): Bitmap = Bitmap()
    }
}

object BitmapFactory {
    fun decodeByteArray(bytes: ByteArray, offset: Int, length: Int): Bitmap? = null
}
