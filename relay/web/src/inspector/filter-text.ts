// The filter as people type it: `POST 5xx /hook order_42`, or with names, as `text:404`.

import type { ListQuery } from './types.ts'

type FilterName = 'method' | 'path' | 'status' | 'text'

/** Words, of which quotes may hold several together. */
const WORDS = /(?:(method|path|status|text):)?(?:"([^"]*)"|(\S+))/gi
const METHOD = /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|QUERY)$/
const STATUS = /^(?:[1-5]xx|[1-5]\d\d(?:-[1-5]\d\d)?|failed)$/i

/**
 * Returns what the words ask for. A method in capital letters, a status and a path are known by their form; all others are one
 * text.
 */
export function filterOf(typed: string): ListQuery {
  const found: Record<FilterName, string[]> = { method: [], path: [], status: [], text: [] }
  for (const [, name, quoted, plain = ''] of typed.matchAll(WORDS)) {
    const word = quoted ?? plain
    const kind = (name?.toLowerCase() as FilterName | undefined) ?? kindOf(word, quoted !== undefined)
    if (word !== '') found[kind].push(word)
  }
  const { method, path, status, text } = found
  return {
    ...(method.length > 0 && { method: method.join(',').toUpperCase() }),
    ...(path.length > 0 && { path: path.join(' ') }),
    ...(status.length > 0 && { status: status.join(',') }),
    ...(text.length > 0 && { text: text.join(' ') }),
  }
}

function kindOf(word: string, isQuoted: boolean): FilterName {
  if (isQuoted) return 'text'
  if (METHOD.test(word)) return 'method'
  if (STATUS.test(word)) return 'status'
  return word.startsWith('/') ? 'path' : 'text'
}
