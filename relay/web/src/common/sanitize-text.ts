// What strangers wrote, fit to be shown beside what others wrote.

/** Control characters, and those that turn the direction of the text around them. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Bidi_Control}]+/gu

export function sanitizeText(text: string): string {
  return text.toWellFormed().replace(UNSAFE_CHARACTERS, ' ').trim()
}
