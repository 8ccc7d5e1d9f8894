// Splits a list such as `--relay a,b` at commas or white space.

export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}
