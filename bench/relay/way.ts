// A way through a program under test: where it listens, what it speaks there, and where it connects to, over TCP.

/**
 * `tcp` is joined as it is. `tls` ends in the program, as the connection of a native client does. A `carrier` is yamux over
 * WebSocket over TLS, of which each stream is joined to a connection of its own.
 */
export type Kind = 'tcp' | 'tls' | 'carrier'

export interface Way {
  kind: Kind
  from: number
  to: number
}

export function formatWay({ kind, from, to }: Way): string {
  return `${kind}:${from}:${to}`
}

export function parseWay(text: string): Way {
  const [, kind, from, to] = /^(tcp|tls|carrier):(\d+):(\d+)$/.exec(text) ?? []
  if (kind === undefined) throw new Error(`"${text}" is not KIND:FROM:TO`)
  return { kind: kind as Kind, from: Number(from), to: Number(to) }
}
