/// The identification of a reserved slot in a page's token.
package struct ReservationID: Sendable, Hashable {
    package var process: UInt16
    package var slot: UInt16
    package var address: UInt16

    package init(process: UInt16, slot: UInt16, address: UInt16) {
        (self.process, self.slot, self.address) = (process, slot, address)
    }
}
