package intertwine.client

import kotlinx.serialization.json.JsonElement

/** The changes of the pages that a client holds: the response of `/feed/changes`. Null stands for a reload. */
internal class FeedChanges(
    val removed: List<Removal>,
    val inserted: List<Placed>,
    val moved: List<Move>,
    val reconfigured: List<Placed>,
    val pages: List<Page>,
    val next: String?,
) {
    /** A removed cell, by its old index. */
    class Removal(val index: Int, val id: String)

    /** A cell with its new index. */
    class Placed(val index: Int, val cell: FeedCell)

    /** A moved cell, with its old and its new index. */
    class Move(val from: Int, val to: Int, val id: String)

    /** A page of the new list. */
    class Page(val count: Int, val syncToken: String?)

    /** Changes, or the request to load all pages again. */
    class Response(val changes: FeedChanges?)

    companion object {
        /** Reads a response; null for any other value. A missing or malformed part is a reload. */
        fun of(value: JsonElement, base: String?): Response? {
            val isReload = value["reload"].boolean ?: return null
            if (isReload) return Response(null)
            fun placed(value: JsonElement): Placed? {
                val index = value["index"].index ?: return null
                return value["cell"]?.let { FeedCell.fromJson(it, base) }?.let { Placed(index, it) }
            }
            return Response(
                FeedChanges(
                    removed = all(value["removed"], ::removal) ?: return Response(null),
                    inserted = all(value["inserted"], ::placed) ?: return Response(null),
                    moved = all(value["moved"], ::move) ?: return Response(null),
                    reconfigured = all(value["reconfigured"], ::placed) ?: return Response(null),
                    pages = all(value["pages"], ::page) ?: return Response(null),
                    next = value["page"]["next"].text?.let { Links.resolve(it, base) },
                ))
        }

        private inline fun <Part> all(value: JsonElement?, read: (JsonElement) -> Part?): List<Part>? {
            val array = value.array ?: return null
            return array.mapNotNull(read).takeIf { it.size == array.size }
        }

        private fun removal(value: JsonElement): Removal? {
            val index = value["index"].index ?: return null
            return value["id"].text?.let { Removal(index, it) }
        }

        private fun move(value: JsonElement): Move? {
            val from = value["from"].index ?: return null
            val to = value["to"].index ?: return null
            return value["id"].text?.let { Move(from, to, it) }
        }

        private fun page(value: JsonElement): Page? = value["count"].index?.let { Page(it, value["syncToken"].text) }
    }
}
