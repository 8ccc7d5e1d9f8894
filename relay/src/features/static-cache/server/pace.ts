// Sends stored files no faster than the operator allows their identity, whose visitors share the bandwidth and take turns.

import { RelayError } from '../../../core/errors.ts'
import { LIMITED_READ_MAX_BYTES } from '../../../core/node-internals/shared-read-buffer.ts'
import type { Bandwidth } from '../../../core/rate-limit/bandwidth.ts'
import type { VisitorResponse } from '../live-site/live-sites.ts'
import { hasLeft } from '../live-site/visitor-response.ts'
import type { Snapshot } from '../snapshot.ts'
import {
  LIMITED_RECHECK_MS,
  LIMITED_RESPONSE_BYTES,
  LIMITED_RETRY_AFTER_S,
  LIMITED_WAIT_MAX_MS,
} from './limits.ts'
import { writeBody } from './write-body.ts'

export interface DeliveryParts {
  /** The bandwidth of the identity of a snapshot; undefined while the operator does not limit it. */
  limitOf(snapshot: Snapshot): Bandwidth | undefined
  /** Called with the bytes of stored files that were sent. */
  onSent(bytes: number): void
}

/** The same for one snapshot. */
export interface Delivery extends Pick<DeliveryParts, 'onSent'> {
  /** Called repeatedly, so that a changed policy applies to a response in progress. */
  bandwidth(): Bandwidth | undefined
}

/**
 * Waits until a response may begin. Resolves with false if the visitor leaves first.
 * @throws RelayError `rate_limited` when too much must be sent first
 */
export async function beginInTurn(response: VisitorResponse, bandwidth: Bandwidth): Promise<boolean> {
  if (bandwidth.spend(0) > LIMITED_WAIT_MAX_MS)
    throw new RelayError('rate_limited', 'too many visitors share the bandwidth of this site', {
      'Retry-After': `${LIMITED_RETRY_AFTER_S}`,
    })
  return await inTurn(response, bandwidth, LIMITED_RESPONSE_BYTES)
}

/** Writes bytes of a body, as {@link writeBody} does, but in small pieces while the identity is limited. */
export async function writePaced(
  response: VisitorResponse,
  bytes: Buffer,
  delivery: Delivery,
): Promise<boolean> {
  for (let at = 0; at < bytes.length; ) {
    const bandwidth = delivery.bandwidth()
    const end = bandwidth === undefined ? bytes.length : at + LIMITED_READ_MAX_BYTES
    const piece = bytes.subarray(at, end)
    if (bandwidth !== undefined && !(await inTurn(response, bandwidth, piece.length))) return false
    if (!(await writeBody(response, piece))) return false
    delivery.onSent(piece.length)
    at += piece.length
  }
  return true
}

/**
 * Spends bytes before they are sent: otherwise each of many visitors would send a piece at once, and all would wait
 * afterwards.
 */
async function inTurn(response: VisitorResponse, bandwidth: Bandwidth, bytes: number): Promise<boolean> {
  let waitMs = bandwidth.spend(bytes)
  while (waitMs > 0 && bandwidth.isLimited && !hasLeft(response)) {
    await elapsed(Math.min(waitMs, LIMITED_RECHECK_MS), response)
    waitMs -= LIMITED_RECHECK_MS
  }
  if (!hasLeft(response)) return true
  bandwidth.giveBack(bytes)
  return false
}

/** Resolves after that time, or as soon as the visitor has left. */
function elapsed(milliseconds: number, response: VisitorResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      response.off('close', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    response.once('close', done)
  })
}
