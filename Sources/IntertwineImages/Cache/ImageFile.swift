internal import Crypto
internal import IntertwinePrimitives

/// A picture as bytes of a file: mark, checksum over all that follows, what is known, body.
///
/// A file that was torn by a crash, bitten by the disk, or written by another version does not decode. There is then no picture, never a wrong one.
enum ImageFile {
    private static let mark = Array("ITWPIC03".utf8)

    /// Bytes that are written beside a body, mostly: a URL, tags, dates.
    static let besideBody = 4_096

    static func encode(_ image: CachedImage) -> [UInt8] {
        var facts = ByteWriter()
        facts.write(image.kind.rawValue)
        let freshness = image.freshness
        facts.write(freshness.revalidation.rawValue)
        // 255: the same for all.
        facts.write(image.variant?.rawValue ?? UInt8.max)
        for number in [
            freshness.born, freshness.freshUntil, freshness.privatelyFreshUntil, freshness.staleWhileRevalidateUntil,
            freshness.staleIfErrorUntil,
        ] {
            facts.write(number)
        }
        let (validators, terms) = (image.validators, image.terms)
        for text in [
            image.source, image.etag, validators.etag, validators.lastModified, validators.location, terms.cacheControl, terms.expires,
            terms.vary,
        ] {
            facts.write(text)
        }
        var bytes = mark
        bytes.reserveCapacity(mark.count + SHA256.byteCount + facts.bytes.count + image.body.count)
        var checksum = SHA256()
        checksum.update(data: facts.bytes)
        checksum.update(data: image.body)
        bytes.append(contentsOf: checksum.finalize())
        bytes.append(contentsOf: facts.bytes)
        bytes.append(contentsOf: image.body)
        return bytes
    }

    /// The source alone, by the beginning of the file; nothing vouches for it.
    static func source(_ beginning: [UInt8]) -> String? {
        guard beginning.starts(with: mark) else { return nil }
        // Three bytes and five numbers stand before it.
        var reader = ByteReader(beginning.dropFirst(mark.count + SHA256.byteCount + 3 + 5 * 8))
        return reader.readText() ?? nil
    }

    /// Nil for anything that `encode` did not write, to the last bit.
    static func decode(_ bytes: [UInt8]) -> CachedImage? {
        let start = mark.count + SHA256.byteCount
        guard bytes.count > start, bytes.starts(with: mark) else { return nil }
        let checksum = bytes.withUnsafeBytes { SHA256.hash(data: UnsafeRawBufferPointer(rebasing: $0[start...])) }
        guard checksum.elementsEqual(bytes[mark.count..<start]) else { return nil }
        var reader = ByteReader(bytes[start...])
        guard let kind = reader.readByte().flatMap(MediaKind.init(rawValue:)),
            let revalidation = reader.readByte().flatMap(Freshness.Revalidation.init(rawValue:)), let variant = reader.readByte(),
            let born = reader.readInt64(),
            let fresh = reader.readInt64(), let privately = reader.readInt64(), let revalidate = reader.readInt64(),
            let error = reader.readInt64(),
            case let source?? = reader.readText(), case let etag?? = reader.readText(),
            let originTag = reader.readText(), let modified = reader.readText(), let location = reader.readText(),
            let control = reader.readText(), let expires = reader.readText(), let vary = reader.readText()
        else { return nil }
        return CachedImage(
            source: source, variant: variant == .max ? nil : AcceptedKinds.Set(rawValue: variant), kind: kind,
            body: Array(reader.remaining),
            etag: etag,
            freshness: Freshness(
                born: born, freshUntil: fresh, privatelyFreshUntil: privately, staleWhileRevalidateUntil: revalidate,
                staleIfErrorUntil: error, revalidation: revalidation),
            validators: CachedImage.Validators(etag: originTag, lastModified: modified, location: location),
            terms: CachedImage.Terms(cacheControl: control, expires: expires, vary: vary))
    }
}
