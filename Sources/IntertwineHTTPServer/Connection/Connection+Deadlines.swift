internal import CIntertwineLinux
internal import IntertwineEventLoop

extension Connection {
    /// How often the rate of a body is looked at.
    private static let rateInterval = Duration.seconds(1)
    /// How long an idle connection may wait for a last request while the server is stopping.
    private static let lastChance = Duration.milliseconds(500)

    /// Works out what the connection waits for now, and until when.
    func updateDeadline() {
        let now = worker.loop.now
        if phase == .lingering {
            deadlineKind = .linger
        } else if !pending.isEmpty {
            deadlineKind = .write
            deadline = lastProgress.advanced(by: worker.configuration.writeTimeout)
        } else {
            switch phase {
            case .head where parser == nil:
                deadlineKind = .idle
                isTaking = false
                deadline = now.advanced(by: isLastChance || worker.isDraining ? Self.lastChance : worker.configuration.idleTimeout)
            case .head:
                deadlineKind = .head
                deadline = messageBegun.advanced(by: worker.configuration.headTimeout)
            case .body where exchange?.isPaused == false:
                if deadlineKind != .body || exchange?.deadline == nil { deadline = firstBodyCheck(now) }
                deadlineKind = .body
            default:
                deadlineKind = exchange?.deadline == nil ? .none : .handler
                deadline = exchange?.deadline ?? now.advanced(by: worker.configuration.connectionAge)
            }
        }
        if deadline < timerAt, let timer {
            timerAt = deadline
            worker.loop.reschedule(timer, at: deadline)
        }
    }

    private func firstBodyCheck(_ now: LoopInstant) -> LoopInstant {
        guard let exchange else { return now }
        // The end is that of the whole body; its rate is measured anew after each pause of whoever reads it, and what came with the head
        // counts.
        let end = exchange.bodyEnd ?? now.advanced(by: worker.configuration.bodyTimeout)
        exchange.rateBase = exchange.bodyEnd == nil ? 0 : exchange.received
        exchange.bodyEnd = end
        exchange.deadline = end
        exchange.rateBegun = now
        return min(now.advanced(by: worker.configuration.bodyRateGrace), exchange.deadline ?? now)
    }

    func timerDue(at now: LoopInstant) -> LoopInstant? {
        if now >= deadline { deadlinePassed(now) }
        if phase == .closed { return nil }
        timerAt = max(deadline, now.advanced(by: .milliseconds(1)))
        return timerAt
    }

    private func deadlinePassed(_ now: LoopInstant) {
        switch deadlineKind {
        case .none:
            deadline = now.advanced(by: worker.configuration.connectionAge)
            return
        case .idle:
            // A request may have come while the loop was busy with others, or the process was not run.
            let before = requests
            readable(.readable)
            guard isIdle, requests == before else {
                settle()
                return
            }
            if clinux_unsent(descriptor) == 0 {
                close()
            } else if !isTaking || hasTakenEnough() {
                // The last answer is still being taken, slowly: that is not idle.
                if !isTaking { beginMeasuring() }
                isTaking = true
                deadline = now.advanced(by: worker.configuration.writeTimeout)
            } else {
                reset()
            }
        case .linger:
            close()
        case .write:
            if hasTakenEnough() { updateDeadline() } else { reset() }
        case .head:
            held.withUnsafeBufferPointer { bytes in
                let problem = ProblemDetails(status: 408, detail: "The head of the request took too long.")
                refuse(problem, method: parser?.readMethod(in: bytes), head: bytes)
            }
            settle()
        case .body:
            checkBody(now)
        case .handler:
            guard let exchange, exchange.status == 0 else { return }
            // A body that is paused is not here in time either.
            if phase == .body {
                checkBody(now)
                return
            }
            abandon(exchange)
            refuse(ProblemDetails(status: 503, detail: "The answer took too long."), exchange)
            settle()
        }
    }

    private func checkBody(_ now: LoopInstant) {
        guard let exchange else { return }
        let limits = worker.configuration
        let seconds = now.since(exchange.rateBegun) / Duration.seconds(1)
        if let end = exchange.deadline, now < end, Double(exchange.received - exchange.rateBase) >= Double(limits.minimumBodyRate) * seconds
        {
            deadline = min(now.advanced(by: Self.rateInterval), end)
            return
        }
        let isAnswered = exchange.isDiscarding || exchange.streamFraming != nil
        abandon(exchange, because: .tooSlow)
        if isAnswered {
            close()
        } else {
            refuse(ProblemDetails(status: 408, detail: "The body of the request took too long."), exchange)
            settle()
        }
    }
}
