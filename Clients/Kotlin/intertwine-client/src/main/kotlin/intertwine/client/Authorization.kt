package intertwine.client

import java.io.IOException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

/** The fields that authorize requests. Concurrent refreshes are one call of the function. */
internal class Authorization(private val authorize: suspend (Boolean) -> Map<String, String>) {
    class Fields(val values: Map<String, String>)

    private val mutex = Mutex()
    private var current: Fields? = null

    /** Returns the current fields, or newer ones than those that the server refused. */
    suspend fun fields(refused: Fields?): Fields = mutex.withLock {
        current?.takeIf { it !== refused } ?: Fields(call(refused != null)).also { current = it }
    }

    private suspend fun call(isRefresh: Boolean): Map<String, String> {
        current = null
        try {
            return authorize(isRefresh)
        } catch (error: CancellationException) {
            throw error
        } catch (error: IOException) {
            throw error
        } catch (error: Exception) {
            throw FeedProblem.Unauthorized(error)
        }
    }
}
