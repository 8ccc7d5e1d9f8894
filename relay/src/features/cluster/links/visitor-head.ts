// The head of a stream that carries a visitor to another machine: what this machine knows of the visitor.

import type { SocketAddress } from '@svc/protocol/proxy-protocol'
import { z } from '../../../core/config/schema.ts'
import type { PeekedHello } from '../../../core/ingress/client-hello.ts'
import type { PendingVisitor, TracedAddresses } from '../../../core/reverse/pending-visitor.ts'
import { type FrameReader, frame, frameJson } from './link-messages.ts'

/** Answers of the other machine to a head. */
export const TAKEN = 1
export const NOT_TAKEN = 0

/** The visitor's addresses. */
interface Addresses {
  source?: SocketAddress | undefined
  destination?: SocketAddress | undefined
  /** The trace id in base64. */
  trace: string
}

interface Head {
  kind: 'visitor'
  /** Identity key and id of the lease. */
  key: string
  id: string
  clientIp?: string | undefined
  network?: string | undefined
  isLowPriority: boolean
  /** Milliseconds since the visitor connected. */
  ageMs: number
  sessionsLost: number
  machinesPassed: number
  /** Base64. */
  binding?: string | undefined
  addresses?: Addresses | undefined
  /** Whether two frames follow: all bytes read so far, and the ClientHello message. */
  hasHello: boolean
  serverName?: string | undefined
}

export interface VisitorHead extends Omit<Head, 'addresses'> {
  hello: PeekedHello | undefined
  addresses: TracedAddresses | undefined
}

const end = z.object({ address: z.string(), port: z.number() }).optional()

const schema: z.ZodType<Head> = z.object({
  kind: z.literal('visitor'),
  key: z.string(),
  id: z.string(),
  clientIp: z.string().optional(),
  network: z.string().optional(),
  isLowPriority: z.boolean(),
  ageMs: z.number(),
  sessionsLost: z.number(),
  machinesPassed: z.number(),
  binding: z.string().optional(),
  addresses: z.object({ source: end, destination: end, trace: z.string() }).optional(),
  hasHello: z.boolean(),
  serverName: z.string().optional(),
})

/** @param clientIp undefined when a trusted proxy named no client */
export function encodeVisitorHead(
  pending: PendingVisitor,
  clientIp: string | undefined,
): Buffer<ArrayBuffer> {
  const { lease, hello, binding, addresses, arrivedAt, sessionsLost, network, isLowPriority } = pending
  const head: Head = {
    kind: 'visitor',
    key: lease.identityKey,
    id: lease.id,
    clientIp,
    network,
    isLowPriority,
    ageMs: performance.now() - arrivedAt,
    sessionsLost,
    machinesPassed: (pending.machinesPassed ?? 0) + 1,
    binding: binding?.toString('base64'),
    addresses: addresses && {
      source: addresses.source,
      destination: addresses.destination,
      trace: Buffer.from(addresses.traceId).toString('base64'),
    },
    hasHello: hello !== undefined,
    serverName: hello?.serverName,
  }
  if (hello === undefined) return frameJson(head)
  return Buffer.concat([frameJson(head), frame(hello.received), frame(hello.message)])
}

/** @param json first frame of the stream @throws Error when it is not the head of a visitor */
export async function readVisitorHead(
  json: unknown,
  frames: FrameReader,
  signal: AbortSignal,
): Promise<VisitorHead> {
  const { addresses: sent, ...head } = schema.parse(json)
  const addresses = sent && {
    source: sent.source,
    destination: sent.destination,
    traceId: Buffer.from(sent.trace, 'base64'),
  }
  if (!head.hasHello) return { ...head, addresses, hello: undefined }
  const received = await frames.next(signal)
  const message = await frames.next(signal)
  if (received === undefined || message === undefined) throw new Error('the ClientHello is missing')
  const { serverName } = head
  return { ...head, addresses, hello: { received, message, serverName, isAcmeChallenge: false } }
}
