// Makes untrusted text safe to show beside other text.

/** Control characters, and characters that change the direction of the text around them. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Bidi_Control}]+/gu

export function sanitizeText(text: string): string {
  return text.toWellFormed().replace(UNSAFE_CHARACTERS, ' ').trim()
}
