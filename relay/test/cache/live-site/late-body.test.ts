// curl over HTTP/2, which sends a form after the whole response of the live site has come: curl 7.88 fails when RST_STREAM comes first.

import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curl } from '../../../../tools/programs/curl.ts'
import { useStarted } from '../../../../tools/use-started.ts'
import { LIVE_DEADLINES } from '../../../src/features/static-cache/live-site/limits.ts'
import { openLiveSite, startLiveRelay } from '../../support/live-sites.ts'
import { nodeHttp } from '../../support/tls-site.ts'

// A loaded machine takes a while to send the form.
const deadlines = { ...LIVE_DEADLINES, discardMs: 10_000 }

/** Bytes that fill a pipe of 64 KiB with the trace of a handshake and of a head of 14,000 bytes, and not with the first alone. */
const FILLED_BYTES = 24_000

let folder: string
const relay = useStarted(() => startLiveRelay({ deadlines }))
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-late-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('curl is content with a response that came before it sent its form', async () => {
  let answered = 0
  const { serve } = nodeHttp((_request, response) => {
    answered += 1
    response.writeHead(200, { Connection: 'close' }).end('whole')
  })
  const site = await openLiveSite(relay, 'early', serve)
  // curl writes its trace between head and form. The pipe is full then, and is read when the response has come.
  const trace = join(folder, 'trace')
  execFileSync('mkfifo', [trace])
  const pipe = await open(trace, 'r+')
  await pipe.write(Buffer.alloc(FILLED_BYTES))
  const fields = ['--header', `X-Filler: ${'x'.repeat(14_000)}`, '--form', 'name=Ann']
  const said = curl(relay.caFile, '--http2', '--trace', trace, ...fields, site.url)
  await expect.poll(() => answered).toBe(1)
  await pause(200)
  const drained = pipe.createReadStream().resume()
  try {
    expect(String(await said)).toBe('whole')
  } finally {
    drained.destroy()
    await site.close()
  }
})
