package intertwine.client

import kotlin.io.encoding.Base64
import kotlin.math.PI
import kotlin.math.cos
import kotlin.math.roundToInt

/**
 * A blurred image of a few bytes, which is shown until the image is loaded.
 *
 * ```kotlin
 * binding.thumbHash?.let { Bitmap.createBitmap(it.pixels, it.width, it.height, Bitmap.Config.ARGB_8888) }
 * ```
 *
 * @property width the number of pixels of a row.
 * @property height the number of rows.
 * @property pixels the pixels as ARGB, row by row.
 */
public class ThumbHash private constructor(public val width: Int, public val height: Int, public val pixels: IntArray) {
    /** A cosine of the image, with its frequencies. */
    private class Term(val x: Int, val y: Int, val weight: Double)

    /** A reader of bits, lowest bit first. Bits after the end are 0. */
    private class Bits(private val bytes: ByteArray) {
        private var position = 0

        fun next(count: Int): Int {
            var value = 0
            for (bit in 0 until count) {
                val byte = bytes.getOrElse(position shr 3) { 0 }.toInt()
                value = value or (((byte shr (position and 7)) and 1) shl bit)
                position += 1
            }
            return value
        }

        fun terms(across: Int, down: Int, scale: Double): List<Term> {
            val terms = ArrayList<Term>()
            for (y in 0 until down) {
                var x = if (y > 0) 0 else 1
                while (x * down < across * (down - y)) terms.add(Term(x++, y, (next(4) / 7.5 - 1) * scale))
            }
            return terms
        }
    }

    public companion object {
        /** The number of pixels of the longer side. */
        private const val SIDE = 32

        /** Decodes a ThumbHash in base64; null if the text is none. */
        public fun of(base64: String): ThumbHash? {
            val bytes =
                try {
                    Base64.decode(base64)
                } catch (_: IllegalArgumentException) {
                    return null
                }
            return if (bytes.size in 5..40) decoded(bytes) else null
        }

        private fun decoded(bytes: ByteArray): ThumbHash {
            val bits = Bits(bytes)
            val means = doubleArrayOf(bits.next(6) / 63.0, bits.next(6) / 31.5 - 1, bits.next(6) / 31.5 - 1)
            val lightScale = bits.next(5) / 31.0
            val hasAlpha = bits.next(1) == 1
            val count = bits.next(3)
            val scales = doubleArrayOf(bits.next(6) / 63.0, bits.next(6) / 63.0)
            val isLandscape = bits.next(1) == 1
            val maxTerms = if (hasAlpha) 5 else 7
            val across = maxOf(1, if (isLandscape) maxTerms else count)
            val down = maxOf(1, if (isLandscape) count else maxTerms)
            val alphaMean = if (hasAlpha) bits.next(4) / 15.0 else 1.0
            val alphaScale = if (hasAlpha) bits.next(4) / 15.0 else 0.0
            val light = bits.terms(maxOf(3, across), maxOf(3, down), lightScale)
            val yellow = bits.terms(3, 3, scales[0] * 1.25)
            val red = bits.terms(3, 3, scales[1] * 1.25)
            val alpha = if (hasAlpha) bits.terms(5, 5, alphaScale) else emptyList()

            val ratio = across.toDouble() / down
            val width = maxOf(1, (if (ratio > 1) SIDE.toDouble() else SIDE * ratio).roundToInt())
            val height = maxOf(1, (if (ratio > 1) SIDE / ratio else SIDE.toDouble()).roundToInt())
            fun cosines(length: Int) = Array(8) { term -> DoubleArray(length) { cos(PI / length * (it + 0.5) * term) } }
            val alongX = cosines(width)
            val alongY = cosines(height)
            val pixels = IntArray(width * height) { position ->
                val x = position % width
                val y = position / width
                fun at(mean: Double, terms: List<Term>) = terms.fold(mean) { sum, term -> sum + term.weight * alongX[term.x][x] * alongY[term.y][y] * 2 }
                val l = at(means[0], light)
                val q = at(means[2], red)
                val b = l - 2.0 / 3.0 * at(means[1], yellow)
                val r = (3 * l - b + q) / 2
                channel(at(alphaMean, alpha)) shl 24 or (channel(r) shl 16) or (channel(r - q) shl 8) or channel(b)
            }
            return ThumbHash(width, height, pixels)
        }

        private fun channel(value: Double): Int = (value.coerceIn(0.0, 1.0) * 255).roundToInt()
    }
}
