// A list in one text, such as `--relay a,b`: its words, separated by commas or white space.

export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}
