// The date-time of RFC 3339 §5.6, parsed strictly: a day that its month does not have is refused.

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d))$/i

/** Returns the milliseconds since the epoch, or undefined when `text` is not a date-time. */
export function parseDateTime(text: string): number | undefined {
  const match = DATE_TIME.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const [fraction = '0', sign, offsetHour = '0', offsetMinute = '0'] = match.slice(7)
  const isTime = hour < 24 && minute < 60 && second <= 60 // 60 is a leap second.
  const isOffset = Number(offsetHour) < 24 && Number(offsetMinute) < 60
  if (!isTime || !isOffset || month < 1 || month > 12 || day < 1 || day > daysOf(year, month))
    return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day) // `Date.UTC` would add 1900 to the years 0 to 99.
  date.setUTCHours(hour, minute, second, Math.floor(Number(fraction) * 1000))
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  return date.getTime() - (sign === '-' ? -offset : offset)
}

function daysOf(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!
}
