// The content of a request that is kept.

import type { DirectRequest } from '@svc/sdk-core'
import type { Room } from '@svc/sdk-core/webhooks'
import { HELD_BODY_MAX_BYTES } from './limits.ts'

/** What a kept request costs besides its content, in bytes: its objects. */
const OBJECTS_BYTES = 1024

/**
 * Reads the content to its end. What it returns is taken from the room.
 * @returns undefined when it is too long, or there is no room for it
 * @throws the error of the content
 */
export async function readWhole(
  { url, fields, body, remote }: DirectRequest,
  room: Room,
): Promise<{ parts: Uint8Array[]; bytes: number } | undefined> {
  const parts: Uint8Array[] = []
  let taken = 0
  let length = 0
  const take = (bytes: number): boolean => {
    if (!room.take(remote, bytes)) return false
    taken += bytes
    return true
  }
  let isKept = false
  try {
    const head = fields.reduce((total, [name, value]) => total + name.length + value.length, url.href.length)
    if (!take(2 * head + OBJECTS_BYTES)) return undefined
    for (let part = await body?.next(); part; part = await body?.next()) {
      length += part.length
      if (length > HELD_BODY_MAX_BYTES || !take(part.length)) return undefined
      parts.push(part.slice())
    }
    isKept = true
    return { parts, bytes: taken }
  } finally {
    if (!isKept) room.release(remote, taken)
  }
}
