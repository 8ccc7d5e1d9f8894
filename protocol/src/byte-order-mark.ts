// Text of a file that an editor may have begun with a byte-order mark, which is no part of JSON (RFC 8259 §8.1) nor of PEM.

/** Returns the text without the mark that it may begin with. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
