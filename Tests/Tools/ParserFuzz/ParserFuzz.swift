import Glibc
import TestSupport

/// A parser, and what it is fed.
protocol FuzzTarget {
    var name: String { get }
    /// Good inputs and telling bad ones, of which all others are made.
    var corpus: [[UInt8]] { get }
    /// Bytes that mean something to the parser.
    var telling: [UInt8] { get }

    /// What became of an input that arrives piece by piece.
    ///
    /// - Parameter cut: how many bytes are there next, given how many have been looked at; always more.
    func verdict(on input: [UInt8], cut: (Int) -> Int) -> String
}

/// How long one of them is fed.
enum FuzzLimit {
    case inputs(Int)
    /// Of the processor: beside others it takes longer, and feeds as much.
    case time(Duration)

    init?(_ text: String) {
        if text.hasSuffix("s"), let seconds = Int(text.dropLast()), seconds > 0 {
            self = .time(.seconds(seconds))
        } else if let inputs = Int(text), inputs > 0 {
            self = .inputs(inputs)
        } else {
            return nil
        }
    }

    func share(of count: Int) -> FuzzLimit {
        switch self {
        case .inputs(let inputs): .inputs(max(1, inputs / count))
        case .time(let time): .time(time / count)
        }
    }
}

/// Feeds one parser with mutations, each in one piece, byte by byte and in random pieces.
///
/// What must hold: no trap, nothing for the sanitizer, and the same verdict however the bytes are cut.
struct ParserFuzz {
    private let target: any FuzzTarget
    private let corpus: [[UInt8]]
    private var random: SeededRandom

    init(_ target: any FuzzTarget, seed: UInt64) {
        self.target = target
        corpus = target.corpus
        random = SeededRandom(seed: seed)
    }

    /// False where an input was read in two ways; it is printed.
    func run(_ limit: FuzzLimit) -> Bool {
        var fuzz = self
        var (count, verdicts) = (0, Set<String>())
        let begun = processorTime()
        while !limit.isReached(count, since: begun) {
            count += 1
            let input = fuzz.mutated()
            let whole = target.verdict(on: input) { _ in input.count }
            let single = target.verdict(on: input) { $0 + 1 }
            let pieces = target.verdict(on: input) { $0 + 1 + Int(fuzz.random.next() % 40) }
            if whole != single || whole != pieces {
                print("\(target.name), input \(count) is read in two ways: \(String(decoding: input, as: UTF8.self).debugDescription)")
                print("whole: \(whole), byte by byte: \(single), in pieces: \(pieces)")
                return false
            }
            if verdicts.count < 10_000 { verdicts.insert(whole) }
        }
        print("\(target.name): \(count) inputs, \(verdicts.count == 10_000 ? "more than 9,999" : "\(verdicts.count)") different outcomes")
        return true
    }

    private mutating func mutated() -> [UInt8] {
        var bytes = corpus[Int(random.next() % UInt64(corpus.count))]
        for _ in 0..<(random.next() % 4) {
            let index = bytes.isEmpty ? 0 : Int(random.next() % UInt64(bytes.count))
            switch random.next() % 7 {
            case 0 where !bytes.isEmpty: bytes[index] = UInt8(truncatingIfNeeded: random.next())
            case 1 where !bytes.isEmpty: bytes[index] ^= 1 << UInt8(random.next() % 8)
            case 2 where !bytes.isEmpty: bytes.remove(at: index)
            case 3: bytes.insert(target.telling[Int(random.next() % UInt64(target.telling.count))], at: index)
            case 4: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 12)], at: index)
            case 5: bytes.removeLast(min(bytes.count, Int(random.next() % 8)))
            default:
                let other = corpus[Int(random.next() % UInt64(corpus.count))]
                bytes.replaceSubrange(index..., with: other.dropFirst(Int(random.next() % UInt64(other.count + 1))))
            }
        }
        return bytes
    }
}

extension FuzzLimit {
    fileprivate func isReached(_ count: Int, since begun: Duration) -> Bool {
        switch self {
        case .inputs(let inputs): count >= inputs
        // A clock is not asked for each input.
        case .time(let time): count % 64 == 0 && processorTime() - begun >= time
        }
    }
}

/// What this process has taken of the processor so far.
private func processorTime() -> Duration { .microseconds(clock()) }
