// One message of protobuf as a text for people.

import { indented } from '../indented.ts'
import type { Descriptors } from './descriptors.ts'
import { wireFields } from './wire-fields.ts'

/** The most bytes of a message that is decoded by its descriptor: hostile ones take some half a second for so many. */
const DECODED_MAX_BYTES: number = 256 * 1024

/** A ShownMessage is a message as a text. */
export interface ShownMessage {
  /** The name of its type, when it was decoded by its descriptor. */
  type?: string | undefined
  /** Indented JSON by the descriptor, or the fields by number. */
  text: string
  /** True when there is more of it. */
  cut: boolean
  /** Why it was not decoded by a descriptor. */
  problem?: string | undefined
}

/**
 * @param type the name of its type, if that is known
 * @param isCut whether the bytes are the beginning of the message
 */
export function shownMessage(
  bytes: Uint8Array,
  isCut: boolean,
  type: string | undefined,
  descriptors: readonly Descriptors[],
): ShownMessage {
  const known = type === undefined ? undefined : descriptors.find((one) => one.has(type))
  if (!known || type === undefined) return byNumber(bytes, isCut, whyUnknown(type, descriptors))
  if (isCut) return byNumber(bytes, isCut, `${type}: only the beginning of the message was kept`)
  if (bytes.length > DECODED_MAX_BYTES) return byNumber(bytes, isCut, `${type}: the message is too long`)
  try {
    const { json, unknown } = known.decode(type, bytes)
    const rest = unknown.length === 0 ? '' : `\n\nNot in the descriptor:\n${unknown.join('\n')}`
    return { type, text: indented(json) + rest, cut: false }
  } catch (error) {
    return byNumber(bytes, isCut, `${type}: ${(error as Error).message}`)
  }
}

function byNumber(bytes: Uint8Array, isCut: boolean, problem: string | undefined): ShownMessage {
  const { lines, isWhole } = wireFields(bytes)
  return { text: lines.join('\n'), cut: isCut || !isWhole, ...(problem !== undefined && { problem }) }
}

function whyUnknown(type: string | undefined, descriptors: readonly Descriptors[]): string | undefined {
  if (descriptors.length === 0) return undefined
  return type === undefined ? 'the type of the message is not known' : `the descriptors do not have ${type}`
}
