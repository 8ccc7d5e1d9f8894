// Removes a byte-order mark that an editor may have added, which neither JSON (RFC 8259 §8.1) nor PEM allows.

/** Returns the text without a leading byte-order mark. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
