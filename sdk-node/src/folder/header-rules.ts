// Header rules of a folder's `_headers`, in the format of Netlify and Cloudflare Pages: fields for the files of a path.

import type { FetchHandler } from '@svc/sdk-core'
import type { CompressingDirectory, DirectoryHandle, ReadableDirectory } from '@svc/sdk-core/handlers'

const NAME = '_headers'
/** The largest `_headers` file, in bytes: several hundred rules. */
const FILE_MAX_BYTES: number = 64 * 1024
/** Framing fields, which the SDK sets. */
const FRAMING = /^(?:connection|content-length|keep-alive|te|trailer|transfer-encoding|upgrade)$/i
const FIELD = /^([!#$%&'*+.^_`|~\w-]+)\s*:([\t\x20-\x7e]*)$/

interface Rule {
  path: URLPattern
  /** A field without a value is removed. */
  fields: [name: string, value: string | undefined][]
}

/** Returns the folder without the file with the rules, which visitors do not get. */
function withoutHeaderRules(folder: DirectoryHandle): DirectoryHandle {
  const isShown = (name: string): boolean => name.toLowerCase() !== NAME
  const { kind, name } = folder
  const shown: ReadableDirectory & CompressingDirectory = {
    kind,
    name,
    getDirectoryHandle: (name) => folder.getDirectoryHandle(name),
    getFileHandle: async (name) => {
      if (isShown(name)) return folder.getFileHandle(name)
      throw new DOMException('there is no such file', 'NotFoundError')
    },
    async *values() {
      for await (const entry of folder.values()) if (isShown(entry.name)) yield entry
    },
    compressed: (file, coding) => (folder as unknown as CompressingDirectory).compressed(file, coding),
  }
  return shown as unknown as DirectoryHandle
}

/**
 * Adds the fields of `_headers`, which is read again when it changes, to the responses of a handler.
 * @param handlerOf makes the handler, of the folder without that file
 */
export function withHeaderRules(
  folder: DirectoryHandle,
  handlerOf: (shown: DirectoryHandle) => FetchHandler,
): FetchHandler {
  const handler = handlerOf(withoutHeaderRules(folder))
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
    const response = await handler(request, info)
    apply(await read(), pathname, response.headers)
    return response
  }
}

/** Parses paths, each followed by indented fields. Other lines are ignored. */
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

/** `*` matches anything, once; `:name` matches one segment. */
function patternOf(path: string): URLPattern {
  const [before = '', ...after] = path.replace(/[{}()+?\\]/g, '\\$&').split('*')
  return new URLPattern({ pathname: after.length === 0 ? before : `${before}*${after.join('\\*')}` })
}

/** A rule's field replaces the file's own; those of several rules are joined. */
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
