import ArgumentParser
import Foundation
import IntertwinePrimitives

extension CalendarDay: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }

    static var today: CalendarDay { CalendarDay(ofSecond: Int64(Date().timeIntervalSince1970.rounded(.down))) }
}
