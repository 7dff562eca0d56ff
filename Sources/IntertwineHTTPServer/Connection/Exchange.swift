internal import HTTPTypes
internal import IntertwineEventLoop

/// A request that is answered later, with what is known of it until then. Lives on its connection's loop.
final class Exchange {
    enum BodyState {
        case done
        case length(Int)
        case chunked(ChunkedDecoder)
    }

    /// How the body of a streamed answer is delimited.
    enum StreamFraming {
        case length(remaining: Int)
        case chunked
        case close
    }

    let id: UInt64
    let bytes: [UInt8]
    let parser: HeadParser
    let method: RequestMethod
    let framing: MessageFraming
    let target: Range<Int>
    /// Where it is the client's own, it lies in `bytes`.
    let name: RequestID.Name
    let begunAt: LoopInstant

    var route: String?
    var bodyLimit = 0
    var timeLimit: Duration
    var cancelsOnPeerClose = false
    var request: HTTPRequest?
    /// What makes the answer, as the plan said.
    var respond: RequestPlan.Respond?
    var body: BodyState
    /// Bytes of the first chunk, as far as that was known when the head had been read.
    var announced = 0
    /// Content bytes so far.
    var received = 0
    /// When all of the body has to be here.
    var bodyEnd: LoopInstant?
    /// When, and after how many bytes, watching the rate began.
    var rateBegun: LoopInstant
    var rateBase = 0
    /// Content bytes that were thrown away.
    var discarded = 0
    var collected: [UInt8] = []
    var share: BodyShare?
    var stream: RequestBodyStream?
    /// The rest of the body is read for the sake of the connection alone.
    var isDiscarding = false
    /// The client waits for 100 (Continue) before it sends the body.
    var owesContinue = false
    /// Some of the body came together with the head.
    var bodyHasBegun = false
    /// The consumer of the body asked for a pause.
    var isPaused = false

    var task: Task<Void, Never>?
    /// Calls a deferred answer off.
    var cancel: DeferredAnswer.Cancel?
    var deadline: LoopInstant?
    var streamFraming: StreamFraming?
    var closesAfterStream = false
    var waiters: [CheckedContinuation<Void, any Error>] = []
    var status = 0
    var sent = 0

    init(
        id: UInt64, bytes: [UInt8], parser: HeadParser, method: RequestMethod, framing: MessageFraming, target: Range<Int>,
        name: RequestID.Name, now: LoopInstant,
        timeLimit: Duration
    ) {
        self.id = id
        self.bytes = bytes
        self.parser = parser
        self.method = method
        self.framing = framing
        self.target = target
        self.name = name
        self.begunAt = now
        self.rateBegun = now
        self.timeLimit = timeLimit
        self.body =
            switch framing.body {
            case .none: .done
            case .length(let length): .length(length)
            case .chunked: .done
            }
    }

    var isBodyDone: Bool { if case .done = body { true } else { false } }

    /// A view of the request's head. `bytes` are this exchange's own.
    func head(in bytes: UnsafeBufferPointer<UInt8>) -> RequestHead {
        RequestHead(parser: parser, bytes: bytes, method: method, target: ByteView(bytes, target))
    }
}
