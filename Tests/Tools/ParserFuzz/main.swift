import Glibc

// Feeds the parsers of what strangers send with mutations of what they are made for. It is built with AddressSanitizer.
//
//     ParserFuzz INPUTS [SEED]     so many inputs for all parsers together
//     ParserFuzz SECONDSs [SEED]   as many as come in so many seconds
//
// The same seed gives the same inputs. Exit 1 where an input is read in two ways; a trap or a finding of the sanitizer ends it by itself.

let arguments = CommandLine.arguments
let amount = arguments.count > 1 ? arguments[1] : "100000"
let seed = arguments.count > 2 ? UInt64(arguments[2]) : 1
guard let seed, let limit = FuzzLimit(amount), arguments.count <= 3 else {
    print("usage: ParserFuzz INPUTS|SECONDSs [SEED]")
    exit(64)
}
let targets: [any FuzzTarget] = [RequestFuzz(), ItemFileFuzz(), RemotePageFuzz()] + ImageFuzz.all + [URLFuzz(), WireFuzz()]
var isWell = true
for target in targets {
    isWell = ParserFuzz(target, seed: seed).run(limit.share(of: targets.count)) && isWell
}
exit(isWell ? 0 : 1)
