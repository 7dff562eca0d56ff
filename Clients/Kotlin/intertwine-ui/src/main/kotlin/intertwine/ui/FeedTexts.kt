package intertwine.ui

import intertwine.client.CellAction
import intertwine.client.CellSlot
import intertwine.client.FeedCell
import intertwine.client.FeedProblem

/**
 * The texts of the views, in English. An app replaces them with its string resources.
 *
 * ```kotlin
 * val texts = FeedTexts(undo = "Annuler", new = { count -> "$count nouveaux" })
 * ```
 *
 * @property dismissed the message after a dismissal.
 * @property queued the message after a gesture that waits for the server.
 * @property undo the title of the undo button.
 * @property retry the title of the button that loads again after a problem.
 * @property empty the message of an empty feed.
 * @property advertisement the label of an ad, if the server sends none.
 * @property placeholder the description of a cell without a view.
 * @property dismiss the title of the dismissal of a cell.
 * @property more the description of the long press that opens the menu of a cell.
 * @property new returns the title of the button for new cells.
 * @property problem returns the message of a problem.
 */
public class FeedTexts(
    public val dismissed: String = "Dismissed",
    public val queued: String = "Offline. It will be sent later.",
    public val undo: String = "Undo",
    public val retry: String = "Try again",
    public val empty: String = "Nothing here yet",
    public val advertisement: String = "Advertisement",
    public val placeholder: String = "Content that this version cannot show",
    public val dismiss: String = "Dismiss",
    public val more: String = "More",
    public val new: (count: Int) -> String = { count -> "$count new" },
    public val problem: (FeedProblem) -> String = ::englishMessage,
) {
    /** Returns the label of an ad, with its advertiser if the server names one; null for other cells. */
    public fun disclosure(cell: FeedCell): String? {
        val disclosure = cell.disclosure ?: return if (cell.isAdvertisement) advertisement else null
        return listOfNotNull(disclosure.label, disclosure.advertiser).joinToString(" · ")
    }

    /** Returns the slots that the menu of a cell offers, with their titles: the dismissal, and each with a label of the server. */
    public fun menu(cell: FeedCell): List<Pair<CellSlot, String>> =
        cell.actions.entries
            .filter { (_, action) -> action.kind is CellAction.Kind.Request && action.input == null }
            .mapNotNull { (slot, action) -> (action.label ?: dismiss.takeIf { slot == CellSlot.Dismissal })?.let { slot to it } }
            .sortedBy { (slot, _) -> slot.name }
}

private fun englishMessage(problem: FeedProblem): String =
    when (problem) {
        is FeedProblem.Refused -> problem.details.detail ?: problem.details.title
        is FeedProblem.Unreachable, is FeedProblem.Unavailable -> "The server is not available."
        is FeedProblem.SignInRequired, is FeedProblem.Unauthorized -> "Sign in to continue."
        is FeedProblem.UndoExpired, is FeedProblem.CannotBeUndone -> "It can no longer be undone."
        else -> "Something went wrong."
    }
