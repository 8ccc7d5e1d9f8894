// Accepts the reverse endpoint of a lease: the relay's own, or a gateway that the site has checked.

import { CAPABILITY_MAX_BYTES, PATH, type ReverseEndpointRequest, type Routing } from '@svc/protocol'
import { SvcError } from '../errors.ts'
import { requireRecord, requireText } from './json-checks.ts'
import { ENDPOINTS_REFUSED_MAX } from './limits.ts'
import type { RelayClient } from './relay-client.ts'

/**
 * A GatewayCheck resolves with whether a site accepts the gateway whose endpoint is at `url`.
 * @param descriptor the gateway's descriptor as the relay sent it
 * @param now the relay's time in milliseconds since the epoch
 */
export type GatewayCheck = (url: URL, descriptor: unknown, now: number) => Promise<boolean>

/** An Endpoint is where the SDK opens its carrier. */
export interface Endpoint {
  /** The reverse capability, which the SDK presents on the carrier and on each of its streams. */
  capability: string
  /** The `wss:` URL of the carrier. */
  carrierUrl: string
  /** True for an endpoint at a gateway that the relay chose: it must be at a public address. */
  isGateway: boolean
  /** Whether visitors may come. `allowed` when the relay does not say. */
  routing: Routing
}

/** Capabilities are printable ASCII without separators, because they travel in HTTP fields (RFC 9110 §5.6.2). */
const CAPABILITY = new RegExp(`^[\\w.~+-]{1,${CAPABILITY_MAX_BYTES}}$`)

interface EndpointQuestion {
  accessToken: string
  /** Undefined when a site accepts no gateways: a page cannot see the address of one. */
  checkGateway?: GatewayCheck | undefined
}

/**
 * Fetches a lease's endpoint and routing again.
 * @param failed an endpoint to avoid
 * @throws SvcError `alternate_gateway` when the relay names only endpoints that the site does not accept
 */
export async function fetchEndpoint(
  client: RelayClient,
  lease: EndpointQuestion,
  signal?: AbortSignal,
  failed?: Pick<Endpoint, 'carrierUrl'>,
): Promise<Endpoint> {
  const data = await askForEndpoint(
    client,
    lease.accessToken,
    failed?.carrierUrl.replace(/^wss/, 'https'),
    signal,
  )
  return acceptEndpoint(client, lease, data, signal)
}

async function askForEndpoint(
  client: RelayClient,
  accessToken: string,
  failedUrl: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  const body: ReverseEndpointRequest = { access_token: accessToken, failed_url: failedUrl }
  return requireRecord(await client.call(PATH.reverse, { body, signal }), 'reverse endpoint')
}

/** Treats an endpoint that the site does not accept as failed, so that the relay names another one. */
export async function acceptEndpoint(
  client: RelayClient,
  { accessToken, checkGateway }: EndpointQuestion,
  first: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<Endpoint> {
  for (let data = first, refused = 0; ; refused++) {
    const url = endpointUrl(data)
    if (isOwn(client, url, data)) return parseEndpoint(data, url, false)
    if (data.overlay === true && (await checkGateway?.(url, data.gateway, client.clock.now)))
      return parseEndpoint(data, url, true)
    if (refused === ENDPOINTS_REFUSED_MAX)
      throw new SvcError('alternate_gateway', `the relay sends reverse sessions to ${url.origin}: refused`)
    data = await askForEndpoint(client, accessToken, url.href, signal)
  }
}

function endpointUrl(endpoint: Record<string, unknown>): URL {
  const url = URL.parse(requireText(endpoint, 'url', /^https:/i))
  if (url === null) throw new SvcError('unexpected_answer', 'reverse_endpoint.url is not a URL')
  return url
}

/** Returns whether the URL is the relay's own. A relay must not send the page's streams to another host. */
function isOwn(client: RelayClient, url: URL, { overlay }: Record<string, unknown>): boolean {
  return url.origin === client.origin && overlay !== true
}

function parseEndpoint(
  endpoint: Record<string, unknown>,
  { host, pathname, search }: URL,
  isGateway: boolean,
): Endpoint {
  const { routing } = endpoint
  return {
    capability: requireText(endpoint, 'capability', CAPABILITY),
    carrierUrl: `wss://${host}${pathname}${search}`,
    isGateway,
    routing: routing === 'approval' || routing === 'rejected' ? routing : 'allowed',
  }
}
