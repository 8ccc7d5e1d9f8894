// `svc expose --knock` at a real relay: its reports, and `svc knock` from another shell.

import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { text, visit } from '../support/exposed.ts'
import { reported } from '../support/svc.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const own = useSvcAtRelay()
const { at, said, svc } = own

const wait = (url: string): ReturnType<typeof visit> =>
  visit(own.relay, url, '/secret?token=1', { headers: { prefer: 'wait=60', 'user-agent': 'curl/8.5.0' } })

it('reports who knocks, and another shell answers', async () => {
  const run = svc('expose', own.port, '--knock', ...at())
  const { url } = await reported(run, 'online')
  expect(await said('knock', 'list')).toEqual([{ event: 'nobody_waits' }])
  const held = wait(url!)
  const knock = await reported(run, 'knock')
  expect(knock).toMatchObject({ address: '127.0.0.0/24', browser: 'curl/8.5.0', path: '/secret' })
  const { code } = knock
  expect(await said('knock', 'list')).toMatchObject([{ event: 'knock', code, address: '127.0.0.1' }])
  expect(await said('knock', 'admit', 'none')).toMatchObject([
    { event: 'failed', code: 'invalid_option', message: 'nobody with the number none waits' },
  ])
  expect(await said('knock', 'admit', code!)).toEqual([
    { event: 'answered', code, admitted: true, always: false },
  ])
  expect(await text(await held)).toBe('hello')
  expect(await said('knock', 'list')).toEqual([{ event: 'nobody_waits' }])
  expect((await stat(join(own.home, 'svc/run/knock'))).mode & 0o777).toBe(0o700)
})

it('reads the same from svc.toml, and a refusal from now on is one for the address', async () => {
  await writeFile(
    join(own.home, 'svc.toml'),
    `relay = "${own.relay.origin}"
ca = "${own.relay.caFile}"
[[tunnel]]
http = ${own.port}
[tunnel.access]
knock = true
`,
  )
  const run = svc('start', '--config', join(own.home, 'svc.toml'), '--json')
  const { url } = await reported(run, 'online')
  const held = wait(url!)
  const { code } = await reported(run, 'knock')
  await said('knock', 'refuse', code!, '--always')
  expect((await held).statusCode).toBe(403)
  expect((await wait(url!)).statusCode).toBe(403)
})
