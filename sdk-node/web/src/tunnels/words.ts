// Converts between values of svc.toml and the texts of inputs.

export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

export function textOf(value: unknown): string {
  if (value === undefined) return ''
  return Array.isArray(value) ? value.join(' ') : String(value)
}
