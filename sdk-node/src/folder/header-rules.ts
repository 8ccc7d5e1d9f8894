// Header rules of a folder's `_headers`, in the format of Netlify and Cloudflare Pages: fields for the files of a path.

import type { FetchHandler } from '@svc/sdk-core'
import type { DirectoryHandle } from '@svc/sdk-core/handlers'

const NAME = '_headers'
/** Several hundred rules, which are read again when the file changes. */
const FILE_MAX_BYTES: number = 64 * 1024
/** The fields of the framing, which the SDK makes. */
const FRAMING = /^(?:connection|content-length|keep-alive|te|trailer|transfer-encoding|upgrade)$/i
const FIELD = /^([!#$%&'*+.^_`|~\w-]+)\s*:([\t\x20-\x7e]*)$/

interface Rule {
  path: URLPattern
  /** Without a value the field is removed. */
  fields: [name: string, value: string | undefined][]
}

/** Adds the fields of `_headers`, which is read with each change, to what `handler` answers. The file itself is not served. */
export function withHeaderRules(folder: DirectoryHandle, handler: FetchHandler): FetchHandler {
  let known = ''
  let rules: Rule[] = []
  const read = async (): Promise<Rule[]> => {
    const file = await folder.getFileHandle(NAME).then(
      (handle) => handle.getFile(),
      () => undefined,
    )
    const state = file ? `${file.size} ${file.lastModified}` : ''
    if (state === known) return rules
    rules = file && file.size <= FILE_MAX_BYTES ? parseHeaderRules(await file.text()) : []
    known = state
    return rules
  }
  return async (request, info) => {
    const { pathname } = new URL(request.url)
    if (decoded(pathname).toLowerCase() === `/${NAME}`) return new Response('Not found\n', { status: 404 })
    const response = await handler(request, info)
    apply(await read(), pathname, response.headers)
    return response
  }
}

/** Parses paths, each followed by indented fields. Lines that have another form have no effect. */
function parseHeaderRules(text: string): Rule[] {
  const rules: Rule[] = []
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const said = line.trim()
    if (said === '' || said.startsWith('#')) continue
    if (!/^\s/.test(line)) rules.push({ path: patternOf(said), fields: [] })
    else if (said.startsWith('!')) rules.at(-1)?.fields.push([said.slice(1).trim(), undefined])
    else {
      const [, name, value] = FIELD.exec(said) ?? []
      if (name !== undefined && !FRAMING.test(name)) rules.at(-1)?.fields.push([name, value?.trim()])
    }
  }
  return rules.map((rule) => ({ ...rule, fields: rule.fields.filter(([name]) => FIELD.test(`${name}:`)) }))
}

/** `*` stands for anything, once, and `:name` for one segment. */
function patternOf(path: string): URLPattern {
  const [before = '', ...after] = path.replace(/[{}()+?\\]/g, '\\$&').split('*')
  return new URLPattern({ pathname: after.length === 0 ? before : `${before}*${after.join('\\*')}` })
}

/** A field of a rule takes the place of the file's own; those of several rules are joined. */
function apply(rules: readonly Rule[], pathname: string, headers: Headers): void {
  const set = new Set<string>()
  for (const { path, fields } of rules) {
    if (!path.test({ pathname })) continue
    for (const [name, value] of fields) {
      const key = name.toLowerCase()
      if (value === undefined) headers.delete(name)
      else if (set.has(key)) headers.append(name, value)
      else headers.set(name, value)
      set.add(key)
    }
  }
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}
