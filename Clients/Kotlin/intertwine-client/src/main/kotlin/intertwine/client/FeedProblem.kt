package intertwine.client

import kotlin.time.Duration
import kotlinx.serialization.json.JsonElement

/**
 * The reason why a request failed. All functions of the client that fail throw one of these; a cancelled coroutine gets its
 * `CancellationException`.
 *
 * ```kotlin
 * try {
 *     list.reload()
 * } catch (problem: FeedProblem) {
 *     when (problem) {
 *         is FeedProblem.Refused -> show(problem.details.title)
 *         is FeedProblem.SignInRequired -> show("Sign in to see this feed.")
 *         else -> if (problem.isRetryable) show("Try again.")
 *     }
 * }
 * ```
 */
public sealed class FeedProblem(message: String, cause: Throwable? = null) : Exception(message, cause) {
    /** No attempt got a response. */
    public class Unreachable(reason: String, cause: Throwable? = null) : FeedProblem(reason, cause)

    /** The server cannot respond now. [retryAfter] is the delay that it requested, if any. */
    public class Unavailable(public val details: ProblemDetails, public val retryAfter: Duration?) : FeedProblem(details.title)

    /** The server refused the request. A retry would not help. */
    public class Refused(public val details: ProblemDetails) : FeedProblem(details.title)

    /**
     * Something in front of the server responded with a redirect or a web page, such as the login page of a proxy or of a network. Nothing was
     * performed. [location] is the target of the redirect, which the app can open in a browser.
     */
    public class SignInRequired(public val status: Int, public val location: String?) :
        FeedProblem("The response with status $status is not from the service.")

    /** The response is truncated, too long, or has another form than requested. */
    public class InvalidResponse(reason: String) : FeedProblem(reason)

    /** The client cannot open this link: only http and https are supported. */
    public class InvalidLink(href: String) : FeedProblem("The link $href is invalid.")

    /** The function `authorize` of the client failed, for example because the viewer has signed out. */
    public class Unauthorized(cause: Throwable) : FeedProblem("The request cannot be authorized.", cause)

    /** The time limit of the undo has passed. */
    public class UndoExpired : FeedProblem("The undo has expired.")

    /** The server cannot undo the action. */
    public class CannotBeUndone : FeedProblem("The action cannot be undone.")

    /** The outbox has reached its maximum length. */
    public class OutboxIsFull : FeedProblem("The outbox is full.")

    /** True if an equal request may succeed later. */
    public val isRetryable: Boolean
        get() =
            when (this) {
                is Unreachable, is Unavailable, is InvalidResponse -> true
                // A page of a network disappears when the viewer has signed in or left the network.
                is SignInRequired -> true
                is Refused, is InvalidLink, is Unauthorized, is UndoExpired, is CannotBeUndone, is OutboxIsFull -> false
            }

    /** True if the viewer has to sign in before a request can succeed. */
    public val needsSignIn: Boolean
        get() =
            when (this) {
                is SignInRequired, is Unauthorized -> true
                is Refused -> details.status in SIGN_IN_STATUSES || details.status == 403 && (details.type == null || details.isType("viewer-required"))
                else -> false
            }

    /** True if a list with this problem cannot be followed any more: the viewer or the feed is refused, not the position in it. */
    internal val isFinal: Boolean
        get() =
            when (this) {
                is Refused -> details.status in SIGN_IN_STATUSES || details.status == 403 || details.status == 404
                is InvalidLink, is Unauthorized -> true
                is SignInRequired -> status in 300..399
                else -> false
            }

    private companion object {
        /** Unauthorized, Proxy and Network Authentication Required, and those of frameworks for an expired session. */
        val SIGN_IN_STATUSES = setOf(401, 407, 419, 440, 498, 511)
    }
}

/**
 * The server's description of a problem (RFC 9457).
 *
 * ```kotlin
 * val details = ProblemDetails(status = 403, title = "A viewer is required", type = "/problems/viewer-required")
 * details.isType("viewer-required") // true
 * ```
 *
 * @property status the HTTP status.
 * @property title the summary of this type of problem.
 * @property type a URI that identifies the type, such as `/problems/invalid-parameter`; null if the status is sufficient.
 * @property detail the explanation of this occurrence, for developers.
 * @property instance the id of the request, for the server's operators.
 * @property errors the invalid parameters and members of the body.
 * @property commands the outcomes of the commands, if one of them failed.
 */
public class ProblemDetails(
    public val status: Int,
    public val title: String,
    public val type: String? = null,
    public val detail: String? = null,
    public val instance: String? = null,
    public val errors: List<FieldError> = emptyList(),
    public val commands: List<CommandOutcome> = emptyList(),
) {
    /**
     * An invalid parameter, or an invalid member of the body.
     *
     * @property code the kind of error: `required`, `invalid`, `out-of-range`, or another code.
     * @property parameter the name of the parameter; null for a member of the body.
     * @property pointer the JSON pointer to the member of the body; null for a parameter.
     * @property detail the explanation of this error.
     */
    public class FieldError(public val code: String, public val parameter: String?, public val pointer: String?, public val detail: String?)

    override fun toString(): String = listOfNotNull("$status $title", detail, instance).joinToString(": ")

    /** Returns true if the problem has a type of the server with this name, such as `viewer-required`. */
    public fun isType(name: String): Boolean = type?.endsWith("/problems/$name") == true

    internal companion object {
        /** Reads the details from the body of a response if possible, and otherwise from its status. */
        fun of(response: HttpResponse): ProblemDetails = of(response.status, parseJson(response.body))

        fun of(status: Int, value: JsonElement?): ProblemDetails =
            ProblemDetails(
                status = status,
                title = value["title"].text ?: "The server answered $status",
                type = value["type"].text,
                detail = value["detail"].text,
                instance = value["instance"].text,
                errors = value["errors"].array?.mapNotNull(::fieldError).orEmpty(),
                commands = value["commands"].array?.mapNotNull { CommandOutcome.of(it) }.orEmpty(),
            )

        private fun fieldError(value: JsonElement): FieldError? {
            val code = value["code"].text ?: return null
            return FieldError(code, value["parameter"].text, value["pointer"].text, value["detail"].text)
        }
    }
}
