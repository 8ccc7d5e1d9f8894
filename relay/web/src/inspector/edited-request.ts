// What a form changed of a request. Its masked secrets stay what they are, also where the lines around them were changed.

import { EDIT } from './texts.ts'
import type { EntryDetail, ReplayRequest } from './types.ts'

const MASK = '••••••'
/** Fields that describe a content which was replaced by plain text. */
const OF_CODING = 'content-encoding'

export interface EditForm {
  method: string
  path: string
  /** Lines of a name, a colon and a value. */
  headers: string
  /** Undefined for a content that is no text, or not whole. */
  text: string | undefined
}

export function formOf(shown: EntryDetail, text: string | undefined): EditForm {
  const lines = shown.request.headers.map(({ name, value }) => `${name}: ${value}`)
  return { method: shown.method, path: shown.path, headers: lines.join('\n'), text }
}

/**
 * Returns the changes alone.
 * @param before the form as it was at first
 * @param real the entry with its secrets
 * @throws Error for people
 */
export function editOf(form: EditForm, before: EditForm, real: EntryDetail): ReplayRequest['edit'] {
  const isNewText = form.text !== before.text && form.text !== undefined
  const isCoded = real.request.headers.some(({ name }) => name.toLowerCase() === OF_CODING)
  const headers =
    form.headers === before.headers && !(isNewText && isCoded)
      ? undefined
      : headersOf(form.headers, before.headers, real).filter(
          ({ name }) => !isNewText || name.toLowerCase() !== OF_CODING,
        )
  return {
    ...(form.method !== before.method && { method: form.method.trim() }),
    ...(form.path !== before.path && { url: pathOf(form.path, before.path, real.path) }),
    ...(headers && { headers }),
    ...(isNewText && { text: form.text }),
  }
}

function headersOf(typed: string, before: string, real: EntryDetail): { name: string; value: string }[] {
  const known = before.split('\n')
  const taken = new Set<number>()
  return typed.split('\n').flatMap((line) => {
    if (line.trim() === '') return []
    const at = known.findIndex((one, index) => one === line && !taken.has(index))
    taken.add(at)
    const unchanged = real.request.headers[at]
    if (unchanged) return [{ name: unchanged.name, value: unchanged.value }]
    const colon = line.indexOf(':')
    if (colon <= 0) throw new Error(EDIT.noField(line))
    return [{ name: line.slice(0, colon).trim(), value: withoutMask(line.slice(colon + 1).trim()) }]
  })
}

/** Puts each part that is masked, and was not touched, back: of those that look the same, each has its own. */
function pathOf(typed: string, masked: string, real: string): string {
  const parts = masked.split(/[?&]/)
  const secrets = real.split(/[?&]/)
  const taken = new Set<number>()
  return typed.replaceAll(/[^?&]+/g, (part) => {
    const at = parts.findIndex((one, index) => one === part && !taken.has(index))
    taken.add(at)
    return secrets[at] ?? withoutMask(part)
  })
}

function withoutMask(text: string): string {
  if (text.includes(MASK)) throw new Error(EDIT.masked)
  return text
}
