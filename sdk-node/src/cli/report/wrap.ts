// Breaks lines of text between words, so that a terminal does not break them within one.

/**
 * Breaks each line that has more than this many columns. A word that is longer, such as a URL, stays whole.
 * @param indent what further lines begin with, after the spaces that the line itself begins with
 */
export function wrap(text: string, columns: number, indent = ''): string {
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, columns, indent))
    .join('\n')
}

function wrapLine(line: string, columns: number, indent: string): string[] {
  if (line.length <= columns) return [line]
  const margin = /^ */.exec(line)?.[0] ?? ''
  const lines: string[] = []
  let last = margin
  // Several spaces separate what stands beside each other.
  for (const [whole] of line.trim().matchAll(/\S+ */g)) {
    const word = whole.trimEnd()
    if (last.trim() !== '' && (last + word).length > columns) {
      lines.push(last.trimEnd())
      last = margin + indent
    }
    last += whole
  }
  return [...lines, last.trimEnd()]
}
