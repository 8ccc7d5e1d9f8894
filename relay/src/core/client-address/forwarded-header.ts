// Parses `Forwarded` (RFC 7239 §4): the chain of senders of a request, as each proxy on its way saw it.

import { isIPv4, isIPv6 } from 'node:net'
import { normalizeIp } from './ip-address.ts'

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/** Nodes and hosts contain no backslash: an escape is parsed, but then matches neither. */
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"'
/** A parameter, if any, and what follows it: `;` within an element, `,` between elements, or the end. */
const PART = new RegExp(`[ \\t]*(?:(${TOKEN})=(${TOKEN}|${QUOTED})[ \\t]*)?(;|,|$)`, 'y')
const PORT = /^(?:\d{1,5}|_[A-Za-z0-9._-]+)$/

/** Address from which a proxy got the request; undefined if the proxy withheld or obfuscated it. */
export type ForwardedElement = string | undefined

/**
 * The `for` of each element, first proxy first; addresses are normalized.
 * @returns undefined when the field is not what RFC 7239 allows
 */
export function parseForwarded(field: string): ForwardedElement[] | undefined {
  const hops: ForwardedElement[] = []
  let parameters = new Map<string, string>()
  PART.lastIndex = 0
  for (let end = ','; end !== ''; ) {
    const part = PART.exec(field)
    if (part === null) return undefined
    const [, name, value, separator = ''] = part
    end = separator
    if (name !== undefined && value !== undefined) {
      if (parameters.has(name.toLowerCase())) return undefined
      parameters.set(name.toLowerCase(), unquote(value))
    }
    if (end === ';' || parameters.size === 0) continue
    const hop = hopOf(parameters.get('for'))
    if (hop === 'malformed') return undefined
    hops.push(hop.ip)
    parameters = new Map()
  }
  return hops
}

/** A node (RFC 7239 §6): an address, `unknown` or `_obfuscated`, and perhaps a port. */
function hopOf(node: string | undefined): { ip: ForwardedElement } | 'malformed' {
  if (node === undefined) return { ip: undefined }
  const [, name = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(node) ?? []
  if (port !== undefined && !PORT.test(port)) return 'malformed'
  if (/^unknown$/i.test(name) || /^_[A-Za-z0-9._-]+$/.test(name)) return { ip: undefined }
  if (isIPv4(name)) return { ip: name }
  const inBrackets = name.slice(1, -1)
  if (!name.startsWith('[') || inBrackets.includes('%') || !isIPv6(inBrackets)) return 'malformed'
  return { ip: normalizeIp(inBrackets) }
}

function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}
