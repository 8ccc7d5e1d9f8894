// Text for a terminal: relays, visitors and files may put anything into it, and none of it reaches the terminal as a command.

/** All control characters but the end of a line, and those that change the order in which text is shown (UAX #9). */
const COMMANDS = /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu

export function printable(text: string): string {
  return text.replace(COMMANDS, '?')
}
