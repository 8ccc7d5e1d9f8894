// `publish` and `expose` refuse options that do not exist, before they do anything, and name the one that was meant.

import { expect, it } from 'vitest'
import { type ExposeOptions, expose, type NodePublishOptions, publish } from '../../src/index.ts'

const relay = 'https://relay.example'

it.each([
  [{ identityPat: 'me.json' }, 'there is no option identityPat: is identityPath meant?'],
  [{ handler: () => new Response() }, 'there is no option handler'],
  [{ routs: [relay] }, 'there is no option routs: is route meant?'],
  [{ tls: { minversion: 'TLSv1.2' } }, 'there is no option tls.minversion: is tls.minVersion meant?'],
])('publish: %o', async (change, message) => {
  const options = { relay, fetch: () => new Response(), ...change } as NodePublishOptions
  await expect(publish(options)).rejects.toMatchObject({ code: 'invalid_option', message })
})

it.each([
  [{ htpp: 3000 }, 'there is no option htpp: is http meant?'],
  [{ http: 3000, nam: 'demo' }, 'there is no option nam: is name meant?'],
  [{ http: 3000, route: [relay] }, 'there is no option route: is routes meant?'],
  [{ http: 3000, hide: true }, 'there is no option hide: a site is on no list unless it has listed: true'],
])('expose: %o', async (change, message) => {
  const options = { relay, ...change } as ExposeOptions
  await expect(expose(options)).rejects.toMatchObject({ code: 'invalid_option', message })
})

it('expose: cache together with dedicated ports, of which the relay stores nothing', async () => {
  const options = { relay, fetch: () => new Response(), cache: { files: {} } }
  for (const port of [{ tcp: 22 }, { udp: 53 }])
    await expect(expose({ ...options, ...port })).rejects.toMatchObject({
      message: /cache excludes tcp and udp/,
    })
})
