// A strict parser of Sign-In with Ethereum messages: exactly the ABNF of EIP-4361.

import { SIWE_FIRST_LINE_END, type SiweMessage } from '@svc/protocol'
import { checksumAddress } from '../identity/key.ts'
import { parseDateTime } from './date-time.ts'
import { isAuthority, isPchars, isScheme, isUri } from './uri.ts'

/** The longest message, in characters. EIP-4361 sets no limit; a sign-in has about 400. */
export const SIWE_MAX_CHARS = 8192

const ADDRESS = /^0x[\da-f]{40}$/i
/** `1*( reserved / unreserved / " " )` of RFC 3986. */
const STATEMENT = /^[\w.~:/?#[\]@!$&'()*+,;= -]+$/
const NONCE = /^[A-Za-z\d]{8,}$/
/** `1*DIGIT`. JavaScript cannot distinguish numbers above 2^53 - 1. */
const CHAIN_ID = /^\d{1,16}$/

/** Returns the fields of `text`, or undefined when it does not match the ABNF of EIP-4361. */
export function parseSiwe(text: string): SiweMessage | undefined {
  if (text.length > SIWE_MAX_CHARS) return undefined
  const lines = new Lines(text)
  const message = readHead(lines)
  return message && readFields(lines, message)
}

type Head = Pick<SiweMessage, 'scheme' | 'domain' | 'address' | 'statement'>

/** Reads from the first line to the empty line after the statement. */
function readHead(lines: Lines): Head | undefined {
  const first = lines.next() ?? ''
  const address = lines.next() ?? ''
  if (!first.endsWith(SIWE_FIRST_LINE_END) || lines.next() !== '') return undefined
  const origin = first.slice(0, -SIWE_FIRST_LINE_END.length)
  const schemeEnd = origin.indexOf('://')
  const scheme = schemeEnd < 0 ? undefined : origin.slice(0, schemeEnd)
  const domain = schemeEnd < 0 ? origin : origin.slice(schemeEnd + 3)
  if ((scheme !== undefined && !isScheme(scheme)) || !isAuthority(domain)) return undefined
  if (!ADDRESS.test(address) || checksumAddress(address) !== address) return undefined
  // Without a statement, the empty lines around it remain (`[ statement LF ] LF`).
  const statement = lines.next()
  if (statement === '') return { scheme, domain, address, statement: undefined }
  const isStatement = statement !== undefined && STATEMENT.test(statement)
  return isStatement && lines.next() === '' ? { scheme, domain, address, statement } : undefined
}

function readFields(lines: Lines, head: Head): SiweMessage | undefined {
  const uri = lines.field('URI: ')
  const version = lines.field('Version: ')
  const chainId = lines.field('Chain ID: ') ?? ''
  const nonce = lines.field('Nonce: ') ?? ''
  const issuedAt = lines.field('Issued At: ')
  const expirationTime = lines.field('Expiration Time: ')
  const notBefore = lines.field('Not Before: ')
  const requestId = lines.field('Request ID: ')
  const resources = readResources(lines)
  if (!lines.isEnd || uri === undefined || !isUri(uri) || version !== '1') return undefined
  if (!CHAIN_ID.test(chainId) || !Number.isSafeInteger(Number(chainId)) || !NONCE.test(nonce))
    return undefined
  if (issuedAt === undefined || parseDateTime(issuedAt) === undefined) return undefined
  for (const time of [expirationTime, notBefore])
    if (time !== undefined && parseDateTime(time) === undefined) return undefined
  if (requestId !== undefined && !isPchars(requestId)) return undefined
  if (resources?.some((resource) => !isUri(resource))) return undefined
  const times = { issuedAt, expirationTime, notBefore }
  return { ...head, uri, chainId: Number(chainId), nonce, ...times, requestId, resources }
}

function readResources(lines: Lines): string[] | undefined {
  if (!lines.skip('Resources:')) return undefined
  const resources: string[] = []
  for (;;) {
    const resource = lines.field('- ')
    if (resource === undefined) return resources
    resources.push(resource)
  }
}

/** Lines reads a text line by line. */
class Lines {
  readonly #lines: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#lines = text.split('\n')
  }

  get isEnd(): boolean {
    return this.#at === this.#lines.length
  }

  next(): string | undefined {
    return this.#lines[this.#at++]
  }

  /** Skips the next line if it is `line`, and returns whether it was. */
  skip(line: string): boolean {
    const isNext = this.#lines[this.#at] === line
    if (isNext) this.#at++
    return isNext
  }

  /** Returns what follows `name` in the next line. If the line begins otherwise, it is kept and the result is undefined. */
  field(name: string): string | undefined {
    const line = this.#lines[this.#at]
    if (!line?.startsWith(name)) return undefined
    this.#at++
    return line.slice(name.length)
  }
}
