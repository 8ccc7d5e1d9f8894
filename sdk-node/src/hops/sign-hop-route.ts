// Signs hop routes with the key of the identity.

import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { type HopRoute, type HopRouteMethod, hopRouteText } from '@svc/protocol'

/** A hop route without the signer's fields. */
type HopRouteTerms = Omit<HopRoute, 'owner_public_key' | 'signature'>

/** Signs hop routes of one owner. */
export type SignHopRoute = (method: HopRouteMethod, terms: HopRouteTerms) => HopRoute

const COORDINATE_BYTES = 32

/** @param privateKey a valid secp256k1 key of 32 bytes */
export function hopRouteSigner(privateKey: Uint8Array): SignHopRoute {
  const curve = createECDH('secp256k1')
  curve.setPrivateKey(privateKey)
  const key = keyObject(privateKey, curve.getPublicKey())
  const owner_public_key = curve.getPublicKey('hex', 'compressed')
  return (method, terms) => {
    const route = { owner_public_key, ...terms }
    const signature = sign('sha256', Buffer.from(hopRouteText(method, route)), key).toString('hex')
    return { ...route, signature }
  }
}

function keyObject(privateKey: Uint8Array, point: Buffer): KeyObject {
  const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
  const x = base64url(point.subarray(1, 1 + COORDINATE_BYTES))
  const y = base64url(point.subarray(1 + COORDINATE_BYTES))
  return createPrivateKey({
    format: 'jwk',
    key: { kty: 'EC', crv: 'secp256k1', d: base64url(privateKey), x, y },
  })
}
