// Forwards of a program under test: each says where it listens, what it speaks there, and where it connects to, over TCP.

/**
 * `tcp` is joined as it is. `tls` ends in the program, as the connection of a native client does. A `carrier` is yamux over
 * WebSocket over TLS, of which each stream is joined to a connection of its own.
 */
export type Kind = 'tcp' | 'tls' | 'carrier'

export interface Forward {
  kind: Kind
  from: number
  to: number
}

export function formatForward({ kind, from, to }: Forward): string {
  return `${kind}:${from}:${to}`
}

export function parseForward(text: string): Forward {
  const [, kind, from, to] = /^(tcp|tls|carrier):(\d+):(\d+)$/.exec(text) ?? []
  if (kind === undefined) throw new Error(`"${text}" is not KIND:FROM:TO`)
  return { kind: kind as Kind, from: Number(from), to: Number(to) }
}
