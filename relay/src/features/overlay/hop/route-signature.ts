// Finds the owner of a hop route by its signature.

import { createPublicKey, ECDH, verify } from 'node:crypto'
import { type HopRoute, type HopRouteMethod, hopRouteText } from '@svc/protocol'
import { addressOfPublicKey } from '../../../core/auth/ethereum-address.ts'

const COORDINATE_BYTES = 32

/**
 * The address of the owner's key: lower case with `0x`.
 * @returns undefined when that key did not sign the route for this method
 */
export function ownerOf(method: HopRouteMethod, route: HopRoute): string | undefined {
  const point = pointOf(route.owner_public_key)
  if (point === undefined) return undefined
  const x = point.subarray(1, 1 + COORDINATE_BYTES).toString('base64url')
  const y = point.subarray(1 + COORDINATE_BYTES).toString('base64url')
  const key = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'secp256k1', x, y } })
  const text = Buffer.from(hopRouteText(method, route))
  return verify('sha256', text, key, Buffer.from(route.signature, 'hex'))
    ? addressOfPublicKey(point)
    : undefined
}

/** The uncompressed form of the key; undefined when there is no such point on the curve. */
function pointOf(compressed: string): Buffer | undefined {
  try {
    return ECDH.convertKey(compressed, 'secp256k1', 'hex', undefined, 'uncompressed') as Buffer
  } catch {
    return undefined
  }
}
