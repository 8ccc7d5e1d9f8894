// Steps of the wall clock, as an operator or NTP makes them: `Date` is shifted and goes on; monotonic clocks do not notice.

const RealDate = Date
let shiftMs = 0

class ShiftedDate extends RealDate {
  constructor(...args: [] | [value: number | string | Date]) {
    super(...((args.length === 0 ? [ShiftedDate.now()] : args) as [number]))
  }

  static override now(): number {
    return RealDate.now() + shiftMs
  }
}

/** The wall clock is set forward by so much, or back, beside what it was set before. */
export function stepWallClock(ms: number): void {
  shiftMs += ms
  globalThis.Date = ShiftedDate as DateConstructor
}

export function resetWallClock(): void {
  shiftMs = 0
  globalThis.Date = RealDate
}
