// What a test starts a server with.

import type { DnsLog, DnsServerOptions } from '../../src/server/start-dns-server.ts'

/** The setting that messages name, and the thread as it is in the checkout. */
export const STARTED: Pick<DnsServerOptions, 'setting' | 'code'> = {
  setting: 'DNS_ADDR',
  code: { script: new URL('../../src/server/dns-thread.ts', import.meta.url), options: {} },
}

/** A log that keeps the messages, as JSON lines with the fields, of `error` alone or of `info` as well. */
export function logTo(lines: string[], level: 'info' | 'error'): DnsLog {
  const write = (fields: object, msg: string): void => void lines.push(JSON.stringify({ ...fields, msg }))
  return { info: level === 'info' ? write : () => {}, error: write }
}
