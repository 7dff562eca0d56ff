import IntertwineImageWire

/// What is said between the service and the processes that resize images, either of which may have been taken over by one.
struct WireFuzz: FuzzTarget {
    let name = "frames of workers"
    let telling: [UInt8] = [0, 1, 2, 3, 4, 16, 17, 18, 0x1F, 0x20, 0x7E, 0x7F, 40, 41, 0x80, 0xFF]

    var corpus: [[UInt8]] {
        let hello = WorkerMessage.hello(WorkerReport(hasSeccomp: true, landlock: 3, hasLimits: true, library: "8.14.1"))
        let result = TransformResult(
            width: 30, height: 20, originalWidth: 300, originalHeight: 200, frames: 1, hasAlpha: false,
            color: TransformResult.Color(red: 1, green: 2, blue: 3), thumbHash: [1, 2, 3, 4, 5, 6], bytes: [9, 9, 9, 9])
        let done = WorkerMessage.done(id: 1, result).frame
        let failed = WorkerMessage.failed(id: 2, .cancelled).frame
        let job = TransformJob(id: 1, width: 30, height: 20, cut: .point(x: 500, y: 1_000), format: .webp, quality: 75)
        return [hello.frame, done, failed, hello.frame + done + failed, job.head(before: 3) + [1, 2, 3], TransformJob.cancellation(of: 1)]
    }

    func verdict(on input: [UInt8], cut: (Int) -> Int) -> String {
        "\(answers(in: input, cut)) \(job(in: Array(input.dropFirst(WireFrame.headLength))))"
    }

    /// As the service reads it.
    private func answers(in input: [UInt8], _ cut: (Int) -> Int) -> String {
        var reader = WorkerMessageReader()
        var answers: [WorkerMessage] = []
        var fed = 0
        while fed < input.count {
            let end = min(input.count, cut(fed))
            guard let more = reader.consume(input[fed..<end]) else { return "nonsense" }
            answers += more
            fed = end
        }
        return "\(answers)"
    }

    /// As a worker reads it, to which it arrives whole.
    private func job(in body: [UInt8]) -> String {
        body.withUnsafeBytes { body in
            guard let (job, image) = TransformJob.read(body) else { return "no job" }
            let again = Array(job.head(before: image.count).dropFirst(WireFrame.headLength)) + Array(image)
            precondition(again.withUnsafeBytes { TransformJob.read($0)?.job } == job, "\(job) is another one when it is read again")
            return "\(job) \(image.count)"
        }
    }
}
