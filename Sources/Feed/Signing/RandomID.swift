/// Names that cannot be guessed: 128 random bits in base64url.
enum RandomID {
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        var writer = ByteWriter()
        writer.write(UInt64.random(in: .min ... .max, using: &generator))
        writer.write(UInt64.random(in: .min ... .max, using: &generator))
        return Base64URL.encode(writer.bytes)
    }
}
