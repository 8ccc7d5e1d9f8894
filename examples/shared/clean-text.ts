// Makes a text that a person typed fit to be shown in one line beside texts of others.

/** Control characters, and those that turn the direction of the text around them. */
const UNFIT = /[\p{Cc}\p{Bidi_Control}]+/gu

export function cleanText(text: string): string {
  return text.toWellFormed().replace(UNFIT, ' ').trim()
}
