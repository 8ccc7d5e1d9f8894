// Fields that an exported program leaves out.

/** Fields that the client sets itself, or that belong to the visitor's connection (RFC 9110 §7.6.1). */
export const OF_CLIENT: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'expect',
  'keep-alive',
  'te',
  'upgrade',
])
