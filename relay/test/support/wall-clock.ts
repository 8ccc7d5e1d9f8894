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

/** Sets the wall clock forward by this many milliseconds, or back, in addition to earlier steps. */
export function stepWallClock(ms: number): void {
  shiftMs += ms
  globalThis.Date = ShiftedDate as DateConstructor
}

export function resetWallClock(): void {
  shiftMs = 0
  globalThis.Date = RealDate
}
