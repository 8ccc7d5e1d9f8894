// Writes a manual page from the text that a command prints for --help, so that both say the same.

interface ManPage {
  name: string
  /** Section of the manual: 1 for commands, 8 for those of the administrator. */
  section: 1 | 8
  /** One line: what the command does. */
  summary: string
  help: string
  version: string
  /** Seconds since 1970. */
  time: number
  /** Paragraphs after the text of the command. */
  notes?: readonly string[]
  seeAlso: readonly string[]
}

/** @returns the page as groff reads it (man(7)) */
export function manPage({
  name,
  section,
  summary,
  help,
  version,
  time,
  notes = [],
  seeAlso,
}: ManPage): string {
  const date = new Date(time * 1000).toISOString().slice(0, 10)
  return [
    `.TH ${name.toUpperCase()} ${section} ${date} "svc ${version}"`,
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(summary)}`,
    '.SH DESCRIPTION',
    '.nf',
    ...help.trimEnd().split('\n').map(escaped),
    '.fi',
    ...notes.flatMap((note) => ['.PP', escaped(note)]),
    '.SH SEE ALSO',
    seeAlso.map(escaped).join(', '),
    '',
  ].join('\n')
}

/** A backslash and a hyphen have another meaning in groff, and so does a dot or apostrophe at the beginning of a line. */
function escaped(line: string): string {
  return line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&')
}
