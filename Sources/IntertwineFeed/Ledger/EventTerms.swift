extension LedgerEvent {
    /// It is the campaign as the process that takes the event knows it, so a changed goal applies to the events after the change.
    package struct Terms: Sendable, Hashable {
        package var campaign: String
        package var isLive = true
        package var total: Int64?
        package var daily: Int64?
        /// The day of the event in the campaign's time zone, in milliseconds since 1970-01-01 UTC.
        package var day: Range<Int64> = 0..<0
        package var caps: [FrequencyCap] = []
    }
}

extension LedgerEvent.Kind {
    package var surplus: LedgerEvent.Kind { reported(as: .surplus) }

    /// The name of the kind in reports, which have other events than counted ones too.
    package func reported(as verdict: Verdict) -> LedgerEvent.Kind {
        verdict == .counted ? self : LedgerEvent.Kind(rawValue: "\(verdict.rawValue)-\(rawValue)")
    }

    /// The kinds of ad events that were not owed, or that an operator took back.
    package static let uncounted = [LedgerEvent.Kind.impression, .click, .complete].flatMap {
        [$0.reported(as: .surplus), $0.reported(as: .voided)]
    }
}

/// A frequency cap: a viewer sees the campaign at most `count` times in any period of `window` seconds.
package struct FrequencyCap: Sendable, Hashable {
    package var count: Int
    /// The length of the period, in seconds.
    package var window: Int
}
