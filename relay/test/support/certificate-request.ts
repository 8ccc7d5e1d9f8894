// Certificate requests as openssl makes them.

import { execFileSync } from 'node:child_process'

export const NEW_KEY = {
  'ECDSA P-256': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  'ECDSA P-384': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1'],
  'RSA 2048': ['-newkey', 'rsa:2048'],
  'RSA 4096': ['-newkey', 'rsa:4096'],
} as const

/** Arguments of `openssl req` beside those that every request has. */
interface RequestOptions {
  /** @default a new ECDSA P-256 key */
  key?: readonly string[]
  /** Gets a new key as PEM. @default none does */
  keyFile?: string
  /** @default an empty one */
  subject?: string
  more?: readonly string[]
}

/** @returns DER */
export function certificateRequest(names: readonly string[], options: RequestOptions = {}): Buffer {
  const { key = NEW_KEY['ECDSA P-256'], keyFile = '/dev/null', subject = '/', more = [] } = options
  const alternative =
    names.length > 0 ? ['-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`] : []
  const file = key.includes('-key') ? [] : ['-keyout', keyFile, '-nodes']
  const command = [
    'req',
    '-new',
    '-outform',
    'DER',
    '-subj',
    subject,
    ...key,
    ...file,
    ...alternative,
    ...more,
  ]
  return execFileSync('openssl', command, { stdio: ['ignore', 'pipe', 'ignore'] })
}
