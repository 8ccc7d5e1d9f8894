// Starts the forwarding of requests to live sites, with the relay as a client of the site.

import type { VisitorServer } from '../../../core/bridge/visitor-server.ts'
import type { Visitors } from '../../../core/bridge/visitors.ts'
import type { CertificateRotation } from '../../../core/certificates/certificate-rotation.ts'
import { networkOf } from '../../../core/client-address/ip-address.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import type { Logger } from '../../../core/log/log.ts'
import { LiveSiteAdmission } from './admission.ts'
import { SiteAgent } from './agent.ts'
import { type HasIssued, SiteCertificateCheck } from './certificate.ts'
import { type SiteClient, SiteConnector } from './connector.ts'
import { passOn } from './exchange.ts'
import { asksForWebSocket, type SiteRequest, siteRequestOf, UnfitRequest } from './fields.ts'
import {
  LIVE_DEADLINES,
  LIVE_IDLE_SHARE,
  LIVE_REQUESTS_CONNECTIONS_SHARE,
  LIVE_REQUESTS_MAX,
  type LiveDeadlines,
} from './limits.ts'
import type { LiveSites } from './live-sites.ts'
import { passUpgradeOn, sendUpgradeText } from './upgrade.ts'
import { sendText } from './visitor-response.ts'

export interface LiveSitesParts {
  visitorServer: Pick<VisitorServer, 'serve' | 'addressesOf'>
  visitors: Pick<Visitors, 'visitorsOf'>
  certificates: Pick<CertificateRotation, 'current' | 'presentable'>
  /** @default always false */
  hasIssued?: HasIssued | undefined
  /** Connections that this process may have: those to sites take descriptors besides. */
  connections: number
  /** Aborted as soon as the relay begins to close. */
  closing: AbortSignal
  /** @default LIVE_DEADLINES */
  deadlines?: LiveDeadlines
  log: Logger
}

/** One second: a request refused because there are too many finds room as soon as another one ends. */
const RETRY_AFTER_S = '1'
const TOO_MANY = 'Too many requests are on their way to this site.'

export function startLiveSites(parts: LiveSitesParts): LiveSites {
  return new ConnectedLiveSites(parts)
}

class ConnectedLiveSites implements LiveSites {
  readonly #deadlines: LiveDeadlines
  readonly #admission: LiveSiteAdmission
  readonly #connector: SiteConnector
  readonly #agent: SiteAgent

  constructor(parts: LiveSitesParts) {
    const { certificates, hasIssued = async () => false, connections, deadlines = LIVE_DEADLINES } = parts
    const max = Math.min(LIVE_REQUESTS_MAX, Math.floor(connections * LIVE_REQUESTS_CONNECTIONS_SHARE))
    this.#deadlines = deadlines
    this.#admission = new LiveSiteAdmission(max, deadlines.crowdedQuietMs)
    const certificateCheck = new SiteCertificateCheck(certificates, hasIssued)
    this.#connector = new SiteConnector({ ...parts, certificateCheck })
    this.#agent = new SiteAgent(this.#connector, Math.floor(max * LIVE_IDLE_SHARE), parts.closing)
  }

  async forward(...[request, response, lease, clientIp]: Parameters<LiveSites['forward']>): Promise<boolean> {
    const exchange = { request, response }
    // The writer learns from the response's end that the visitor has left.
    response.on('error', () => {})
    const passed = fit(() => siteRequestOf(request, lease))
    if (passed instanceof UnfitRequest) {
      await sendText(exchange, passed.status, passed.message)
      return true
    }
    const slot = this.#admission.enter(lease, networkIn(clientIp))
    if (slot === undefined) {
      await sendText(exchange, 503, TOO_MANY, { 'Retry-After': RETRY_AFTER_S })
      return true
    }
    try {
      const client = clientOf(lease, clientIp, response)
      const deadlines = this.#deadlines
      return await passOn({ ...exchange, passed, client, deadlines, slot }, this.#agent)
    } catch (error) {
      if (!(error instanceof UnfitRequest)) throw error
      await sendText(exchange, error.status, error.message)
      return true
    } finally {
      slot.leave()
    }
  }

  async upgrade(
    ...[request, socket, head, lease, clientIp]: Parameters<LiveSites['upgrade']>
  ): Promise<boolean> {
    socket.on('error', () => {})
    const passed = fit(() => siteRequestOf(request, lease))
    if (passed instanceof UnfitRequest) {
      await sendUpgradeText(socket, passed.status, passed.message)
      return true
    }
    if (!asksForWebSocket(request) || passed.hasBody) {
      await sendUpgradeText(socket, 501, 'The only other protocol that is known here is WebSocket.')
      return true
    }
    const slot = this.#admission.enter(lease, networkIn(clientIp))
    if (slot === undefined) {
      await sendUpgradeText(socket, 503, TOO_MANY, ['Retry-After', RETRY_AFTER_S])
      return true
    }
    try {
      const client = clientOf(lease, clientIp, socket)
      const deadlines = this.#deadlines
      return await passUpgradeOn({ socket, head, passed, client, deadlines, slot }, this.#agent)
    } catch (error) {
      if (!(error instanceof UnfitRequest)) throw error
      await sendUpgradeText(socket, error.status, error.message)
      return true
    } finally {
      slot.leave()
    }
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    await this.#connector.close()
  }
}

function fit(read: () => SiteRequest): SiteRequest | UnfitRequest {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnfitRequest) return error
    throw error
  }
}

function networkIn(clientIp: string | undefined): string | undefined {
  return clientIp === undefined ? undefined : networkOf(clientIp)
}

/** @param connection emits 'close' when the client has left */
function clientOf(
  lease: Lease,
  clientIp: string | undefined,
  connection: { once(event: 'close', listener: () => void): unknown },
): SiteClient {
  const left = new AbortController()
  connection.once('close', () => left.abort())
  return { lease, clientIp, left: left.signal }
}
