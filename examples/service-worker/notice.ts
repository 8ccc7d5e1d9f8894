// The notice, which outlives the worker: Cache Storage is what a worker has for a text.
import { CHANNEL, NOTICE_MAX_CHARS } from './messages.ts'

const KEY = '/notice'

let notice: Promise<string> | undefined

export function readNotice(): Promise<string> {
  notice ??= load()
  return notice
}

export async function writeNotice(text: string): Promise<void> {
  const kept = text.slice(0, NOTICE_MAX_CHARS).toWellFormed()
  notice = Promise.resolve(kept)
  const cache = await caches.open(CHANNEL)
  await cache.put(KEY, new Response(kept))
}

async function load(): Promise<string> {
  const cache = await caches.open(CHANNEL)
  const stored = await cache.match(KEY)
  return stored ? stored.text() : ''
}
