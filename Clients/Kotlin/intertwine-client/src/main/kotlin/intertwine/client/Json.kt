package intertwine.client

import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.doubleOrNull

/** The text; null for any other type. */
internal val JsonElement?.text: String? get() = (this as? JsonPrimitive)?.takeIf { it.isString }?.content

/** The number; null for any other type. */
internal val JsonElement?.number: Double?
    get() = (this as? JsonPrimitive)?.takeIf { !it.isString }?.doubleOrNull?.takeIf { it.isFinite() }

internal val JsonElement?.boolean: Boolean? get() = (this as? JsonPrimitive)?.takeIf { !it.isString }?.booleanOrNull
internal val JsonElement?.array: JsonArray? get() = this as? JsonArray
internal val JsonElement?.members: JsonObject? get() = this as? JsonObject

/** The number as an index; null if it is negative, fractional or too large. */
internal val JsonElement?.index: Int? get() = number?.takeIf { it >= 0 && it <= Int.MAX_VALUE && it % 1.0 == 0.0 }?.toInt()

/** Returns a member of an object; null if it does not exist or if this is not an object. */
internal operator fun JsonElement?.get(name: String): JsonElement? = (this as? JsonObject)?.get(name)

/** Parses a document; null if it is not a JSON object or array. Why: the parser accepts a bare word as a value. */
internal fun parseJson(bytes: ByteArray): JsonElement? = parseJson(bytes.decodeToString())

internal fun parseJson(text: String): JsonElement? =
    try {
        Json.parseToJsonElement(text).takeIf { it is JsonObject || it is JsonArray }
    } catch (_: SerializationException) {
        null
    }
