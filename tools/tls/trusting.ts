// What the HTTPS clients of tests share, though each request has a connection: the parsed CA, and the TLS sessions, with which a
// handshake takes half the processor time.
import { Agent } from 'node:https'
import { createSecureContext, type SecureContext } from 'node:tls'

interface Trusting {
  secureContext: SecureContext
  /** It keeps sessions, and no connection. */
  agent: Agent
}

/** CAs that are kept parsed: many more than the relays of one test file. */
const CAS_MAX = 64
const kept = new Map<string, Trusting>()

/**
 * @param ca as PEM
 * @returns options of a request that trusts only this CA, and resumes no session in which another was trusted
 */
export function trusting(ca: string): Trusting {
  const known = kept.get(ca) ?? { secureContext: createSecureContext({ ca }), agent: new Agent() }
  if (kept.size >= CAS_MAX) kept.clear()
  kept.set(ca, known)
  return known
}
