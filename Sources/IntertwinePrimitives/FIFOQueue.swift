/// A queue that is appended to at its end and consumed from its beginning, each in amortized constant time.
package struct FIFOQueue<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
    private var elements: [Element?]
    private var removed = 0

    package init(arrayLiteral elements: Element...) {
        self.elements = elements
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { elements.count - removed }
    package subscript(index: Int) -> Element {
        guard let element = elements[removed + index] else { preconditionFailure("index out of range") }
        return element
    }

    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    package mutating func popFirst() -> Element? {
        guard removed < elements.count else { return nil }
        defer {
            elements[removed] = nil
            removed += 1
            // Half of the elements are moved after as many removals.
            if removed > 16, removed > elements.count / 2 {
                elements.removeFirst(removed)
                removed = 0
            }
        }
        return elements[removed]
    }

    package mutating func removeAll(where isGone: (Element) throws -> Bool) rethrows {
        var kept: [Element?] = []
        for element in self where try !isGone(element) { kept.append(element) }
        (elements, removed) = (kept, 0)
    }
}
