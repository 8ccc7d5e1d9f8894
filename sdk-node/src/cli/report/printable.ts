// Removes terminal control characters from text that may come from relays, visitors and files.

/** All control characters except LF, and bidirectional controls (UAX #9). */
const COMMANDS = /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu

export function printable(text: string): string {
  return text.replace(COMMANDS, '?')
}
