struct ImageResizer: Sendable {
    let transformer: any ImageTransformer
    let newer: [ImageFormat]
    let qualities: EncodingQualities

    /// Resizes an image off the event loop of the caller, because its bytes are parsed and the result is hashed.
    @concurrent
    func resize(_ original: CachedImage, to key: ResizeKey, _ urgency: TransformPriority) async throws(ImageError) -> (
        image: CachedImage, facts: ImageMetadata?
    ) {
        let body = original.body.bytes
        // The validators have the tag of the original, so a change of the original is detected.
        let validators = CachedImage.Validators(etag: original.etag, lastModified: original.validators.lastModified)
        var traits = ImageTraits(body, original.kind)
        guard let format = ResizedFormat(traits, accepted: key.formats, newer: newer) else { throw ImageError(.notAcceptable) }
        var job = self.job(key, format)
        let made: TransformResult
        var shortfall: CachedImage.Shortfall?
        do throws(ImageError) {
            made = try await transformer.transform(body, job, urgency: urgency)
        } catch  where error.reason == .noDecoder {
            // The client may have a decoder.
            let image = CachedImage(
                source: key.source, variant: key.formats, sizing: key.sizing, kind: original.kind, shortfall: .original,
                body: original.body, etag: original.etag, freshness: original.freshness, validators: validators)
            return (image, nil)
        } catch {
            // If an animation exceeds the limits, its first frame is used.
            guard format.keepsAnimation, error.reason == .tooManyFrames || error.reason == .tooManyPixels else { throw error }
            (traits.isAnimated, shortfall) = (false, .firstFrame)
            guard let format = ResizedFormat(traits, accepted: key.formats, newer: newer) else { throw ImageError(.notAcceptable) }
            job = self.job(key, format)
            made = try await transformer.transform(body, job, urgency: urgency)
        }
        let image = CachedImage(
            source: key.source, variant: key.formats, sizing: key.sizing, kind: job.format ?? format.kind,
            shortfall: made.isPart ? .part : shortfall, body: made.bytes, freshness: original.freshness, validators: validators)
        return (image, made.isPart ? nil : ImageMetadata(made))
    }

    private func job(_ key: ResizeKey, _ format: ResizedFormat) -> TransformJob {
        key.sizing.job(format.kind, quality: qualities[format.kind, key.sizing.scale], keepsAnimation: format.keepsAnimation)
    }
}
