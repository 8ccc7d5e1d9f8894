// What strangers wrote, fit to be shown beside what others wrote.

/** Control characters, and those that turn the direction of the text around them. */
const UNFIT = /[\p{Cc}\p{Bidi_Control}]+/gu

export function clean(text: string): string {
  return text.toWellFormed().replace(UNFIT, ' ').trim()
}
