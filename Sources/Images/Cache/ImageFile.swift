internal import Crypto

/// A picture as bytes of a file: mark, checksum over all that follows, what is known, body.
///
/// A file that was torn by a crash, bitten by the disk, or written by another version does not decode. There is then no picture, never a wrong one.
enum ImageFile {
    private static let mark = Array("ITWPIC02".utf8)

    /// Bytes that are written beside a body, mostly: a URL, tags, dates.
    static let besideBody = 4_096

    static func encode(_ image: CachedImage) -> [UInt8] {
        var facts = ByteWriter()
        facts.append(image.kind.rawValue)
        let freshness = image.freshness
        for number in [freshness.born, freshness.freshUntil, freshness.staleWhileRevalidateUntil, freshness.staleIfErrorUntil] {
            facts.append(UInt64(bitPattern: number))
        }
        let (validators, terms) = (image.validators, image.terms)
        for text in [
            image.source, image.etag, validators.etag, validators.lastModified, validators.location, terms.cacheControl, terms.expires,
            terms.vary,
        ] {
            facts.append(text)
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

    /// Nil for anything that `encode` did not write, to the last bit.
    static func decode(_ bytes: [UInt8]) -> CachedImage? {
        let start = mark.count + SHA256.byteCount
        guard bytes.count > start, bytes.starts(with: mark) else { return nil }
        let checksum = bytes.withUnsafeBytes { SHA256.hash(data: UnsafeRawBufferPointer(rebasing: $0[start...])) }
        guard checksum.elementsEqual(bytes[mark.count..<start]) else { return nil }
        var reader = ByteReader(bytes[start...])
        guard let kind = reader.byte().flatMap(MediaKind.init(rawValue:)), let born = reader.number(), let fresh = reader.number(),
            let revalidate = reader.number(), let error = reader.number(), case let source?? = reader.text(),
            case let etag?? = reader.text(),
            let originTag = reader.text(), let modified = reader.text(), let location = reader.text(),
            let control = reader.text(), let expires = reader.text(), let vary = reader.text()
        else { return nil }
        return CachedImage(
            source: source, kind: kind, body: Array(reader.rest), etag: etag,
            freshness: Freshness(born: born, freshUntil: fresh, staleWhileRevalidateUntil: revalidate, staleIfErrorUntil: error),
            validators: CachedImage.Validators(etag: originTag, lastModified: modified, location: location),
            terms: CachedImage.Terms(cacheControl: control, expires: expires, vary: vary))
    }
}
