// Contents that come as base64: texts, and pictures that a page may show.

import type { BodyBytes } from './types.ts'

/** Pictures that are no documents: an SVG is shown as a text. */
const PICTURES: ReadonlySet<string> = new Set([
  ...['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'],
  ...['image/x-icon', 'image/vnd.microsoft.icon'],
])
const BASE64 = /^[\w+/]*={0,2}$/

/** @returns undefined for bytes that are no text, or not all that there were */
export function textOf({ base64, complete }: BodyBytes): string | undefined {
  if (!complete) return undefined
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Bytes that are converted at once: a call has a limit of arguments. */
const STEP = 0x8000

export function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += STEP)
    text += String.fromCharCode(...bytes.subarray(at, at + STEP))
  return btoa(text)
}

/** @returns the data URL of a picture; undefined for any other content */
export function pictureUrl({ type = '', base64 }: BodyBytes): string | undefined {
  return PICTURES.has(type) && BASE64.test(base64) ? `data:${type};base64,${base64}` : undefined
}
