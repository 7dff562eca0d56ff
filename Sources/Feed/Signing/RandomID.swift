/// Names that cannot be guessed: 128 random bits in base64url.
enum RandomID {
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        var writer = ByteWriter()
        // Asks the system once.
        let bits: UInt128 = generator.next()
        writer.write(UInt64(truncatingIfNeeded: bits >> 64))
        writer.write(UInt64(truncatingIfNeeded: bits))
        return Base64URL.encode(writer.bytes)
    }
}
