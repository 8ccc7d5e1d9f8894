// Which entries fit a question: by tunnel, method, path, status, and text anywhere in them.

import { SvcError } from '../errors.ts'
import { decodedBody } from './decoded-body.ts'
import type { Content, Entry } from './entry.ts'
import type { ListQuery } from './messages.ts'

/** The most bytes of a compressed content that are searched. */
const SEARCHED_MAX_BYTES: number = 256 * 1024
/** The most characters of a filter. */
const FILTER_MAX = 500
const STATUS = /^(?:([1-5])xx|(\d{3})(?:-(\d{3}))?|none|failed)$/

type Fits = (entry: Entry) => boolean

/** A Filter tells whether an entry fits; a text in contents takes time to find. */
export interface Filter {
  fits: Fits
  /** Undefined when the question has no text. */
  hasText: ((entry: Entry) => Promise<boolean>) | undefined
}

/** @throws SvcError `invalid_option` that names the filter */
export function filterOf({ tunnel, method, path, status, text }: ListQuery): Filter {
  for (const [name, value = ''] of Object.entries({ method, path, status, text }))
    if (value.length > FILTER_MAX)
      throw new SvcError('invalid_option', `${name} has more than ${FILTER_MAX} characters`)
  const all: Fits[] = []
  if (tunnel !== undefined) all.push((entry) => (entry.tunnel ?? '') === tunnel)
  if (method) {
    const methods = method.toUpperCase().split(',')
    all.push((entry) => methods.includes(entry.method.toUpperCase()))
  }
  if (path) {
    const part = path.toLowerCase()
    all.push(({ url }) => pathOf(url).toLowerCase().includes(part))
  }
  if (status) all.push(statusFilter(status))
  const part = text?.toLowerCase()
  return {
    fits: (entry) => all.every((fits) => fits(entry)),
    hasText: part ? (entry) => hasText(entry, part) : undefined,
  }
}

/** Returns the path of a URL with its query. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

function statusFilter(text: string): Fits {
  const any = text.split(',').map((part): Fits => {
    const [found, hundreds, from, to = from] = STATUS.exec(part.trim().toLowerCase()) ?? []
    if (found === undefined)
      throw new SvcError(
        'invalid_option',
        `status ${JSON.stringify(part)} is not 404, 4xx, 500-503, none or failed`,
      )
    if (found === 'none') return ({ response }) => response === undefined
    if (found === 'failed') return ({ error }) => error !== undefined
    const [low, high] = hundreds
      ? [Number(hundreds) * 100, Number(hundreds) * 100 + 99]
      : [Number(from), Number(to)]
    return ({ response }) => response !== undefined && response.status >= low && response.status <= high
  })
  return (entry) => any.some((fits) => fits(entry))
}

async function hasText(entry: Entry, part: string): Promise<boolean> {
  const { url, request, response, messages } = entry
  const has = (text: string): boolean => text.toLowerCase().includes(part)
  const inFields = (content: Content): boolean =>
    [...content.headers, ...content.trailers].some(([name, value]) => has(`${name}: ${value}`))
  if (has(url) || inFields(request) || (response && inFields(response))) return true
  const decoder = new TextDecoder()
  if (messages.some(({ data }) => has(decoder.decode(data)))) return true
  for (const content of response ? [request, response] : [request]) {
    // Nobody needs the length: to count the bytes of many bombs would take minutes.
    const { bytes } = await decodedBody(content, SEARCHED_MAX_BYTES, SEARCHED_MAX_BYTES)
    if (bytes.length > 0 && has(decoder.decode(bytes))) return true
  }
  return false
}
