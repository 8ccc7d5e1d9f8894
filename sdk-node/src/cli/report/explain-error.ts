// Turns an error into one line that says what to do, and an exit code.

import { SvcError } from '@svc/sdk-core'
import { AgentError } from '../../agent/errors.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { printable } from './printable.ts'

export interface Explanation {
  code: string
  message: string
  exitCode: ExitCode
}

const CERTIFICATE_ADVICE =
  'its certificate is not trusted here; for a relay with a CA of its own give --ca FILE'
const CLOCK_ADVICE = "its certificate is not valid at this time; is this machine's clock right?"

/** The meaning of error codes of OpenSSL, the resolver and the network. */
const NETWORK: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE_ADVICE,
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE_ADVICE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE_ADVICE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE_ADVICE,
  UNABLE_TO_GET_ISSUER_CERT: CERTIFICATE_ADVICE,
  CERT_SIGNATURE_FAILURE: CERTIFICATE_ADVICE,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: CLOCK_ADVICE,
  CERT_NOT_YET_VALID: CLOCK_ADVICE,
  ENOTFOUND: 'its name is not known; is the URL right?',
  EAI_AGAIN: 'names cannot be resolved; is there a network?',
  ECONNREFUSED: 'nothing listens there; is the URL right, and does the relay run?',
  ENETUNREACH: 'the network is unreachable',
  EHOSTUNREACH: 'the host is unreachable',
  // By this alert a relay says that it knows no site of the name.
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'no site of this name is online',
}

const EXIT_OF: Readonly<Record<string, ExitCode>> = {
  aborted: EXIT.ok,
  invalid_option: EXIT.usage,
  relay_unreachable: EXIT.unreachable,
  incompatible_relay: EXIT.incompatible,
  unexpected_answer: EXIT.incompatible,
  siwe_mismatch: EXIT.incompatible,
  tunnel_unreachable: EXIT.unreachable,
  quic_unavailable: EXIT.usage,
  alternate_gateway: EXIT.incompatible,
  identity_unavailable: EXIT.identity,
  lease_replaced: EXIT.ended,
  address_refused: EXIT.usage,
  address_in_use: EXIT.usage,
  state_unusable: EXIT.usage,
  agent_running: EXIT.usage,
  agent_unavailable: EXIT.unreachable,
}

const ADVICE: Readonly<Record<string, string>> = {
  hostname_conflict:
    'the name belongs to somebody else: choose another with --name, or --allow-canonical for the canonical URL alone',
  tcp_port_disabled: 'this relay gives no TCP ports',
  tcp_port_capacity_exceeded: 'this relay gives no more TCP ports for now: try again later, or at another',
  tcp_port_exhausted: 'all TCP ports of this relay are in use: try again later, or at another',
  udp_disabled: 'this relay gives no UDP ports',
  udp_capacity_exceeded: 'this relay gives no more UDP ports for now: try again later, or at another',
  udp_port_exhausted: 'all UDP ports of this relay are in use: try again later, or at another',
  tunnel_unreachable:
    'the relay cannot be reached by QUIC: a firewall on the way may let no UDP through to its port, and no HTTP proxy carries UDP',
  invitation_required:
    'this relay lets nobody register without an invitation: ask its operator for one, and give it with --invitation',
  ip_banned: 'this address is banned at the relay',
  lease_rejected: 'the relay does not allow this identity to be reached',
}

/** Of the relay's two reasons, the one that nobody has the name. */
const RESERVED = /\breserved\b/
const RESERVED_ADVICE =
  'this relay reserves the name: choose another with --name, or --allow-canonical for the canonical URL alone'

/** @returns what an error code of OpenSSL, the resolver or the network means, where that is known */
export function meaningOf(code: string): string | undefined {
  return NETWORK[code]
}

export function explainError(error: unknown): Explanation {
  if (!(error instanceof SvcError || error instanceof AgentError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { code: 'internal', message, exitCode: EXIT.failed }
  }
  const { code } = error
  return { code, message: oneLine(messageOf(error)), exitCode: EXIT_OF[code] ?? EXIT.refused }
}

function messageOf(error: SvcError | AgentError): string {
  if (error.code === 'hostname_conflict' && RESERVED.test(error.message)) return RESERVED_ADVICE
  if (error.code !== 'relay_unreachable') return ADVICE[error.code] ?? withReason(error)
  const code = systemCode(error)
  const reason = code === undefined ? innermost(error).message : (NETWORK[code] ?? code)
  return error.message.includes(reason) ? error.message : `${error.message}: ${reason}`
}

/** Adds the system's error about a file, which the message leaves out. */
function withReason(error: SvcError | AgentError): string {
  const reason = systemCode(error)
  return reason === undefined || error.message.includes(reason)
    ? error.message
    : `${error.message} (${reason})`
}

/** @returns the code of the innermost cause that has one */
function systemCode({ cause }: Error): string | undefined {
  if (!(cause instanceof Error)) return undefined
  const { code } = cause as NodeJS.ErrnoException
  return systemCode(cause) ?? (typeof code === 'string' ? code : undefined)
}

function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error
}

/** Removes control characters, because the text may come from a relay. */
function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ')).trim()
}
