// A tunnel loads the code that it needs, and no more: the rest costs each start its time, and each process its memory.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

it('a tunnel to an HTTP server serves a visitor without fetch, HTTP/2, and libraries of other features', async () => {
  const target = createServer((_request, response) => response.end('hello'))
  await once(target.listen(0, '127.0.0.1'), 'listening')
  const { port } = target.address() as AddressInfo
  const script = `
    import { registerHooks } from 'node:module'
    const libraries = new Set()
    registerHooks({
      load: (url, context, next) => {
        const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
        if (name !== undefined) libraries.add(name)
        return next(url, context)
      },
    })
    const { expose } = await import(${JSON.stringify(new URL('../../src/expose/expose.ts', import.meta.url).href)})
    await import(${JSON.stringify(new URL('../../src/cli/run-command.ts', import.meta.url).href)})
    const { get } = await import('node:https')
    const identity = crypto.getRandomValues(new Uint8Array(32))
    const options = { relay: ${JSON.stringify(relay.origin)}, ca: ${JSON.stringify(relay.ca)}, identity }
    const exposure = await expose({ ...options, name: 'lean', http: ${port} })
    const url = new URL(exposure.sites[0].url)
    const status = await new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: url.port, servername: url.hostname, ca: options.ca }
      get({ ...where, headers: { Host: url.host } }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode))
      }).on('error', reject)
    })
    const parts = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''))
    console.log(JSON.stringify({ status, libraries: [...libraries].sort(), parts }))
    await exposure.close()
    process.exit()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  target.close()
  const { status, libraries, parts } = JSON.parse(stdout)
  expect(status).toBe(200)
  expect(parts).toContain('https')
  for (const part of ['internal/deps/undici/undici', 'http2']) expect(parts).not.toContain(part)
  const webSocket = ['bufferutil', 'isomorphic-ws', 'node-gyp-build', 'ws']
  expect(libraries).toEqual(['@noble/hashes', '@noble/secp256k1', 'commander', ...webSocket].sort())
})
