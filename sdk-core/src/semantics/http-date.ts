// The Date field's value (RFC 9110 §6.6.1), computed once a second.

let second = -1
let text = ''

/** Returns the current time as IMF-fixdate. */
export function httpDate(): string {
  const now = Date.now()
  const current = Math.floor(now / 1000)
  if (current !== second) {
    second = current
    text = new Date(now).toUTCString()
  }
  return text
}
