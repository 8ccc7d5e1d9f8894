// Tests the options that the option `overlay` does not go with.

import { expect, it } from 'vitest'
import { type ExposeOptions, expose, publish } from '../../src/index.ts'

const RELAY = 'https://relay.example'
const invalid = (message: string) => ({ code: 'invalid_option', message: expect.stringContaining(message) })

it.each<[string, Partial<ExposeOptions>, string]>([
  ['the carrier of a page', { carrier: 'websocket' }, 'native or native-sessions'],
  ['a route', { via: ['https://b.example'] }, 'via and overlay exclude each other'],
])('expose refuses it with %s', async (_, options, message) => {
  const exposed = expose({
    relay: RELAY,
    http: 1,
    overlay: true,
    identity: new Uint8Array(32).fill(7),
    ...options,
  })
  await expect(exposed).rejects.toMatchObject(invalid(message))
})

it('publish refuses it with the carrier of a page and with a route', async () => {
  const site = {
    name: 'demo',
    fetch: () => new Response(),
    overlay: true,
    identity: new Uint8Array(32).fill(7),
  }
  const onPage = publish({ ...site, relay: RELAY, carrier: 'websocket' })
  await expect(onPage).rejects.toMatchObject(invalid('native or native-sessions'))
  const routed = publish({ ...site, route: [RELAY, 'https://b.example'] })
  await expect(routed).rejects.toMatchObject(invalid('route and overlay exclude each other'))
})
