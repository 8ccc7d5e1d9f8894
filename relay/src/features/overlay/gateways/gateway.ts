// The gateway: accepts requests with delegated capabilities, and carries each over the overlay to the relay that signed
// it.

import type { IncomingHttpHeaders } from 'node:http'
import { resetSocket } from '@svc/node-kit/sockets'
import { AUDIENCE, HEADER } from '@svc/protocol'
import { sendData } from '../../../core/api/http/envelope.ts'
import { RelayError } from '../../../core/errors.ts'
import type { CarriedRequest, ReverseGateway } from '../../../core/reverse/connect-endpoint.ts'
import { askPeer, errorIn, type PeerUpgrade } from '../ask-peer.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import type { OverlayHandler } from '../overlay-server.ts'
import { type IngressIdentities, unverifiedClaims } from './ingress-identities.ts'
import { join } from './join.ts'
import { CARRIED_PATH } from './paths.ts'
import { SourceLimits } from './source-limits.ts'

/** Time for an ingress relay to accept a session, in milliseconds. */
const GATEWAY_CARRY_DEADLINE_MS = 10_000
/** Fields of a request, and of the answer to it, that the two ends of a session understand. */
const REQUEST_FIELDS = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol'] as const
const ANSWER_FIELDS = ['upgrade', 'sec-websocket-accept', 'sec-websocket-protocol'] as const

interface Carried {
  peer: OverlayPeer
  clientIp: string
  cut: () => void
}

export class Gateway implements ReverseGateway {
  readonly limits: SourceLimits
  /** Requests by outcome. */
  readonly counts: Record<'carried' | 'refused' | 'failed', number> = { carried: 0, refused: 0, failed: 0 }
  readonly #network: OverlayNetwork
  readonly #identities: IngressIdentities
  readonly #carryMs: number
  readonly #carried = new Set<Carried>()

  /** @param carryMs time for an ingress relay to accept a session */
  constructor(
    network: OverlayNetwork,
    identities: IngressIdentities,
    limits: SourceLimits = new SourceLimits(),
    carryMs: number = GATEWAY_CARRY_DEADLINE_MS,
  ) {
    this.#network = network
    this.#identities = identities
    this.limits = limits
    this.#carryMs = carryMs
  }

  /** Number of joined sessions. */
  get sessions(): number {
    return this.#carried.size
  }

  isDelegated(capability: string): boolean {
    return unverifiedClaims(capability)?.aud === AUDIENCE.overlayReverse
  }

  async carry(request: CarriedRequest): Promise<void> {
    const releaseSource = this.limits.take(request.clientIp)
    let releaseShare = (): void => {}
    const release = (): void => {
      releaseSource()
      releaseShare()
    }
    try {
      const verified = await this.#identities.verify(request.capability)
      if (verified === undefined) {
        this.counts.refused += 1
        throw new RelayError('unauthorized', 'the capability is not valid at this gateway')
      }
      releaseShare = this.limits.takeShare(verified.peer.identity)
      const answer = await this.#ask(verified.peer, request)
      this.#join(request, verified.peer, answer, release)
    } catch (error) {
      release()
      throw error
    }
  }

  /** Cuts the selected sessions, such as those of banned relays and addresses. */
  cut(isMeant: (peer: OverlayPeer, clientIp: string) => boolean): void {
    for (const { peer, clientIp, cut } of this.#carried) if (isMeant(peer, clientIp)) cut()
  }

  /** @throws RelayError the ingress relay's own, or `feature_unavailable` when it cannot be reached */
  async #ask(
    peer: OverlayPeer,
    { request, protocol, capability, socket }: CarriedRequest,
  ): Promise<PeerUpgrade> {
    const gone = new AbortController()
    const leave = (): void => gone.abort(new Error('the client left'))
    socket.once('close', leave)
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(this.#carryMs)])
    const headers: Record<string, string> = { Connection: 'Upgrade', Upgrade: protocol }
    if (protocol === 'websocket')
      for (const name of REQUEST_FIELDS) headers[name] = `${request.headers[name] ?? ''}`
    else headers[HEADER.reverseCapability] = capability
    try {
      const answer = await askPeer(this.#network, peer, { path: CARRIED_PATH, headers }, signal)
      if (answer.socket !== undefined) return answer
      this.counts.refused += 1
      throw refusalOf(answer)
    } catch (error) {
      if (error instanceof RelayError) throw error
      this.counts.failed += 1
      throw new RelayError('feature_unavailable', 'the relay of the lease cannot be reached over the overlay')
    } finally {
      socket.off('close', leave)
    }
  }

  #join(
    { socket, tcp, clientIp }: CarriedRequest,
    peer: OverlayPeer,
    { socket: outbound, head, headers }: PeerUpgrade,
    release: () => void,
  ): void {
    if (socket.destroyed) {
      outbound.destroy()
      release()
      return
    }
    this.counts.carried += 1
    socket.write(switchingProtocols(headers))
    if (head.length > 0) socket.write(head)
    const client = {
      connection: socket,
      reset: () => resetSocket(tcp, socket),
    }
    const carried = { peer, clientIp, cut: client.reset }
    this.#carried.add(carried)
    const ingress = { connection: outbound, reset: () => resetSocket(outbound) }
    void join(client, ingress).then(() => {
      this.#carried.delete(carried)
      release()
    })
  }
}

/** Answers another relay that wants to know whether this one is a gateway with room. */
export function answerProbe(hasRoom: () => boolean): OverlayHandler {
  return (_peer, _request, response) => {
    if (!hasRoom()) throw new RelayError('feature_unavailable', 'no gateway, or no room')
    sendData(response, { gateway: true })
  }
}

function switchingProtocols(headers: IncomingHttpHeaders): string {
  const lines = ANSWER_FIELDS.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [`${name}: ${value}\r\n`] : []
  })
  return `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\n${lines.join('')}\r\n`
}

/** Returns the ingress relay's refusal if it is one of the protocol's own. */
function refusalOf({ headers, text }: { headers: IncomingHttpHeaders; text: string }): RelayError {
  const pause = headers['retry-after']
  const more: Record<string, string> =
    pause !== undefined && /^\d{1,4}$/.test(pause) ? { 'Retry-After': pause } : {}
  const { code } = errorIn(text)
  if (code !== undefined) return new RelayError(code, 'the relay of the lease refuses the session', more)
  return new RelayError('feature_unavailable', 'the relay of the lease gives no sessions', more)
}
